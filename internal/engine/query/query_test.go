package query

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/diff"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/stats"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/tmux"
)

var errUnread = errors.New("it cannot be read")

// world is a record with a few tasks; what is in unread cannot be read.
type world struct {
	tasks  []task.Task
	events []history.Event
	unread map[string]bool
	def    *workflow.Definition // of every task; a short one where it is nil
	patch  func(from string) diff.Patch
}

func (w *world) fail(what string) error {
	if w.unread[what] {
		return errUnread
	}
	return nil
}

func (w *world) Load(_ context.Context, id string) (record.Snapshot, error) {
	for _, t := range w.tasks {
		if t.ID == id {
			return record.Snapshot{Task: t}, nil
		}
	}
	return record.Snapshot{}, task.ErrNotFound
}

func (w *world) List(context.Context, record.Filter) ([]task.Task, error) { return w.tasks, nil }

func (w *world) Events(context.Context, string, int) ([]history.Event, error) {
	return w.events, w.fail("events")
}

func (w *world) Lines(context.Context, string) ([]string, error) { return nil, w.fail("lines") }

func (w *world) IDs(context.Context, string) ([]string, error) { return []string{"one"}, nil }

func (w *world) Pinned(_ context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	if w.def != nil {
		return w.def, nil
	}
	return &workflow.Definition{States: []workflow.State{{Name: "build", About: "work on it"}}}, w.fail(ref.Digest)
}

func (w *world) Timeouts(project string) (task.Timeouts, error) { return nil, w.fail(project) }

func (w *world) CheckWorkflow(name string) (*workflow.Definition, error) {
	return &workflow.Definition{Name: name}, w.fail(name)
}

func (w *world) Document(project, id string) string { return project + "/" + id + "/TASK.md" }

func (w *world) Read(string, string, bool) ([]byte, error) {
	return []byte("## Review\n\nVerdict: FAIL\n\n## Else\n"), w.fail("document")
}

func (w *world) Patch(_ context.Context, _ task.Task, from string) (diff.Patch, error) {
	return w.patch(from), nil
}

func (w *world) Kept(string, string, string) (string, bool, error) { return "", false, nil }

func (w *world) IsOlder(_, id string, _ time.Time) bool { return id == "four" }

func (w *world) ReadBefore(string, string) ([]byte, error) { return nil, nil }

func (w *world) Folders() ([][2]string, error) {
	return [][2]string{{"garden", "one"}, {"garden", "three"}, {"coffee", "four"}}, w.fail("folders")
}

func (w *world) Dir(workspace string) string { return "/work/" + workspace }

func (w *world) SetUpOutput(workspace string) string { return "/output/" + workspace }

func (w *world) Left(string) string { return "" }

func (w *world) Asides(string) ([]record.Aside, error) { return nil, nil }

func (*world) Lost(context.Context, task.Task) ([]string, error) { return nil, nil }

func (w *world) SharedWords(context.Context, string) ([]string, error) { return nil, nil }

func (w *world) Rescues(context.Context, task.Task) ([]task.Rescued, error) {
	return nil, w.fail("rescues")
}

func (w *world) States(_ context.Context, tasks []task.Task) (map[string]string, []tmux.Pane, error) {
	return map[string]string{tasks[0].ID: record.AgentAlive}, nil, nil
}

func (w *world) Needs(context.Context, []task.Task) (map[string]string, map[string]record.Need, error) {
	return nil, nil, nil
}

func (w *world) refresh(ctx context.Context, id string) (record.Snapshot, decide.Evidence, error) {
	s, err := w.Load(ctx, id)
	return s, decide.Evidence{}, errors.Join(err, w.fail("refresh"))
}

func newService() (*Service, *world) {
	w := &world{unread: map[string]bool{}, tasks: []task.Task{
		{ID: "one", Project: "garden", Status: "build", Workspace: "garden--1",
			Workflow: task.WorkflowRef{Name: "w", Digest: "good"}},
		{ID: "two", Project: "coffee", Status: "build", Workflow: task.WorkflowRef{Name: "w", Digest: "bad"}},
	}}
	return &Service{Record: w, Setup: w, Files: w, Work: w, Agents: w, Refresh: w.refresh,
		Compare: func(context.Context, *workflow.Definition, task.Task) string { return "2 commits" },
		Variables: func(string) ([]string, error) {
			if w.unread["variables"] {
				return nil, errors.New("env/one.json:2: no end")
			}
			return []string{"KEY"}, nil
		},
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}, w
}

func TestUnrecorded_countsFoldersOfTasksThatTheRecordLacks(t *testing.T) {
	t.Parallel()
	s, w := newService()
	if n, older, err := s.Unrecorded(t.Context()); n != 2 || older != 1 || err != nil {
		t.Errorf("found %d, %d of them older: %v", n, older, err)
	}
	w.unread["folders"] = true
	if _, _, err := s.Unrecorded(t.Context()); err == nil {
		t.Error("folders that cannot be read are none")
	}
}

func TestReport_turnsWhatCannotBeReadIntoAProblem(t *testing.T) {
	t.Parallel()
	s, w := newService()
	w.events = []history.Event{{Type: history.AgentCrashed, Data: map[string]string{"last_words": "oh no"}}}
	r, err := s.Report(t.Context(), "one", task.Actor{Role: task.RoleHuman})
	if err != nil || r.About != "work on it" || r.Worktree != "/work/garden--1" || r.SetUp != "/output/garden--1" ||
		r.Work != "2 commits" || !slices.Equal(r.Variables, []string{"KEY"}) ||
		r.LastWords != "oh no" || r.Session != record.AgentAlive || len(r.Problems) > 0 {
		t.Errorf("the report is %+v, %v", r, err)
	}
	w.unread["refresh"], w.unread["variables"], w.unread["rescues"] = true, true, true
	w.events = append(w.events, history.Event{Type: history.AgentRespawned})
	r, err = s.Report(t.Context(), "one", task.Actor{})
	if err != nil || len(r.Problems) != 3 || !strings.Contains(r.Problems[2], "rescued work") || r.LastWords != "" {
		t.Errorf("the report is %+v, %v", r, err)
	}
	if _, err := s.Report(t.Context(), "none", task.Actor{}); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("a task that is not there: %v", err)
	}
}

func TestTimings_leaveOutWhatCannotBeReadAndSayWhy(t *testing.T) {
	t.Parallel()
	s, w := newService()
	found, err := s.Timings(t.Context(), w.tasks)
	if err != nil || len(found) != 2 {
		t.Errorf("found %v, %v", found, err)
	}
	w.unread["bad"] = true
	found, err = s.Timings(t.Context(), append(w.tasks, w.tasks[1]))
	if _, one := found["one"]; !errors.Is(err, errUnread) || len(found) != 1 || !one ||
		strings.Count(err.Error(), errUnread.Error()) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	w.unread["garden"] = true
	if found, err = s.Timings(t.Context(), w.tasks[:1]); !errors.Is(err, errUnread) || len(found) != 0 {
		t.Errorf("without the project's timeouts: %v, %v", found, err)
	}
}

func TestQuestionsAboutATaskThatIsNotThereAreNotFound(t *testing.T) {
	t.Parallel()
	s, _ := newService()
	_, history := s.History(t.Context(), "none")
	_, _, pinned := s.Pinned(t.Context(), "none")
	_, entries := s.LogEntries(t.Context(), "none")
	for _, err := range []error{history, pinned, entries} {
		if !errors.Is(err, task.ErrNotFound) {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestStats_areOfAllTasksOrAnError(t *testing.T) {
	t.Parallel()
	s, w := newService()
	all, err := s.Stats(t.Context(), w.tasks, stats.Window{})
	if err != nil || len(all) != 2 {
		t.Errorf("found %+v, %v", all, err)
	}
	at := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	w.events = []history.Event{{Seq: 1, Time: at, Type: history.Created}}
	for since, want := range map[time.Time]int{at: 2, at.Add(time.Hour): 0} {
		all, err := s.Stats(t.Context(), w.tasks, stats.Window{Since: since})
		if err != nil || len(all) != want {
			t.Errorf("since %s: found %+v, %v, want %d", since, all, err, want)
		}
	}
	for _, what := range []string{"good", "events"} {
		w.unread = map[string]bool{what: true}
		if _, err := s.Stats(t.Context(), w.tasks, stats.Window{}); !errors.Is(err, errUnread) {
			t.Errorf("without the %s: %v", what, err)
		}
	}
	if ids, err := s.All(t.Context(), ""); err != nil || !slices.Equal(ids, []string{"one"}) {
		t.Errorf("the ids are %q, %v", ids, err)
	}
}

func TestReplay_withoutTheHistoryHasEmptyLists(t *testing.T) {
	t.Parallel()
	s, w := newService()
	w.unread["lines"] = true
	r, err := s.replay(t.Context(), w.tasks[0], nil)
	if !errors.Is(err, errUnread) || r.Untold == nil || r.Different == nil {
		t.Errorf("found %+v, %v", r, err)
	}
}

func TestReplay_leavesOutDeletedTasksAndTasksOfOtherWorkflows(t *testing.T) {
	t.Parallel()
	s, w := newService()
	w.tasks[1].Workflow.Name = "v"
	w.unread["lines"] = true
	got, err := s.Replay(t.Context(), []string{"one", "two", "gone"}, replay.Rules{Workflow: "w", Own: true},
		func(string, int, int) {})
	if err != nil || len(got.Tasks) != 1 || got.Tasks[0].Task != "one" || got.Tasks[0].Trouble == "" ||
		got.Others["v"] != 1 {
		t.Errorf("found %+v, %v", got, err)
	}
	w.unread["x.yml"] = true
	_, err = s.Replay(t.Context(), []string{"one"}, replay.Rules{Workflow: "x.yml"}, nil)
	if !errors.Is(err, errUnread) {
		t.Errorf("found %v", err)
	}
}
