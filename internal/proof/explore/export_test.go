package explore

import (
	"fmt"

	"orange/internal/rules/workflow"
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

// Compare explores a workflow, and again without taking anything to follow alike: it asks decide for every count. The
// texts are what is different; both have the same configurations, ways and flaws.
func Compare(def *workflow.Definition, most int) (different []string) {
	var told [2][]string
	for i := range told {
		w := newWalk(def, most)
		w.whole = i == 1
		w.explore()
		if !w.tooMany {
			told[i] = append(told[i], fmt.Sprint(w.judge()))
		}
		for at, c := range w.configs {
			told[i] = append(told[i], fmt.Sprintf("%s %s %v %b %q %v %d, %d ways", w.def.States[c.status].Name,
				w.standing(c), c.workspace, c.agents, keyOf(w.lists[c.owed]), c.unsettled, c.visited, len(w.ways[at])))
			for _, o := range w.ways[at] {
				told[i] = append(told[i], fmt.Sprint(w.words(int32(at), o), o.person, o.moves, o.again, o.gives,
					o.agents, o.rounds, o.to))
			}
		}
		for _, p := range Properties() {
			told[i] = append(told[i], w.verdict(p).Tell("x"))
		}
	}
	for i := range max(len(told[0]), len(told[1])) {
		if i >= len(told[0]) || i >= len(told[1]) || told[0][i] != told[1][i] {
			return []string{fmt.Sprint(len(told[0]), " and ", len(told[1]), " lines"), told[0][min(i, len(told[0])-1)],
				told[1][min(i, len(told[1])-1)]}
		}
	}
	return nil
}
