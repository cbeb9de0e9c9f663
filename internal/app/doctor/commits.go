package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

// namedCommit is a commit that an event names.
type namedCommit struct {
	task    task.Task
	commit  string
	seq     int
	merged  bool // the work was merged as this commit here, and not where its pull request is
	present bool // the task lives, and its evidence is about it
}

// namedCommits are the commits that the events of a task name, each by the last of them.
func namedCommits(t task.Task, events []history.Event) []namedCommit {
	at := map[string]namedCommit{}
	for _, e := range events {
		for _, commit := range []string{e.Subject.Commit, e.Data["commit"], e.Data[history.DataJudged]} {
			if commit != "" {
				merged := e.Type == history.Merged && commit == e.Data["commit"] && e.Data["url"] == ""
				at[commit] = namedCommit{task: t, commit: commit, seq: e.Seq, merged: merged || at[commit].merged,
					present: t.Live && commit == t.Subject.Commit}
			}
		}
	}
	return slices.SortedFunc(maps.Values(at), func(a, b namedCommit) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.commit, b.commit))
	})
}

// commits asks git for every commit that events name: once for each project.
func (d *Doctor) commits(ctx context.Context, r report, all []namedCommit) {
	byProject := map[string][]namedCommit{}
	for _, one := range all {
		byProject[one.task.Project] = append(byProject[one.task.Project], one)
	}
	for _, project := range slices.Sorted(maps.Keys(byProject)) {
		var asked []string
		for _, one := range byProject[project] {
			asked = append(asked, one.commit)
		}
		slices.Sort(asked)
		gone, loose, err := d.Setup.Held(ctx, project, slices.Compact(asked))
		switch {
		case errors.Is(err, task.ErrNotFound):
			r.ok(project, "there is no such project any more: the commits that its tasks name are compared with "+
				"nothing")
			continue
		case err != nil:
			r.blind(project, err)
			continue
		}
		for _, one := range byProject[project] {
			one.tell(r, slices.Contains(gone, one.commit), slices.Contains(loose, one.commit))
		}
	}
}

// tell says what is wrong with a commit. What an agent took back, or a branch that was deleted, git throws away after
// some time: that is as it should be.
func (n namedCommit) tell(r report, gone, loose bool) {
	found := fmt.Sprintf("event %d names the commit %.12s, and the repository does not have it", n.seq, n.commit)
	switch {
	case gone && (n.merged || n.present):
		r.problem(n.task.ID, found, "bring it back from another clone, or from a backup: git fetch")
	case gone:
		r.warn(n.task.ID, found+": it was not fetched, or an agent or a person took it back, and git threw it away",
			"nothing is to be done where the work went on without it")
	case loose && n.merged:
		r.problem(n.task.ID, fmt.Sprintf("event %d says that the work was merged as %.12s, and no branch or tag holds "+
			"that commit any more", n.seq, n.commit), "someone took the merge back: have it merged again, or keep the "+
			"commit under a branch: git branch NAME "+n.commit)
	}
}
