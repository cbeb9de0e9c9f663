package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain is the program that the commands of these tests run: what it was called for, it says.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != CarriedWord {
		os.Exit(m.Run())
	}
	call, err := ReadCall(os.Stdin)
	if errors.Is(err, io.EOF) {
		return
	}
	input, _ := io.ReadAll(os.Stdin)
	text, _ := json.Marshal(call)
	_, _ = os.Stdout.Write(append(text, input...))
	_, _ = os.Stderr.WriteString(os.Getenv("SAYS"))
	if strings.Join(call.Args, " ") == "task wait" {
		<-time.After(time.Minute)
	}
	os.Exit(3)
}

func newSpare(t *testing.T) *SpareProgram {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &SpareProgram{Path: self, Env: []string{"SAYS=why"}}
	t.Cleanup(c.Close)
	return c
}

func TestSpareProgram_runsInAProgramThatWaitsOrInANewOne(t *testing.T) {
	t.Parallel()
	c := newSpare(t)
	call := Call{Task: "abc", Number: "one", Dir: "/", Args: []string{"task", "next"}, Stdin: []byte("input")}
	for _, prepare := range []func(){func() {}, c.Prepare, func() { c.Prepare(); c.Prepare() }} {
		prepare()
		got := c.Run(t.Context(), call)
		if got.Code != 3 || string(got.Stderr) != "why" ||
			string(got.Stdout) != `{"task":"abc","number":"one","dir":"/","args":["task","next"]}input` {
			t.Errorf("it answers %d, %q, %q", got.Code, got.Stdout, got.Stderr)
		}
	}
	if c.ready != nil {
		t.Error("a program that has run waits for another call")
	}
}

// A program that was replaced meanwhile would know an older record.
func TestSpareProgram_runsInTheProgramThatIsThereNow(t *testing.T) {
	t.Parallel()
	c := newSpare(t)
	text, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	c.Path = filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(c.Path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	c.Prepare()
	held := c.ready
	if held == nil || !held.Current() {
		t.Fatal("none waits")
	}
	if err := os.Remove(c.Path); err != nil {
		t.Fatal(err)
	}
	if held.Current() {
		t.Error("a program that is gone counts as current")
	}
	if got := c.Run(t.Context(), Call{}); got.Code != 1 || !bytes.Contains(got.Stderr, []byte("no such file")) {
		t.Errorf("it answers %d, %q", got.Code, got.Stderr)
	}
}

// Someone ended the program that waited: the request finds another one.
func TestSpareProgram_runsThoughTheOneThatWaitedIsGone(t *testing.T) {
	t.Parallel()
	s := newSpare(t)
	s.Prepare()
	s.ready.Discard()
	if got := s.Run(t.Context(), Call{Args: []string{"task", "next"}}); got.Code != 3 {
		t.Errorf("it answers %d, %q", got.Code, got.Stderr)
	}
}

func TestSpareProgram_endsWithItsAgent(t *testing.T) {
	t.Parallel()
	c := newSpare(t)
	ctx, off := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer off()
	if got := c.Run(ctx, Call{Args: []string{"task", "wait"}}); got.Code != 1 {
		t.Errorf("it answers %d, %q", got.Code, got.Stderr)
	}
}

func TestReadCall_refusesWhatIsNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                  "EOF",
		"\x00\x00":          "unexpected EOF",
		"\xff\x00\x00\x00":  "at most 65536",
		"\x00\x00\x00\x09":  "read the call",
		"\x00\x00\x00\x01{": "read the call",
	} {
		if _, err := ReadCall(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
