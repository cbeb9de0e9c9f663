package explore

import (
	"fmt"

	"orange/internal/workflow"
)

// Seen are the configurations of a workflow as far as a twin sees them too: the task's status, whether it has a
// workspace and owes hooks, and which agents live.
func Seen(def *workflow.Definition, most int) map[string]bool {
	w := newWalk(def, most)
	w.explore()
	out := map[string]bool{}
	for _, c := range w.configs {
		text := fmt.Sprintf("%s workspace=%v owes=%v", w.def.States[c.status].Name, c.workspace, c.owed != 0)
		for _, name := range w.living(c, func(int) bool { return true }) {
			text += " " + name
		}
		out[text] = true
	}
	return out
}
