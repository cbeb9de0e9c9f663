package cli

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// drawer has a few tasks, and a person asks for them, or an agent.
type drawer struct {
	Queries
	Identity
	tasks []task.Task
	agent bool
}

func (s *drawer) Tasks(_ context.Context, f record.Filter) ([]task.Task, error) {
	return slices.DeleteFunc(slices.Clone(s.tasks), func(t task.Task) bool {
		return !strings.HasPrefix(t.ID, f.Prefix) || f.Branch != "" && t.Branch != f.Branch ||
			f.Project != "" && t.Project != f.Project || f.Live && !t.Live
	}), nil
}

func (s *drawer) Here(context.Context) (id, project string, err error) { return "", "coffee", nil }

func (s *drawer) Person(context.Context, string) error {
	if s.agent {
		return errRefused
	}
	return nil
}

func newDrawer() *drawer {
	return &drawer{tasks: []task.Task{
		{ID: "4Fza", Project: "coffee", Branch: "fix-login", Summary: "Fix the login page", Live: true,
			Status: "working"},
		{ID: "4Fyb", Project: "coffee", Branch: "tea", Summary: "Serve tea", Live: true},
		{ID: "8kQc", Project: "coffee", Branch: "8k", Summary: "Serve cocoa", Live: true},
		{ID: "9old", Project: "coffee", Branch: "fix-login", Summary: "Fix the login, long ago"},
		{ID: "7far", Project: "garden", Branch: "tea", Summary: "Plant tea", Live: true},
		{ID: "5own", Project: "garden", Branch: "9o", Summary: "Plant more", Live: true},
	}}
}

func (s *drawer) program(in string, said *bytes.Buffer) (*Program, *Services) {
	p := &Program{}
	p.In = strings.NewReader(in)
	p.Out = printable.NewWriter(said)
	p.Err = printable.NewWriter(said)
	p.Terminal = true
	p.OutTerminal = func() (int, bool) { return 80, true }
	return p, &Services{Queries: s, Identity: s}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ word, want, says string }{
		{"4Fza", "4Fza", ""},
		{"4Fz", "4Fza", ""},
		{"4F", "", `"4F" may be one of several tasks: 4Fza (fix-login), 4Fyb (tea)`},
		{"fix-login", "4Fza", ""}, // the live one
		{"tea", "4Fyb", ""},       // that of the present project
		{"8k", "8kQc", ""},        // a beginning and a branch of the same task
		{"9o", "", `"9o" may be one of several tasks: 5own (9o), 9old (fix-login)`},
		{"LOGIN page", "4Fza", "found task 4Fza, \"Fix the login page\" (branch fix-login, working)"},
		{"serve", "", `"serve" may be one of several tasks: 4Fyb (tea), 8kQc (8k)`},
		{"login ago", "9old", "found task 9old"},
		{"ogin", "", `there is no task "ogin"`},
		{"fix-lgin", "", `there is no task "fix-lgin"; did you mean "fix-login"?`},
	} {
		var said bytes.Buffer
		p, h := newDrawer().program("", &said)
		id, err := p.find(t.Context(), h, []string{c.word})
		text := said.String()
		if err != nil {
			text += err.Error()
		}
		if id != c.want || !strings.Contains(text, c.says) || (err == nil) != (c.want != "") {
			t.Errorf("%q is %q (%v), said %q, want %q and %q", c.word, id, err, said.String(), c.want, c.says)
		}
	}
}

func TestFind_takesWordsOnlyFromAPersonAtATerminal(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Program, *drawer){
		"an agent":    func(_ *Program, s *drawer) { s.agent = true },
		"JSON":        func(p *Program, _ *drawer) { p.json = true },
		"no keyboard": func(p *Program, _ *drawer) { p.Terminal = false },
		"no screen":   func(p *Program, _ *drawer) { p.OutTerminal = nil },
	} {
		s := newDrawer()
		var said bytes.Buffer
		p, h := s.program("", &said)
		change(p, s)
		id, err := p.find(t.Context(), h, []string{"cocoa"})
		if !errors.Is(err, task.ErrNotFound) || len(p.guessed) > 0 {
			t.Errorf("%s: found %q, %v", name, id, err)
		}
	}
}

func TestSureOf_alwaysAsksAboutATaskFoundByWords(t *testing.T) {
	t.Parallel()
	person := task.Actor{Role: task.RoleHuman}
	for _, c := range []struct {
		word, answer string
		sure         bool
		asks         string
	}{
		{"4Fza", "", true, ""},
		{"login page", "n\n", false, `Cancel task 4Fza, "Fix the login page" (branch fix-login, working)? [y/N]`},
		{"login page", "y\n", true, "Cancel task 4Fza"},
	} {
		var said bytes.Buffer
		p, h := newDrawer().program(c.answer, &said)
		id, err := p.find(t.Context(), h, []string{c.word})
		if err == nil {
			err = p.sureOf(id, person, true, "Cancel", "", "not cancelled")
		}
		if (err == nil) != c.sure || !strings.Contains(said.String(), c.asks) {
			t.Errorf("%q: %v; said %q", c.word, err, said.String())
		}
		p.In = strings.NewReader("n\n")
		if err := p.sureIfGuessed(id, person, "Merge", "not merged"); (err == nil) != (c.asks == "") {
			t.Errorf("%q is merged without a question: %v", c.word, err)
		}
	}
}
