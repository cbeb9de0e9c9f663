package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// to brings a task from the beginning of one state to that of another, without a failure.
func (w *build003) to(tb failer, until task.Status) {
	tb.Helper()
	way := map[task.Status][3]string{
		"pending": {"human", "", "assigned"}, "assigned": {"solution-validator", "", "planning"},
		"planning": {"solution-validator", "approach valid", "validated"}, "validated": {
			"fullstack-developer", "", "in_progress"},
		"in_progress": {"fullstack-developer", "handoff", "testing"}, "testing": {
			"fullstack-developer", "checked", "quality_review"},
		"quality_review": {"quality-monitor", "passed", "approved"}, "approved": {"git-manager", "", "committing"},
	}
	for w.task.Status != until {
		step := way[w.task.Status]
		w.do(tb, step[0], step[1], task.Status(step[2]))
	}
}

// do writes and asks.
func (w *build003) do(tb failer, role, papers string, to task.Status) {
	tb.Helper()
	for _, name := range strings.Fields(papers) {
		w.write(name)
	}
	w.ask(tb, role, to)
}

func (w *build003) failures(s task.Status) int { return w.task.Counters.Failures(s) }

func TestBuild_countsFailuresInEachStateAsDocument003Says(t *testing.T) {
	t.Parallel()
	w := newBuild003(t, shippedWorkflow(t, "build"), false)
	is := func(what string, found, want int) {
		t.Helper()
		if found != want {
			t.Errorf("%s: found %d, want %d (%v)", what, found, want, w.task.Counters)
		}
	}
	w.to(t, "planning")
	w.do(t, "solution-validator", "invalid", "planning")
	is("increment on return to the same state", w.failures("planning"), 1)
	w.do(t, "solution-validator", "invalid", "planning")
	is("and again", w.failures("planning"), 2)
	w.to(t, "quality_review")
	is("reset on a successful transition", w.failures("planning"), 0)
	w.do(t, "quality-monitor", "failed", "in_progress")
	is("counted in the state that failed", w.failures("quality_review"), 1)
	is("and not in the one that mends it", w.failures("in_progress"), 0)
	w.do(t, "fullstack-developer", "blocked", "in_progress")
	is("each state for itself", w.failures("in_progress")*10+w.failures("quality_review"), 11)
	w.to(t, "quality_review")
	is("the way through the fix resets nothing of the review", w.failures("in_progress")*10+
		w.failures("quality_review"), 1)
	w.do(t, "quality-monitor", "failed", "in_progress")
	w.to(t, "quality_review")
	w.do(t, "quality-monitor", "failed", "cto_intervention")
	is("the third", w.failures("quality_review"), 3)
	is("the attempts of the CTO are a count of their own", w.task.Counters.Get("cto_attempts"), 1)
	w.do(t, "cto", "guidance", "quality_review")
	is("guidance begins anew", w.failures("quality_review"), 0)
	w.to(t, "approved")
	is("and nothing takes an attempt back", w.task.Counters.Get("cto_attempts"), 1)
}

// A state that was left by a skip or to which a person sent the task back counts from 0 when it is entered again.
func TestBuild_countsFromZeroAfterASkipOrAPerson(t *testing.T) {
	t.Parallel()
	w := newBuild003(t, shippedWorkflow(t, "build"), false)
	w.to(t, "quality_review")
	for _, to := range []task.Status{"in_progress", "in_progress", "cto_intervention"} {
		w.to(t, "quality_review")
		w.do(t, "quality-monitor", "failed", to)
	}
	w.do(t, "cto", "guidance", "approved")
	w.to(t, "committing")
	w.do(t, "git-manager", "refused", "in_progress")
	w.to(t, "quality_review")
	if n := w.failures("quality_review"); n != 0 {
		t.Errorf("found %d failures of a review that was skipped, want 0", n)
	}
	for _, to := range []task.Status{"in_progress", "cto_intervention"} {
		w.to(t, "committing")
		w.do(t, "git-manager", "refused", to)
	}
	w.do(t, "cto", "escalation", "human_escalation")
	w.ask(t, "human", "in_progress")
	w.to(t, "committing")
	if n := w.failures("committing"); n != 0 {
		t.Errorf("found %d failures of committing after a person's word, want 0", n)
	}
	w.do(t, "git-manager", "refused", "in_progress")
}

func TestBuild_asksTheCTOTwiceAndThenAPerson(t *testing.T) {
	t.Parallel()
	w := newBuild003(t, shippedWorkflow(t, "build"), true)
	w.write("codebase")
	w.to(t, "planning")
	for range 2 {
		w.do(t, "solution-validator", "invalid", "planning")
		w.do(t, "solution-validator", "invalid", "planning")
		w.do(t, "solution-validator", "invalid", "cto_intervention")
		w.do(t, "cto", "guidance", "planning")
	}
	w.do(t, "solution-validator", "invalid", "planning")
	w.do(t, "solution-validator", "invalid", "planning")
	w.do(t, "solution-validator", "invalid", "human_escalation")
	if n := w.task.Counters.Get("cto_attempts"); n != 2 {
		t.Errorf("found %d attempts, want 2", n)
	}
	w.ask(t, "human", "planning")
	w.to(t, "committing")
	w.ask(t, "git-manager", "completed")
}

// The states of the document, with the timeouts that it gives them. None of them ends anything.
func TestBuild_hasTheStatesOfDocument003WithTheirTimeouts(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "build")
	want := []struct {
		state task.Status
		role  string
		after time.Duration
	}{
		{"pending", "cto", time.Hour},
		{"assigned", "solution-validator", 15 * time.Minute},
		{"planning", "solution-validator", 30 * time.Minute},
		{"validated", "fullstack-developer", 15 * time.Minute},
		{"in_progress", "fullstack-developer", 4 * time.Hour},
		{"testing", "fullstack-developer", 30 * time.Minute},
		{"quality_review", "quality-monitor", 30 * time.Minute},
		{"approved", "git-manager", 10 * time.Minute},
		{"committing", "git-manager", 15 * time.Minute},
		{"cto_intervention", "cto", time.Hour},
		{"human_escalation", "", 0},
		{"completed", "", 0},
		{"abandoned", "", 0}, // the one that is added
	}
	if len(def.States) != len(want) {
		t.Fatalf("found %d states, want %d", len(def.States), len(want))
	}
	for i, s := range def.States {
		found := time.Duration(s.Timeout.After) * time.Second
		if s.Name != want[i].state || s.Role != want[i].role || found != want[i].after || s.Timeout.Then != "" {
			t.Errorf("found %s of %q with %s, want %+v and a timeout that leads nowhere", s.Name, s.Role, found,
				want[i])
		}
		if escalated := s.Name == "cto_intervention" || s.Name == "human_escalation"; s.Escalation != escalated {
			t.Errorf("found escalation = %t in %s", s.Escalation, s.Name)
		}
		if final := s.Name == "completed" || s.Name == "abandoned"; s.Terminal != final {
			t.Errorf("found terminal = %t in %s", s.Terminal, s.Name)
		}
	}
}

// Every arrow of the document's diagram is an edge, and no other edge than those on the page leads out of a state.
func TestBuild_hasEveryArrowOfTheDiagramOfDocument003(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "build")
	arrows := map[task.Status]string{
		"pending": "assigned", "assigned": "planning", "planning": "validated planning cto_intervention",
		"validated":   "in_progress",
		"in_progress": "testing cto_intervention", "testing": "quality_review",
		"quality_review": "approved in_progress cto_intervention",
		"approved":       "committing", "committing": "completed in_progress cto_intervention",
		"cto_intervention": "planning in_progress quality_review committing human_escalation",
	}
	added := map[task.Status]string{
		"assigned": "cto_intervention", "planning": "human_escalation", "validated": "cto_intervention",
		"in_progress": "in_progress human_escalation",
		"testing":     "testing cto_intervention human_escalation", "quality_review": "human_escalation",
		"approved":   "cto_intervention",
		"committing": "human_escalation", "cto_intervention": "assigned validated testing approved completed",
		"human_escalation": working003 + " completed",
	}
	for _, s := range def.States {
		var found []string
		for _, e := range def.Transitions {
			if e.From == s.Name && !slices.Contains(found, string(e.To)) {
				found = append(found, string(e.To))
			}
		}
		want := append(strings.Fields(arrows[s.Name]), strings.Fields(added[s.Name])...)
		if !s.Terminal {
			want = append(want, "abandoned")
		}
		slices.Sort(found)
		slices.Sort(want)
		if !slices.Equal(found, want) {
			t.Errorf("out of %s lead\n%q, want\n%q", s.Name, found, want)
		}
	}
}

// The agent that starts in a state is the one of its role; the agent before it has been ended; and the task holds a
// workspace as long as agents need it.
func TestBuild_startsTheAgentOfEachStateAndEndsTheOneBefore(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "build")
	for i := range def.Transitions {
		e := &def.Transitions[i]
		from, _ := def.State(e.From)
		to, _ := def.State(e.To)
		spawned, ended := "", e.Has(action.KillSession)
		for _, h := range e.Hooks {
			if role := workflow.SpawnRole(h.Hook); role != "" {
				spawned = role
			}
			ended = ended || h.Action == action.KillAgent && h.Role == from.Role
		}
		switch {
		case to.Role != from.Role && spawned != to.Role:
			t.Errorf("%s -> %s starts %q, want %q", e.From, e.To, spawned, to.Role)
		case spawned != "" && spawned != to.Role:
			t.Errorf("%s -> %s starts %q, which is not at work there", e.From, e.To, spawned)
		case from.Role != "" && e.From != def.Initial && to.Role != from.Role && !ended:
			t.Errorf("%s -> %s leaves the %s alive", e.From, e.To, from.Role)
		case to.Terminal != e.Has(action.ReleaseWorkspace),
			e.Has(action.AcquireWorkspace) != (e.From == def.Initial && !to.Terminal):
			t.Errorf("%s -> %s does not hold the workspace as long as it is needed", e.From, e.To)
		}
	}
}

func TestBuild_respawnsTheAgentOfEachStateByItself(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "build")
	for _, s := range def.States {
		_, prompted := def.Prompt(s.RespawnPrompt.Name)
		if prompted != (s.Role != "") {
			t.Errorf("found the respawn prompt %q for the role %q in %s", s.RespawnPrompt.Name, s.Role, s.Name)
		}
		if auto := s.Respawn == workflow.RespawnAuto; auto != (s.Role != "" && s.Name != def.Initial) {
			t.Errorf("found respawn = %q in %s", s.Respawn, s.Name)
		}
	}
	c, err := decide.Respawn(def, newTask("quality_review"), false, false, human(), noon)
	if err != nil || len(c.Hooks) != 1 || workflow.SpawnRole(c.Hooks[0]) != "quality-monitor" ||
		c.Hooks[0].Harness != task.HarnessReview {
		t.Errorf("found %+v (%v), want a quality monitor with the harness of reviews, as the move into the "+
			"state starts it", c.Hooks, err)
	}
}

// Every row of the document's two tables has a story in which its own actor makes the move, and others are refused.
func TestEveryRowOfDocument003HasAStoryOfItsActor(t *testing.T) {
	t.Parallel()
	rows := []struct{ story, move, actor string }{
		{"pending-assigned", "pending -> assigned", "orchestrator"},
		{"assigned-planning", "assigned -> planning", "solution-validator"},
		{"planning-validated", "planning -> validated", "solution-validator"},
		{"validated-in_progress", "validated -> in_progress", "fullstack-developer"},
		{"in_progress-testing", "in_progress -> testing", "fullstack-developer"},
		{"testing-quality_review", "testing -> quality_review", "fullstack-developer"},
		{"quality_review-approved", "quality_review -> approved", "quality-monitor"},
		{"approved-committing", "approved -> committing", "git-manager"},
		{"committing-completed", "committing -> completed", "git-manager"},
		{"planning-planning", "planning -> planning", "solution-validator"},
		{"quality_review-in_progress", "quality_review -> in_progress", "quality-monitor"},
		{"committing-in_progress", "committing -> in_progress", "git-manager"},
		{"any-cto_intervention", "in_progress -> cto_intervention", "orchestrator"},
		{"cto_intervention-previous", "cto_intervention -> planning", "cto"},
		{"cto_intervention-human_escalation", "cto_intervention -> human_escalation", "cto"},
		{"skip", "cto_intervention -> approved", "cto"},
		{"abandon", "in_progress -> abandoned", "human"},
		{"human-resolution", "human_escalation -> committing", "human"},
		{"plan-file", "pending -> assigned", "cto"},
	}
	for _, r := range rows {
		text := string(read(t, "testdata/stories/003-"+r.story+".txt"))
		for _, want := range []string{"moved " + r.move + " by " + r.actor + "\n", "refused "} {
			if !strings.Contains(text, want) {
				t.Errorf("found nothing in 003-%s.txt that says %q", r.story, want)
			}
		}
	}
}
