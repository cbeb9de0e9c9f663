package dashboard

import (
	"fmt"
	"strings"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Defect: at 80x24 a list showed "asks: Which currency, whe…" over eighteen empty lines, the line where one answers
// stood right below it, and the second question was nowhere.
func TestWhatAnAgentAsksIsWholeBelowItsTask(t *testing.T) {
	t.Parallel()
	backend := day(t)
	asked := "1. Which currency, where the basket has several, and the shop sells to other countries?\n" +
		"2. Who pays for the ribbon?"
	backend.agents[backend.tasks[6].ID] = Agent{State: record.AgentAlive, Need: record.Need{Kind: record.NeedsPerson,
		Reason: "asks 2 questions: Which currency, where the basket has several", Text: asked,
		Since: backend.tasks[6].EnteredAt}}
	s := openSession(t, backend, 80, 24)
	s.selects("feature/gifts")
	words := []string{"1. Which currency, where the basket has several, and the shop sells to other",
		"countries?", "2. Who pays for the ribbon?"}
	for _, line := range words {
		s.shows(line)
	}
	s.press("S")
	s.write("Euro, and the shop")
	for _, line := range append(words, "> Euro, and the shop") {
		s.shows(line)
	}
	lines := strings.Split(s.text(), "\n")
	for i, line := range lines {
		if strings.Contains(line, "2. Who pays") && !strings.Contains(lines[i+1], "Say to the worker") {
			t.Errorf("the answer is not right below the questions:\n%s", s.text())
		}
	}
	s.press("esc", "esc")
}

// Where tasks fill the screen, what one asks has room as soon as the person answers it, and a click still finds the
// task that it is on.
func TestWhatAnAgentAsksHasRoomWhereItIsAnswered(t *testing.T) {
	t.Parallel()
	backend := day(t)
	var asked []string
	for n := range 9 {
		asked = append(asked, fmt.Sprintf("%d. A question?", n+1))
	}
	backend.agents[backend.tasks[6].ID] = Agent{State: record.AgentAlive, Need: record.Need{Kind: record.NeedsPerson,
		Reason: "asks 9 questions: A question?", Text: strings.Join(asked, "\n"), Since: backend.tasks[6].EnteredAt}}
	s := openSession(t, backend, 80, 14)
	s.selects("feature/gifts")
	if strings.Contains(s.text(), "1. A question?") {
		t.Errorf("there is no free line for a question:\n%s", s.text())
	}
	s.press("S")
	s.shows("1. A question?")
	s.shows(" …")
	s.shows("Say to the worker of feature/gifts")
	s.press("esc")
	if strings.Contains(s.text(), "1. A question?") {
		t.Errorf("the question stays:\n%s", s.text())
	}
}

// Defect: the preview of a task that waits for its merge began at its plan or at questions that were answered long
// ago, and what the reviewer had said was below the screen.
func TestThePreviewBeginsAtTheReviewOrTheOpenQuestions(t *testing.T) {
	t.Parallel()
	fill := strings.Repeat("More words.\n\n", 20)
	document := "# It\n\n" + fill + "## Questions\n\n1. Which currency?\n\n" + fill + "## Plan\n\n1. Add up\n\n" +
		fill + "## Review\n\nan old one\n\n" + fill + "## Handoff\n\nDONE: all\n\n" + fill +
		"## review ##\n\nVerdict: PASS\nIt adds up.\n\n" + fill
	verdict := func(from, to task.Status) history.Event {
		return history.Event{Seq: 2, Type: history.StatusChanged, Actor: "reviewer", Time: clock(), From: from, To: to}
	}
	for name, c := range map[string]struct {
		task   int // of the day
		branch string
		event  history.Event
		first  string
	}{
		"reviewed":             {2, "fix/totals", verdict("agent-review", "reviewing"), "## review"},
		"sent back before":     {2, "fix/totals", verdict("agent-review", "working"), "## review"},
		"never judged":         {2, "fix/totals", verdict("working", "agent-review"), "## Plan"},
		"asks after a verdict": {6, "feature/gifts", verdict("agent-review", "working"), "## Questions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := day(t)
			id := backend.tasks[c.task].ID
			backend.documents[id] = document
			backend.histories = map[string][]history.Event{id: {
				{Seq: 1, Type: history.Created, Actor: "human", Time: clock()}, c.event}}
			s := openSession(t, backend, 160, 24)
			s.selects(c.branch)
			first := ""
			for _, line := range strings.Split(s.text(), "\n") {
				if _, text, beside := strings.Cut(line, "│ "); beside && first == "" && strings.Contains(text, "# ") {
					first = strings.TrimSpace(text)
				}
			}
			if first != c.first {
				t.Errorf("it begins at %q, want %q:\n%s", first, c.first, s.text())
			}
		})
	}
}
