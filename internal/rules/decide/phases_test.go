package decide_test

import (
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// What the death of a phase's agent leads to: its files count as if the agent had asked. Every other death is a
// crash, and the task stays.
func TestExit_ofThePhasesFollowsTheFiles(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "phases")
	for i := range def.Transitions {
		edge := &def.Transitions[i]
		from, _ := def.State(edge.From)
		if len(edge.Gate) == 0 || from.Role == "" {
			continue
		}
		ev := decide.Evidence{Facts: factsFor(def, edge.From, edge.To)}
		c := decide.Exit(def, newTask(edge.From), ev, deathOf(from.Role), noon)
		if c.Task.Status != edge.To || actionsOf(c.Hooks) != actionsOf(edgeHooks(edge)) || len(c.Events) != 2 ||
			c.Events[1].Type != history.AutoAdvanced {
			t.Errorf("%s with the files of %s: %s", edge.From, edge.To, shape(c))
		}
		if len(edge.When) == 0 {
			continue
		}
		one := newTask(edge.From)
		one.Counters = one.Counters.With("returns", mostReturns+1)
		c = decide.Exit(def, one, ev, deathOf(from.Role), noon)
		if c.Task.Status != edge.From || !strings.Contains(c.Task.Attention, "returns = 10") {
			t.Errorf("%s with the files of %s, sent back ten times: %s, marked %q", edge.From, edge.To, shape(c),
				c.Task.Attention)
		}
	}
}

func edgeHooks(edge *workflow.Transition) []task.Hook {
	var out []task.Hook
	for _, h := range edge.Hooks {
		out = append(out, h.Hook)
	}
	return out
}

func TestExit_ofThePhasesWithoutFilesIsACrashThatStays(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "phases")
	crashes := map[task.Status]bool{}
	for _, s := range def.States {
		if s.Terminal {
			continue
		}
		for _, before := range []int{0, 1, 5} {
			one := newTask(s.Name)
			one.Counters = one.Counters.With(task.CrashCount, before)
			c := decide.Exit(def, one, decide.Evidence{Facts: factsFor(def, s.Name, "")}, deathOf(s.Role), noon)
			if c.Task.Status != s.Name || len(c.Hooks) > 0 {
				t.Errorf("death %d in %s: %s", before+1, s.Name, shape(c))
			}
			if s.Role == "" {
				continue
			}
			crashes[s.Name] = true
			if c.Task.Counters.Get(task.CrashCount) != before+1 ||
				!strings.Contains(c.Task.Attention, "orange task respawn T1") {
				t.Errorf("death %d in %s: %s, marked %q", before+1, s.Name, shape(c), c.Task.Attention)
			}
		}
	}
	if len(crashes) != 6 {
		t.Errorf("agents die in %v, want the six phases that have one", crashes)
	}
}

// A task begins without an agent; the move that starts it gives it a worktree, or queues it for one.
func TestThePhasesBeginInPlanning(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "phases")
	born, err := decide.Create(def, task.Task{ID: "T1"}, "planning", human(), noon)
	if err != nil || len(born.Hooks) > 0 || born.Lease != record.LeaseKeep {
		t.Fatalf("found %+v (%v), want a task that waits", born, err)
	}
	to, err := decide.SpawnTarget(def, born.Task)
	if err != nil || to != "planning" {
		t.Fatalf("it is spawned to %q (%v)", to, err)
	}
	d, err := decide.Transition(def, born.Task, decide.Evidence{}, task.Request{
		Task: "T1", To: to, Actor: human()}, noon)
	if err != nil || !d.Moved || d.Change.Lease != record.LeaseReserve || d.Change.Task.Previous != "" {
		t.Errorf("spawned: %s (%v)", shape(d.Change), err)
	}
	for _, status := range []task.Status{"plan_review", "codegen", "review", "test", "accept", "revert", "done"} {
		if _, err := decide.Create(def, task.Task{ID: "T2"}, status, human(), noon); err == nil {
			t.Errorf("a task can be created in %s: what comes before it is skipped", status)
		}
	}
}

// Agents come to an end without a person: every edge back that they may take is counted, and without those edges
// there is no cycle.
func TestThePhasesLetAgentsNotGoRoundForEver(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "phases")
	forward := map[task.Status][]task.Status{}
	for _, edge := range def.Transitions {
		counted := len(edge.When) == 1 && edge.When[0].Field == "returns" && edge.When[0].Op == "<"
		for _, h := range edge.Hooks {
			if counted && h.Field == "returns" && h.Action != action.Increment {
				t.Errorf("%s -> %s is bounded by returns and does not count one", edge.From, edge.To)
			}
		}
		if !counted && (len(edge.By) != 1 || edge.By[0] != task.RoleHuman) {
			forward[edge.From] = append(forward[edge.From], edge.To)
		}
	}
	var walk func(at task.Status, way []task.Status)
	walk = func(at task.Status, way []task.Status) {
		if len(way) > len(def.States) {
			t.Fatalf("agents can go round: %v", way)
		}
		for _, to := range forward[at] {
			walk(to, append(way, to))
		}
	}
	for _, s := range def.States {
		walk(s.Name, []task.Status{s.Name})
	}
}
