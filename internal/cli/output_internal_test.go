package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/printable"
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

func TestSay_isWrittenAtOnceAndBeforeWhatIsTalkedAboutLater(t *testing.T) {
	t.Parallel()
	var all []string
	p := &Program{Out: printable.NewWriter(writes{"out", &all, nil}),
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
	for name, answer := range map[string]func(*Program){
		"at the end":     func(p *Program) { p.say("one") },
		"before a talk":  func(p *Program) { p.say("one"); p.warn("careful") },
		"between others": func(p *Program) { p.say("one"); p.warn("careful"); p.say("two") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []string
			p := &Program{Out: printable.NewWriter(writes{"out", &all, full}),
				Err: printable.NewWriter(writes{"err", &all, nil})}
			answer(p)
			status, last := p.end(nil), all[len(all)-1]
			if status != exitFailed || !strings.Contains(last, "orange: write the answer: "+full.Error()) {
				t.Errorf("status %d, the last write is %q", status, last)
			}
		})
	}
}
