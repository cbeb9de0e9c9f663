package rejection_test

import (
	"strings"
	"testing"

	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

func TestError_saysWhatWasFoundAndWhatToDoNext(t *testing.T) {
	t.Parallel()
	r := &rejection.Rejection{
		Code: rejection.GateUnmet, From: "working", To: "agent-review", Message: "cannot move task T1",
		Details: []rejection.Detail{
			{Condition: "section \"## Handoff\"", Found: "no such section", Where: "TASK.md", Want: "write it"},
			{Condition: "git committed", Found: "2 files differ", Want: "commit them"}},
		Override: "orange task next T1 --override", MayAsk: []task.Status{"stuck", "clarification"},
	}
	want := `cannot move task T1
  section "## Handoff": found no such section (TASK.md)
    to do: write it
  git committed: found 2 files differ
    to do: commit them
  you may make it all the same, and answer for it by name: orange task next T1 --override
  moves out of "working" that you may ask for: stuck, clarification`
	if got := r.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := r.Lacks(), `section "## Handoff": no such section, git committed: 2 files differ`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReason_isOneLine(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]*rejection.Rejection{
		"agent-review: Handoff: as before, git committed: 2 files": {To: "agent-review", Message: "no",
			Details: []rejection.Detail{{Condition: `section "## Handoff"`, Found: "as\nbefore"},
				{Condition: "git committed", Found: "2 files"}}},
		"not yours": {Message: "not yours"},
	} {
		if got := r.Reason(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	said := (&rejection.Rejection{Message: "no", Repeated: "again"}).Error()
	if want := "no\n  again"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}

func TestError_saysWhereElseATaskMayGo(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]*rejection.Rejection{
		"no\n  a task may be created in: pending": {Message: "no", MayAsk: []task.Status{"pending"}},
		"no\n  there is no other move out of \"done\" that you may ask for": {
			Message: "no", From: "done"},
		"no": {Message: "no"},
	} {
		if got := r.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDenied_namesTheTaskIfThereIsOne(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"T1": "cannot act on task T1\n  who asks: found an agent\n    to do: ask a person",
		"":   "cannot act here\n  who asks: found an agent\n    to do: ask a person",
	} {
		got := rejection.Denied(id, "an agent", "ask a person")
		if got.Code != rejection.ActorDenied || got.Task != id || !strings.HasPrefix(got.Error(), want) {
			t.Errorf("%q: it says %q", id, got.Error())
		}
	}
}
