package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// writes keeps each write apart, and fails with err.
type writes struct {
	name string
	all  *[]string
	err  error
}

func (w writes) Write(text []byte) (int, error) {
	*w.all = append(*w.all, w.name+": "+string(text))
	return len(text), w.err
}

// A move is done before its hooks: one that failed does not undo it, and the words say so.
func TestAFailedHook_isReportedWithTheTasksStatus(t *testing.T) {
	t.Parallel()
	failed := []task.OwedHook{{Hook: task.Hook{Action: "release_workspace"}, State: task.HookFailed, Error: "no"}}
	for name, row := range map[string]struct {
		event history.Event
		want  string
	}{
		"moved": {history.Event{Type: history.StatusChanged, From: "working", To: "cancelled"},
			"the task has moved, and is cancelled"},
		"not moved": {history.Event{Type: history.HooksRetried}, "the task stays cancelled"},
	} {
		var out strings.Builder
		p := &printer{Out: printable.NewWriter(&out), Err: printable.NewWriter(&out)}
		err := p.tellOutcome(record.Outcome{Task: task.Task{ID: "T1", Status: "cancelled"}, Event: row.event,
			Hooks: failed}, "")
		want := "orange: hook failed: release_workspace: no\n  " + row.want +
			"; put that right and run: orange task retry T1\n"
		if err = errors.Join(err, p.flush()); err != nil || !strings.HasSuffix(out.String(), want) {
			t.Errorf("%s: %v, %s, want %s", name, err, out.String(), want)
		}
	}
}

func TestSay_isWrittenAtOnceAndBeforeWhatIsTalkedAboutLater(t *testing.T) {
	t.Parallel()
	var all []string
	p := &printer{Out: printable.NewWriter(writes{"out", &all, nil}),
		Err: printable.NewWriter(writes{"err", &all, nil})}
	p.say("one")
	p.say("two")
	p.warn("careful")
	p.say("three")
	if err := p.print("four\n"); err != nil {
		t.Fatal(err)
	}
	p.say("five")
	status := p.end(nil)
	want := []string{"out: one\ntwo\n", "err: orange: careful\n", "out: three\nfour\n", "out: five\n"}
	if status != 0 || !slices.Equal(all, want) {
		t.Errorf("status %d, written %q, want %q", status, all, want)
	}
}

func TestAnAnswerThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	for name, answer := range map[string]func(*printer){
		"at the end":     func(p *printer) { p.say("one") },
		"before a talk":  func(p *printer) { p.say("one"); p.warn("careful") },
		"between others": func(p *printer) { p.say("one"); p.warn("careful"); p.say("two") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []string
			p := &printer{Out: printable.NewWriter(writes{"out", &all, full}),
				Err: printable.NewWriter(writes{"err", &all, nil})}
			answer(p)
			status, last := p.end(nil), all[len(all)-1]
			if status != exitFailed || !strings.Contains(last, "orange: write the answer: "+full.Error()) {
				t.Errorf("status %d, the last write is %q", status, last)
			}
		})
	}
}
