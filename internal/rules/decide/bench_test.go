package decide_test

import (
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
)

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
