package decide_test

import (
	"testing"

	"orange/internal/decide"
	"orange/internal/task"
)

// simplestAllocations is what a decision on an edge without gate and hooks costs today. It is an upper bound:
// lower it when a decision gets cheaper, and think before raising it.
const simplestAllocations = 2

// It does not run in parallel, because the allocations of other tests would count too.
func TestTheSimplestDecisionAllocatesNoMoreThanItDoesToday(t *testing.T) { //nolint:paralleltest // counts allocations
	def := defaultWorkflow(t)
	tk := newTask("clarification")
	req := task.Request{Task: tk.ID, To: "planning", Actor: task.Actor{Role: task.RoleWorker}}
	found := testing.AllocsPerRun(200, func() {
		if d, err := decide.Transition(def, tk, decide.Evidence{}, req, noon); err != nil || !d.Moved {
			t.Fatal(d, err)
		}
	})
	if found > simplestAllocations {
		t.Errorf("found %v allocations, want at most %d", found, simplestAllocations)
	}
}

// gatedAllocations is what a decision over a gate of one section costs today, its digest included, and the note that a
// person has passed it on.
const gatedAllocations = 13

func TestADecisionOverOneSectionAllocatesNoMoreThanItDoesToday(t *testing.T) { //nolint:paralleltest // counts them
	def := parse(t, "gated.yml", []byte(`
name: gated
version: 1
allow: {bounded: to go round is what is counted here}
states: {a: {}, b: {}, over: {terminal: true}}
transitions:
  - {from: a, to: b, gate: {section: Handoff}}
  - {from: b, to: a}
  - {from: [a, b], to: over}
`))
	tk := newTask("a")
	ev := evidence("## Plan\nAPPROACH: small steps\n\n## Handoff\nDONE: the login works\n")
	req := task.Request{Task: tk.ID, To: "b", Actor: task.Actor{Role: task.RoleHuman}}
	found := testing.AllocsPerRun(200, func() {
		if d, err := decide.Transition(def, tk, ev, req, noon); err != nil || !d.Moved {
			t.Fatal(d, err)
		}
	})
	if found > gatedAllocations {
		t.Errorf("found %v allocations, want at most %d", found, gatedAllocations)
	}
}

// BenchmarkDecision is one decision with a gate over a document that has already been read.
func BenchmarkDecision(b *testing.B) {
	def := defaultWorkflow(b)
	tk := newTask("working")
	ev := evidence("## Plan\nAPPROACH: small steps\n\n## Handoff\nDONE: the login works\n")
	req := task.Request{Task: tk.ID, To: "agent-review", Actor: task.Actor{Role: task.RoleWorker}}
	b.ReportAllocs()
	for b.Loop() {
		if d, err := decide.Transition(def, tk, ev, req, noon); err != nil || !d.Moved {
			b.Fatal(d, err)
		}
	}
}
