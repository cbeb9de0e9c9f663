package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/api/socket"
	"orange/internal/rules/printable"
	"orange/internal/rules/task"
)

// said is what one command line came to.
type said struct {
	status   int
	out, err string
}

// call runs one command line; a word in it has no space.
func call(t *testing.T, h Services, line string) said {
	t.Helper()
	return callWith(t, "", h, line)
}

// callWith runs one command with a text at its standard input.
func callWith(t *testing.T, in string, h Services, line string) said {
	t.Helper()
	var out, talk bytes.Buffer
	p := &Program{Open: func(context.Context) (*Services, error) { return &h, nil }}
	p.In, p.Out, p.Err = strings.NewReader(in), printable.NewWriter(&out), printable.NewWriter(&talk)
	status := p.Run(t.Context(), strings.Fields(line))
	return said{status, out.String(), talk.String()}
}

// person lets everyone do everything, and notes for what it was asked.
type person struct {
	Identity
	asked []string
}

func (p *person) Person(_ context.Context, what string) error {
	p.asked = append(p.asked, what)
	return nil
}

// watcher is a monitor that says its lines and ends.
type watcher struct {
	calls []string
	lines []string // that it says, or has in its log
	err   error
}

func (w *watcher) watch(how string, say func(string)) error {
	w.calls = append(w.calls, how)
	for _, line := range w.lines {
		say(line)
	}
	return w.err
}

func (w *watcher) Run(_ context.Context, say func(string)) error  { return w.watch("run", say) }
func (w *watcher) Once(_ context.Context, say func(string)) error { return w.watch("once", say) }

func (w *watcher) Serve(_ context.Context, ready func() error) error {
	return errors.Join(ready(), w.watch("serve", func(string) {}))
}

func (w *watcher) Server(context.Context) (socket.Health, error) {
	w.calls = append(w.calls, "server")
	return socket.Health{PID: 7, Since: time.Date(2026, 5, 3, 4, 5, 6, 0, time.UTC), Calls: 2}, w.err
}

func (w *watcher) EndServer(context.Context) error { return w.watch("end server", func(string) {}) }

func (w *watcher) RestartServer(context.Context) error {
	return w.watch("restart server", func(string) {})
}

func (w *watcher) Unit(kind string) (string, error) {
	w.calls = append(w.calls, "unit "+kind)
	return strings.Join(w.lines, "\n"), w.err
}

func (w *watcher) Log(keep func([]byte) bool, lines int, out io.Writer) error {
	w.calls = append(w.calls, fmt.Sprintf("log %d", lines))
	for _, line := range w.lines {
		if keep([]byte(line)) {
			fmt.Fprintln(out, line)
		}
	}
	return w.err
}

func TestMonitor_asksThePortAndTellsWhatItSays(t *testing.T) {
	t.Parallel()
	busy := errors.New("nothing was done: another monitor is at work")
	unknown := task.Notef(task.ErrUsage, "found %q as the kind of unit", "cron")
	const failed = "{\n  \"code\": \"%s\",\n  \"details\": [],\n  \"error\": \"%s\"\n}\n"
	tests := []struct {
		line  string
		lines []string
		fails error
		call  string // of the port; none where it is empty
		want  said   // the talk without the time of day
	}{
		{"monitor", []string{"watching", "garden/fix abc: stuck"}, nil, "run",
			said{0, "", "AT watching\nAT garden/fix abc: stuck\n"}},
		{"monitor", nil, context.Canceled, "run", said{exitStopped, "", "orange: context canceled\n"}},
		{"monitor --once", []string{"abc: \x1b[2J"}, nil, "once", said{0, "", "AT abc: \\x1b[2J\n"}},
		{"monitor --once", []string{"one"}, busy, "once",
			said{exitFailed, "", "AT one\norange: " + busy.Error() + "\n"}},
		{"monitor --once --json", []string{"one", "two"}, nil, "once",
			said{0, "{\n  \"told\": [\n    \"one\",\n    \"two\"\n  ]\n}\n", ""}},
		{"monitor --once --json", nil, nil, "once", said{0, "{\n  \"told\": []\n}\n", ""}},
		{"monitor --once --json", []string{"one"}, busy, "once",
			said{exitFailed, fmt.Sprintf(failed, "failed", busy), ""}},
		{"monitor --print-unit", []string{"[Unit]", ""}, nil, "unit all", said{0, "[Unit]\n", ""}},
		{"monitor --json", []string{"watching"}, nil, "run", said{0, "", "AT watching\n"}},
		{"monitor --once --print-unit", nil, nil, "", said{exitUsage, "", "orange: --once watches and --print-unit " +
			"does not: name one of them\n"}},
		{"monitor --print-unit=launchd", []string{"<plist/>"}, nil, "unit launchd", said{0, "<plist/>", ""}},
		{"server status --utc", nil, nil, "server", said{out: "process 7 serves the home since 2026-05-03 04:05:06 " +
			"UTC; calls under way: 2\n"}},
		{"server status --json", nil, nil, "server", said{out: "{\n  \"calls\": 2,\n  \"pid\": 7,\n" +
			"  \"serves\": true,\n  \"since\": \"2026-05-03T04:05:06.000Z\",\n  \"watches\": false\n}\n"}},
		{"server status", nil, socket.ErrNoServer, "server", said{out: "no process serves the home; the next command " +
			"of a person starts one\n"}},
		{"server status --json", nil, socket.ErrNoServer, "server", said{out: "{\n  \"serves\": false\n}\n"}},
		{"server status", nil, busy, "server", said{exitFailed, "", "orange: " + busy.Error() + "\n"}},
		{"server stop", nil, nil, "end server", said{out: "no process serves the home\n"}},
		{"server stop --json", nil, nil, "end server", said{out: "{\n  \"serves\": false\n}\n"}},
		{"server stop", nil, busy, "end server", said{exitFailed, "", "orange: " + busy.Error() + "\n"}},
		{"server restart --utc", nil, nil, "restart server,server", said{out: "process 7 serves the home since " +
			"2026-05-03 04:05:06 UTC; calls under way: 2\n"}},
		{"server restart", nil, busy, "restart server", said{exitFailed, "", "orange: " + busy.Error() + "\n"}},
		{"serve", nil, nil, "serve", said{out: "ready\n"}},
		{"monitor --print-unit=cron", nil, unknown, "unit cron",
			said{exitUsage, "", "orange: " + unknown.Error() + "\n"}},
		{"monitor --print-unit=cron --json", nil, unknown, "unit cron",
			said{exitUsage, fmt.Sprintf(failed, "usage", `found \"cron\" as the kind of unit`), ""}},
	}
	at := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `)
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			w, who := &watcher{lines: tt.lines, err: tt.fails}, &person{}
			got := call(t, Services{Monitor: w, Identity: who}, tt.line)
			got.err = at.ReplaceAllString(got.err, "AT ")
			if got != tt.want {
				t.Errorf("it came to %#v, want %#v", got, tt.want)
			}
			if strings.Join(w.calls, ",") != tt.call {
				t.Errorf("the monitor was called for %q, want %q", w.calls, tt.call)
			}
			// a unit is a text: everyone may read it
			asks := slices.Equal(who.asked, []string{"watch over the agents"})
			if asks != (tt.call == "run" || tt.call == "once") {
				t.Errorf("it asked whether a person may %q", who.asked)
			}
		})
	}
}

func TestLog_keepsTheLinesThatTheFlagsName(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"level":"DEBUG","component":"engine","msg":"looked"}`,
		`{"level":"WARN","component":"engine","msg":"slow"}`,
		`{"level":"ERROR","component":"hook","msg":"spawn"}`,
		`no entry`,
	}
	unread := errors.New("the log cannot be read")
	tests := map[string]struct {
		fails  error
		call   string // of the port; empty where it is not asked
		keeps  []int
		status int
		says   string
	}{
		"log":                          {nil, "log 200", []int{0, 1, 2}, 0, ""},
		"log --lines 5 --level warn":   {nil, "log 5", []int{1, 2}, 0, ""},
		"log --level ERROR":            {nil, "log 200", []int{2}, 0, ""},
		"log --component engine":       {nil, "log 200", []int{0, 1}, 0, ""},
		"log --grep sp.wn|looked":      {nil, "log 200", []int{0, 2}, 0, ""},
		"log --level warn --grep look": {unread, "log 200", nil, exitFailed, "orange: the log cannot be read\n"},
		"log --level loud":             {nil, "", nil, exitUsage, `found "loud" as --level`},
		"log --lines 0":                {nil, "", nil, exitUsage, "found 0 as --lines"},
		"log --grep (":                 {nil, "", nil, exitUsage, `found "(" as --grep`},
	}
	for line, tt := range tests {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			w, want := &watcher{lines: lines, err: tt.fails}, ""
			for _, n := range tt.keeps {
				want += lines[n] + "\n"
			}
			got := call(t, Services{Monitor: w}, line)
			if got.status != tt.status || got.out != want || !strings.Contains(got.err, tt.says) ||
				(got.err == "") != (tt.says == "") {
				t.Errorf("it came to %#v, want status %d, %q and %q", got, tt.status, want, tt.says)
			}
			if strings.Join(w.calls, " ") != tt.call {
				t.Errorf("the monitor was called for %q, want %q", w.calls, tt.call)
			}
		})
	}
}
