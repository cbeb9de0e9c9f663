package tmux

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/task"
)

func TestParsePanes(t *testing.T) {
	t.Parallel()
	const alive = "$1|@2|%3|44|0|||0|1|1700000000|99|1|1|0|0|0|0|5|abx|y\nz\n"
	const dead = "$1|@2|%4|45|1|7||1|0||99|1|1|1|1|1|1|0|abtrhs\n"
	panes, err := parsePanes(alive + dead)
	if err != nil {
		t.Fatal(err)
	}
	want := []Pane{
		{Session: "a", SessionID: "$1", Window: "b", WindowID: "@2", ID: "%3", PID: 44, Title: "x|y\nz",
			Attached: true, Activity: time.Unix(1700000000, 0), Server: 99},
		{
			Session: "a", SessionID: "$1", Window: "b", WindowID: "@2", ID: "%4", PID: 45,
			Task: "t", Role: "r", Hook: "h", Seat: "s", Dead: true, Ending: task.Ending{Known: true, Status: 7},
			InMode: true,
			Server: 99,
		},
	}
	if len(panes) != 2 || panes[0] != want[0] || panes[1] != want[1] {
		t.Fatalf("got %+v", panes)
	}
	for name, text := range map[string]string{
		"cut":          alive + dead[:len(dead)-1],
		"too few":      "$1|@2\n",
		"long length":  strings.Replace(alive, "|5|ab", "|9999|ab", 1),
		"minus":        strings.Replace(alive, "|5|ab", "|-5|ab", 1),
		"short length": strings.Replace(alive, "|5|ab", "|4|ab", 1),
		"bad id":       strings.Replace(alive, "%3", "x", 1),
		"no server":    strings.Replace(alive, "|99|", "||", 1),
		"bad activity": strings.Replace(alive, "1700000000", "soon", 1),
		"bad process":  strings.Replace(alive, "44", "", 1),
	} {
		if panes, err := parsePanes(text); err == nil {
			t.Errorf("%s: %+v", name, panes)
		}
	}
}

func TestEnding(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status, signal string
		code, sig      int
		known          bool
	}{
		{"", "", 0, 0, false},
		{"0", "", 0, 0, true},
		{"7", "", 7, 0, true},
		{"", "9", 0, 9, true},
		{"", "KILL", 0, int(syscall.SIGKILL), true},
		{"", "SIGTERM", 0, int(syscall.SIGTERM), true},
		{"", "odd", 0, 0, false},
	} {
		want := task.Ending{Known: row.known, Status: row.code, Signal: row.sig}
		if got := endingOf(row.status, row.signal); got != want {
			t.Errorf("%+v: got %+v", row, got)
		}
	}
}
