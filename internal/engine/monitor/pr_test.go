package monitor_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// asked is a live task with a pull request in a state.
func (w *world) asked(id, project, state string) {
	w.tasks = append(w.tasks, task.Task{ID: id, Project: project, Status: "build", Live: true, EnteredAt: noon,
		PRURL: "https://github.com/a/b/pull/" + id, PRState: state})
}

func TestPullRequests_areQueriedOncePerProjectAndTheirEndsReported(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.asked("1", "garden", record.PROpen)
	w.asked("2", "garden", record.PROpen)
	w.asked("3", "garden", record.PRMerged)
	w.tasks = append(w.tasks, task.Task{ID: "4", Project: "shed", Status: "build", Live: true, EnteredAt: noon})
	w.requests = []record.PullRequest{
		{URL: "https://github.com/a/b/pull/1", State: record.PROpen},
		{URL: "https://github.com/a/b/pull/2", State: record.PRMerged},
	}
	must(t, m.Once(t.Context()))
	wantDid(t, w, "standing garden 2", "pull-request 2 MERGED")
	if want := []string{"2: ended; orange task why 2"}; !slices.Equal(w.told, want) {
		t.Errorf("people were told %q, want %q", w.told, want)
	}
}

func TestPullRequests_thatCannotBeReadAreReportedAndBlockNothing(t *testing.T) {
	t.Parallel()
	m, w := newMonitor()
	w.asked("1", "garden", record.PROpen)
	w.fails["standing garden 1"] = errors.New("no network")
	err := m.Once(t.Context())
	if err == nil || !strings.Contains(err.Error(), `pull requests of "garden": no network`) {
		t.Errorf("the error is %v", err)
	}
	wantDid(t, w, "standing garden 1")
}
