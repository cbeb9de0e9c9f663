package caller

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
)

func TestSeat_aSecretNeedsNoProcesses(t *testing.T) {
	t.Setenv("ORANGE_SEAT", "s3cret")
	c, err := Seat(proc.ThisCall(), "reviewer")
	if err != nil || c.Secret != "s3cret" || c.As != "reviewer" || len(c.Above) > 0 {
		t.Errorf("found %+v, %v", c, err)
	}
	t.Setenv("ORANGE_SEAT", "")
	if c, err = Seat(proc.ThisCall(), ""); err != nil || len(c.Above) == 0 || c.Above[0].PID != os.Getppid() {
		t.Errorf("without a seat: %+v, %v", c, err)
	}
}

func TestOf_takesTheTaskOfThisHomeAlone(t *testing.T) {
	t.Setenv("ORANGE_SEAT", "")
	t.Setenv("ORANGE_TASK_ID", "abc")
	server := &tmux.Server{Getenv: os.Getenv, Socket: "none", Config: filepath.Join(t.TempDir(), "tmux.conf")}
	broken := errors.New("the disk is gone")
	for name, tt := range map[string]struct {
		known bool
		err   error
		task  string
		want  error
	}{
		"a task of this home":    {true, nil, "abc", nil},
		"one of another home":    {false, nil, "", nil},
		"a home without tasks":   {false, os.ErrNotExist, "", nil},
		"it cannot be looked up": {false, broken, "", broken},
	} {
		c, err := Of(proc.ThisCall(), t.TempDir(), server, "", func(string) (bool, error) { return tt.known, tt.err })
		if !errors.Is(err, tt.want) || c.Task != tt.task {
			t.Errorf("%s: found %+v, %v", name, c, err)
		}
	}
}

func TestOf_belowTheServerOfTheHomeIsInside(t *testing.T) {
	t.Setenv("ORANGE_SEAT", "")
	server := &tmux.Server{Getenv: os.Getenv, Socket: "none", Config: filepath.Join(t.TempDir(), "tmux.conf")}
	known := func(string) (bool, error) { return false, os.ErrNotExist }
	call := proc.ThisCall()
	for _, above := range [][]task.Process{{}, {{PID: os.Getpid()}}} { // with this process as the server
		call.Above = above
		c, err := Of(call, t.TempDir(), server, "", known)
		if err != nil || c.Inside != (len(above) > 0) {
			t.Errorf("below %v: found %+v, %v", above, c, err)
		}
	}
}

func TestPersonName_saysThroughWhichProgramAPersonAsks(t *testing.T) {
	t.Setenv("ORANGE_SEAT", "")
	alone := PersonName(t.Context(), proc.ThisCall())
	t.Setenv(ViaVariable, "mcp\x1b[2J")
	t.Setenv(MayVariable, "done,cancel")
	if name := PersonName(t.Context(), proc.ThisCall()); name != alone+" via mcp[2J" {
		t.Errorf("found %q, expected %q via the program", name, alone)
	}
	if c, err := Seat(proc.ThisCall(), ""); err != nil || c.Via != "mcp[2J" || c.May != "done,cancel" {
		t.Errorf("found %+v, %v", c, err)
	}
}

func TestPersonName_isNeverEmpty(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	if name := PersonName(t.Context(), proc.ThisCall()); name == "" {
		t.Error("a person without a configuration of git has no name")
	}
}
