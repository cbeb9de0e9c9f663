package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"orange/internal/proof/replay"
	"orange/internal/proof/simulate"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/workflow"
)

// long has services that take as long as it takes to see how far they are: without end, where that cannot be seen.
type long struct {
	Queries
	seen *bytes.Buffer
	told int
}

func (l *long) work(tell func()) {
	for l.told = 0; l.told == 0 || l.seen != nil && l.seen.Len() == 0; l.told++ {
		tell()
	}
}

func (l *long) All(context.Context, string) ([]string, error) { return nil, nil }

func (l *long) VerifyAll(_ context.Context, _ string, progress func(string, int, int)) ([]record.Finding, error) {
	l.work(func() { progress("tasks verified", 3, 7) })
	return nil, nil
}

func (l *long) Replay(_ context.Context, _ []string, _ replay.Rules, progress func(string, int, int)) (
	replay.Replays, error) {
	l.work(func() { progress("tasks replayed", 3, 7) })
	return replay.Replays{}, nil
}

func (l *long) Examine(_ context.Context, _ record.Examination, progress func(string, int, int)) (
	[]record.Finding, error) {
	l.work(func() { progress("tasks brought back", 3, 7) })
	return nil, nil
}

// rulebooks is Workflows by another name: a field must not have that of a method.
type rulebooks = Workflows

type anyWorkflow struct {
	rulebooks
	long *long
}

func (anyWorkflow) CheckWorkflow(string) (*workflow.Definition, error) {
	return &workflow.Definition{File: "a.yml"}, nil
}

func (a anyWorkflow) Simulate(_ context.Context, _ *workflow.Definition, s simulate.Setup) (simulate.Report, error) {
	a.long.work(func() { s.Progress(3, 7) })
	return simulate.Report{}, nil
}

func TestLongCommands_tellAtATerminalHowFarTheyAre(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"task verify --all":      "tasks verified: 3 of 7",
		"task replay --all":      "tasks replayed: 3 of 7",
		"doctor --rebuild":       "tasks brought back: 3 of 7",
		"workflow simulate mine": "runs simulated: 3 of 7",
	} {
		run := func(line string, seen *bytes.Buffer) (said string) {
			var told bytes.Buffer
			l := &long{}
			p := &Program{Examine: l.Examine}
			p.Out, p.Err = printable.NewWriter(io.Discard), printable.NewWriter(&told)
			if seen != nil {
				p.Progress = seen
				if !strings.Contains(line, "--json") {
					l.seen = seen
				}
			}
			p.Open = func(context.Context) (*Services, error) {
				return &Services{Queries: l, Workflows: anyWorkflow{long: l}}, nil
			}
			if status := p.Run(t.Context(), strings.Fields(line)); status != 0 || l.told == 0 {
				t.Errorf("%s: exit status %d, told %d times: %s", line, status, l.told, told.String())
			}
			return told.String()
		}
		var seen bytes.Buffer
		if said := run(line, &seen); said != "" || !strings.Contains(seen.String(), want) ||
			shownAt(seen.String()) != "" {
			t.Errorf("%s: the terminal saw %q, then %q", line, seen.String(), said)
		}
		seen.Reset()
		if said := run(line+" --json", &seen); said != "" || seen.Len() > 0 {
			t.Errorf("%s --json: the terminal saw %q, then %q", line, seen.String(), said)
		}
		if said := run(line, nil); said != "" {
			t.Errorf("%s: without a terminal it says %q", line, said)
		}
	}
}
