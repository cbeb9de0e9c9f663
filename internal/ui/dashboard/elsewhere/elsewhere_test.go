package elsewhere

import (
	"strings"
	"testing"
	"time"
)

func TestANotificationIsForTerminalsThatPassItOn(t *testing.T) {
	t.Parallel()
	const plain = "\x1b]9;orange: feat/a: asks\x1b\\"
	for environ, want := range map[string]string{
		"TERM=xterm-256color":                              "",
		"TERM=xterm-256color TERM_PROGRAM=WezTerm":         plain,
		"TERM=xterm-kitty":                                 plain,
		"TERM=foot":                                        "\x1b]777;notify;orange;feat/a: asks\x1b\\",
		"TERM=xterm-256color VTE_VERSION=7600":             "\x1b]777;notify;orange;feat/a: asks\x1b\\",
		"TERM=tmux-256color TERM_PROGRAM=tmux TMUX=/t,1,0": "\x1bPtmux;\x1b\x1b]9;orange: feat/a: asks\x1b\x1b\\\x1b\\",
	} {
		if got := Notification(strings.Fields(environ), "feat/a:\x07 a\x1b[2Jsks"); got != want {
			t.Errorf("%s: %q, want %q", environ, got, want)
		}
	}
}

func TestTheTitleCountsWhatNeedsThePerson(t *testing.T) {
	t.Parallel()
	m := New(time.Time{})
	if got := m.Title(2); got != "orange" {
		t.Errorf("switched off it is %q", got)
	}
	m.Signals.Title = true
	for needs, want := range map[int]string{0: "orange", 1: "orange · 1 needs you", 3: "orange · 3 need you"} {
		if got := m.Title(needs); got != want {
			t.Errorf("%d: %q, want %q", needs, got, want)
		}
	}
}

// kept is a Keeper that counts.
type kept struct{ words []string }

func (*kept) Signals() (bell, title, notification bool, err error) { return }
func (*kept) LastView(string) (string, error)                      { return "", nil }

func (k *kept) KeepView(_, words string) error {
	k.words = append(k.words, words)
	return nil
}

func TestTheViewIsKeptWhereTheScreenEndsBeforeItsCommand(t *testing.T) {
	t.Parallel()
	m, keeper := New(time.Time{}), &kept{}
	m.SetKept("list")
	late := m.Keep(keeper, "shop", "board", nil)
	if err := m.Flush(keeper, "shop"); err != nil || strings.Join(keeper.words, " ") != "board" {
		t.Errorf("%v, and it kept %q", err, keeper.words)
	}
	if late(); len(keeper.words) != 1 {
		t.Errorf("the command that came late kept it again: %q", keeper.words)
	}
}
