package dashboard

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/task"
)

const aPullRequest = "https://github.com/o/shop/pull/418"

// proposed is a task that needs a person and has a pull request at an address.
func proposed(t testing.TB, address string) *fakeBackend {
	t.Helper()
	return &fakeBackend{tasks: []task.Task{
		aTask(t, 1, "reviewing", func(one *task.Task) { one.Workspace = "shop--1" }),
		aTask(t, 2, "reviewing", func(one *task.Task) { one.PRURL = address })}} // the older need comes first
}

func TestAPullRequestIsOpenedAndItsAddressCopied(t *testing.T) {
	t.Parallel()
	backend := proposed(t, aPullRequest)
	s := openSession(t, backend, 100, 24)
	s.press("P")
	s.shows("opened " + aPullRequest)
	if !slices.Contains(backend.asked, "Browse "+aPullRequest) {
		t.Errorf("asked was %q", backend.asked)
	}
	backend.far = true
	s.press("P")
	s.shows("there is no browser here: " + aPullRequest + " (Y copies it)")
	backend.fails = map[string]error{"Browse": errors.New("no such program")}
	s.press("P")
	s.shows("! cannot open " + aPullRequest + ": no such program")
	s.press("Y")
	s.shows("copied " + aPullRequest)
	if !slices.Contains(s.sent, tea.SetClipboard(aPullRequest)()) {
		t.Errorf("Y gives %+v to the terminal", s.sent)
	}
	s.press("j", "P")
	s.shows("P: the task has no pull request; p opens one")
	s.press("Y")
	s.shows("Y: the task has no pull request; p opens one")
}

// What comes from outside reaches no browser, no clipboard and no terminal where it is no address of the web.
func TestAnAddressThatIsNoneIsNotUsed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"file:///etc/passwd", "https://x/\x1b]52;c;eA==\x07/1", "--help",
		"https://x/ü/2"} {
		backend := proposed(t, address)
		s := openSession(t, backend, 120, 40)
		s.m.style.Links = true
		for _, key := range []string{"P", "Y"} {
			s.press(key)
			s.shows(key + ": this is no address of the web: ")
		}
		if slices.ContainsFunc(backend.asked, func(asked string) bool { return strings.HasPrefix(asked, "Browse") }) {
			t.Errorf("%q is opened", address)
		}
		if content := s.m.View().Content; strings.Contains(content, "\x1b]") || strings.Contains(content, "\a") {
			t.Errorf("%q reaches the terminal", address)
		}
	}
}

// The number of a pull request is seen next to the reason why its task needs a person, and leads to it where the
// terminal has more than plain text.
func TestTheNumberOfAPullRequestIsALink(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 19}, {200, 50}} {
		s := openSession(t, proposed(t, aPullRequest), size[0], size[1])
		s.shows("#418 ")
		s.shows("\n     waits in reviewing")
		if strings.Contains(s.m.View().Content, "\x1b]8") {
			t.Error("there is a link on a plain terminal")
		}
		for _, keys := range [][]string{nil, {"j"}, {"k", "l"}} {
			s.press(keys...)
			s.m.style.Links = false
			plain := s.text()
			s.m.style.Links = true
			if content := s.m.View().Content; !strings.Contains(content, "\x1b]8;;"+aPullRequest) {
				t.Errorf("after %v, no link to the pull request in %q", keys, content)
			}
			if linked := s.text(); linked != plain {
				t.Errorf("the link changes what is seen:\n%s\nwithout it:\n%s", linked, plain)
			}
		}
	}
}

func TestLinksAreForTerminalsThatHaveMoreThanPlainText(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]bool{
		"TERM=xterm-256color TTY_FORCE=1": true, "TERM=xterm-256color TTY_FORCE=1 NO_COLOR=1": false,
		"TERM=dumb TTY_FORCE=1": false, "TERM=xterm-256color": false, // the last is no terminal
	} {
		d := &Dashboard{Backend: proposed(t, aPullRequest).backend(), In: strings.NewReader(""), Out: &bytes.Buffer{},
			Environ: strings.Fields(environ)}
		d.Open(t.Context())
		if got := d.guard.model.style.Links; got != want {
			t.Errorf("%s: links: %t", environ, got)
		}
	}
}

// The host refuses a merge here while a pull request is open: the question names it, and both ways.
func TestAMergeNamesTheOpenPullRequest(t *testing.T) {
	t.Parallel()
	backend := day(t)
	s := openSession(t, backend, 120, 40)
	s.selects("fix/totals")
	s.press("m")
	saysInBox(s, "Its pull request #41 is open, so Orange merges nothing here. Merge it there (P opens it)")
	saysInBox(s, "#41 is merged there: finish the task")
	saysInBox(s, "merge here all the same, and leave #41 as it is")
	s.press("l")
	if !backend.local || len(backend.asked) != 1 {
		t.Errorf("asked %q, here all the same: %t", backend.asked, backend.local)
	}
	s.press("p")
	s.shows("Push fix/totals to its pull request #41?")
}

// What the foot says is over once it is done.
func TestThePullRequestThatIsThereIsNotUnderWay(t *testing.T) {
	t.Parallel()
	backend := proposed(t, aPullRequest)
	backend.works = committed(backend.tasks...)
	s := openSession(t, backend, 100, 24)
	s.selects("fix/bug-1")
	s.press("p", "y")
	s.shows("the pull request of fix/bug-1 is being opened")
	backend.tasks[0].PRURL = "https://github.com/o/shop/pull/7"
	s.send(recordChange{})
	s.hides("is being opened")
	s.shows("the pull request of fix/bug-1 is open: #7")
}
