package sqlite_test

import (
	"reflect"
	"strings"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func TestWholes_areWhatEachTaskIsAlone(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	ids := []string{"c", "a", "b", "none", "long"}
	for _, id := range []string{"a", "b", "c", "long", "other"} {
		first := create(t, s, aTask(id))
		c := record.Change{Task: first, Expect: first.Version, Events: []history.Event{event(history.Updated)},
			Entered: true, Entry: []task.Evidence{{Source: "## z", Digest: id}, {Source: "## y", Digest: id}},
			Start: []task.Evidence{{Source: "## s", Digest: id}},
			Spent: []task.Evidence{{Source: "## x", Digest: id}},
			Hooks: []task.Hook{{Action: "kill_session"}, {Action: "release_workspace"}}}
		if id == "long" {
			c.Events[0].Reason = strings.Repeat("long ", 20_000)
		}
		now, err := s.Commit(t.Context(), c)
		must(t, err)
		if id == "b" {
			_, err = s.Commit(t.Context(), record.Change{Task: now, Expect: now.Version,
				Settled: []record.Settled{{ID: load(t, s, id).Owed[0].ID, State: task.HookDone}}})
			must(t, err)
		}
	}
	got, err := s.Wholes(t.Context(), ids)
	must(t, err)
	want := map[string]record.Whole{}
	for _, id := range []string{"a", "b", "c"} {
		want[id], err = s.Whole(t.Context(), id)
		must(t, err)
		if w := want[id]; len(w.Hooks) != 2 || len(w.Lines) != 2 || len(w.Entry) != 2 || len(w.Start) != 1 ||
			len(w.Spent) != 1 {
			t.Fatalf("%s alone is %+v", id, w)
		}
	}
	if len(want["b"].Owed) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("together they are\n%+v\nand each alone\n%+v", got, want)
	}
}
