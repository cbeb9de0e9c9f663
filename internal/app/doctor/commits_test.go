package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
)

type heldCommits struct {
	Setup
	gone, loose []string
	err         error
	asked       int
}

func (h *heldCommits) Held(context.Context, string, []string) (gone, loose []string, err error) {
	h.asked++
	return h.gone, h.loose, h.err
}

func TestCommits_areAskedForOnceAndToldByWhatTheyAre(t *testing.T) {
	t.Parallel()
	live := task.Task{ID: "a", Project: "coffee", Live: true, Subject: task.Subject{Commit: "present"}}
	over := task.Task{ID: "b", Project: "coffee"}
	events := []history.Event{
		{Seq: 1, Type: history.StatusChanged, Subject: task.Subject{Commit: "earlier"}},
		{Seq: 2, Type: history.StatusChanged, Subject: task.Subject{Commit: "present"}},
		{Seq: 3, Type: history.BranchPushed, Data: map[string]string{"commit": "pushed"}},
	}
	merged := []history.Event{{Seq: 4, Type: history.Merged, Data: map[string]string{"commit": "merge",
		history.DataJudged: "earlier"}},
		{Seq: 5, Type: history.StatusChanged, Subject: task.Subject{Commit: "earlier"}}}
	there := []history.Event{{Seq: 6, Type: history.Merged, Data: map[string]string{"commit": "there", "url": "u"}}}
	all := append(namedCommits(live, events), namedCommits(over, slices.Concat(merged, there))...)
	for name, tt := range map[string]struct {
		held heldCommits
		want string
	}{
		"all there":  {heldCommits{}, ""},
		"taken back": {heldCommits{gone: []string{"earlier", "pushed"}}, "warning a 1; warning a 3; warning b 5"},
		"the work":   {heldCommits{gone: []string{"present"}}, "problem a 2"},
		"the merge":  {heldCommits{gone: []string{"merge"}}, "problem b 4"},
		"elsewhere":  {heldCommits{gone: []string{"there"}, loose: []string{"there"}}, "warning b 6"},
		"undone":     {heldCommits{loose: []string{"merge", "present", "earlier"}}, "problem b 4"},
		"blind":      {heldCommits{err: errors.New("no")}, "problem coffee"},
		"no project": {heldCommits{err: task.ErrNotFound}, "ok coffee"},
	} {
		d, r := &Doctor{Setup: &tt.held}, newReport(checkCommits)
		d.commits(t.Context(), r, all)
		var got []string
		for _, f := range *r.found {
			text := fmt.Sprintf("%s %s", f.Level, f.Subject)
			if _, after, says := strings.Cut(f.Found, "event "); says {
				text += " " + after[:1]
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != tt.want || tt.held.asked != 1 {
			t.Errorf("%s: found %q, want %q, asked %d times", name, got, tt.want, tt.held.asked)
		}
	}
}
