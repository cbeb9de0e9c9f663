package explore_test

import (
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/action"
	"orange/internal/rules/task"
)

// Find returns the configuration of an observed task: every difference of the task leads to another number.
func TestATaskIsFoundAsTheConfigurationThatItIsIn(t *testing.T) {
	t.Parallel()
	def := load(t, "testdata/good/files-and-overrides.yml")
	reach, whole := explore.Explore(def, explore.Most)
	if !whole {
		t.Fatal("it gave up")
	}
	find := func(o explore.Observed) int {
		at, _ := reach.Find(o)
		return at
	}
	here := def.Redo[0].Name
	begun := explore.Observed{Task: task.Task{Status: task.Status(here), Workspace: "w"}, Alive: []string{
		task.RoleWorker}, Been: []task.Status{def.Initial, task.Status(here)}}
	at := find(begun)
	if at < 0 {
		_, reads := reach.Find(begun)
		t.Fatalf("it is not found: %s", reads)
	}
	dead := begun
	dead.Alive = nil
	if n := find(dead); n < 0 || n == at {
		t.Errorf("without its worker it is number %d, and with it %d", n, at)
	}
	never := begun
	never.Been = nil
	if n := find(never); n == at {
		t.Errorf("never having been in %q it is number %d too", here, n)
	}
	apart := begun
	apart.Owed = []task.Hook{{Action: action.Notify}}
	if n := find(apart); n != at {
		t.Errorf("it owes what waits for nobody, and is number %d, not %d", n, at)
	}
	if n := find(explore.Observed{Task: task.Task{Status: "nowhere"}}); n >= 0 {
		t.Errorf("a status that there is not is number %d", n)
	}
}

func TestATaskWhoseCrashesWillBeForgottenIsAnotherConfiguration(t *testing.T) {
	t.Parallel()
	def := load(t, "testdata/good/revived.yml")
	reach, whole := explore.Explore(def, explore.Most)
	if !whole {
		t.Fatal("it gave up")
	}
	var start task.Hook
	for _, edge := range def.Transitions {
		for _, h := range edge.Hooks {
			if h.Action == action.SpawnReviewer {
				start = h.Hook
			}
		}
	}
	// One crash before, then the move to the review, whose start has failed.
	o := explore.Observed{
		Task: task.Task{Status: "review", Workspace: "w", Counters: task.Counters{}.With(task.ReviewRound,
			1).With(task.CrashCount, 1)},
		Alive: []string{task.RoleWorker}, Owed: []task.Hook{start}, Unsettled: true,
	}
	passing, reads := reach.Find(o)
	if passing < 0 {
		t.Fatalf("it is not found: %s", reads)
	}
	o.Unsettled = false
	if stays, _ := reach.Find(o); stays == passing {
		t.Errorf("whether or not the crash will be forgotten it is number %d", stays)
	}
}
