package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"orange/internal/history"
	"orange/internal/printable"
	"orange/internal/replay"
	"orange/internal/task"
)

// lookedAway is a decision of a task in a state that cannot be compared because it was not looked at.
func lookedAway(state task.Status, parts ...string) replay.Difference {
	return replay.Difference{Event: 3, Type: history.StatusChanged, Why: "no one looked at " + strings.Join(parts,
		", "), Reason: "no one looked at it", State: state, Parts: parts}
}

func TestReplay_countsWhatCannotBeToldByReasonStateAndPart(t *testing.T) {
	t.Parallel()
	lost := replay.Difference{Event: 9, Type: history.StatusChanged, Why: "a text is lost: ## plan, abc",
		Reason: "a text is lost", State: "planning"}
	all := replay.Replays{Others: map[string]int{"classic": 2, "build": 1}}
	for _, id := range []string{"aaa", "bbb", "ccc", "ddd"} {
		all.Tasks = append(all.Tasks, replay.Replayed{
			Task: id, Untold: []replay.Difference{
				lookedAway("working", "a.json"), lookedAway("working", "a.json"), lost}})
	}
	all.Tasks = append(all.Tasks, replay.Replayed{
		Task: "eee", Untold: []replay.Difference{lookedAway("working", "a.json", "b.json"),
			lookedAway("review", "a.json")}})
	tell := func(file string, asJSON bool) (string, error) {
		var out bytes.Buffer
		p := &Program{Out: printable.NewWriter(&out), json: asJSON}
		err := p.replayed(all, file)
		if unsaid := p.flush(); unsaid != nil {
			t.Error(unsaid)
		}
		return out.String(), err
	}
	said, err := tell("other.yml", false)
	want := `CANNOT BE COMPARED  STATE     WHY                                  TASKS
8                   working   no one looked at it: a.json          aaa, bbb, ccc and 1 more
4                   planning  a text is lost                       aaa, bbb, ccc and 1 more
1                   review    no one looked at it: a.json          eee
1                   working   no one looked at it: a.json, b.json  eee
5 tasks, 0 decisions made again: 0 came out the same, 0 otherwise, 14 cannot be compared
left out: 3 tasks of other workflows (build 1, classic 2); one that is named is looked at whatever its workflow
`
	if err != nil || said != want {
		t.Errorf("%v, it says\n%s\nwant\n%s", err, said, want)
	}
	if said, err = tell("", false); err == nil || strings.Count(said, "cannot be compared: ") != 14 {
		t.Errorf("by their own rules each of them is a fault with a place of its own: %v\n%s", err, said)
	}
	if said, err = tell("other.yml", true); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Groups []untoldGroup
		Others map[string]int
	}
	if err := json.Unmarshal([]byte(said), &answer); err != nil || len(answer.Groups) != 4 ||
		answer.Others["classic"] != 2 {
		t.Fatalf("%v: %s", err, said)
	}
	if g := answer.Groups[0]; g.Count != 8 || g.Tasks != 4 || strings.Join(g.IDs, " ") != "aaa bbb ccc" ||
		g.Part != "a.json" || g.State != "working" || g.Reason != "no one looked at it" {
		t.Errorf("the first group is %+v", g)
	}
}
