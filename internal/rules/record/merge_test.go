package record_test

import (
	"slices"
	"testing"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func TestCommands_areThoseWithAllThatTheMergeNeeds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   record.Merging
		as   string
		want []string
	}{
		"as it is": {want: []string{"orange task merge T"}},
		"local":    {in: record.Merging{Asked: task.Merge{Local: true}}, want: []string{"orange task merge T --local"}},
		"not as its pull request": {in: record.Merging{PR: record.PullRequest{URL: "u"}},
			want: []string{"orange task merge T --local"}},
		"not as the project does": {in: record.Merging{Project: task.Project{Merge: "pr"}},
			want: []string{"orange task merge T --local"}},
		"with all": {in: record.Merging{Asked: task.Merge{Strategy: "squash", Override: "it's late"}}, as: "reviewer",
			want: []string{`orange task merge T --strategy squash --override 'it'\''s late' --as reviewer`}},
		"a word as the reason": {in: record.Merging{Asked: task.Merge{Override: "late2"}},
			want: []string{"orange task merge T --override late2"}},
		"a line break in the reason": {in: record.Merging{Asked: task.Merge{Override: "late\n"}},
			want: []string{"orange task merge T --override 'late\n'"}},
		"a choice": {in: record.Merging{Project: task.Project{Push: "ask"}},
			want: []string{"orange task merge T --push", "orange task merge T --no-push"}},
		"pushed": {in: record.Merging{Asked: task.Merge{Push: "always"}}, want: []string{"orange task merge T --push"}},
		"pushed, whatever the project does": {in: record.Merging{Asked: task.Merge{Push: "always"},
			Project: task.Project{Push: "never"}}, want: []string{"orange task merge T --push"}},
		"not pushed": {in: record.Merging{Asked: task.Merge{Push: "never"}, Unpushed: 2},
			want: []string{"orange task merge T --no-push"}},
		"never pushed": {in: record.Merging{Project: task.Project{Push: "never"}, Unpushed: 2},
			want: []string{"orange task merge T"}},
		"with one commit more": {in: record.Merging{Unpushed: 1},
			want: []string{"orange task merge T --with 1", "orange task merge T --no-push"}},
	} {
		if got := tt.in.Commands("T", tt.as); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	order := record.MergeOrder{Checks: []record.MergeCheck{{Argv: []string{"make", "test"}}, {Argv: []string{"lint"}}}}
	if got := order.ChecksInWords(); !slices.Equal(got, []string{"make test", "lint"}) {
		t.Errorf("the checks are %q", got)
	}
}

func TestUnmerged_saysWhyAndWhatBecameOfTheTask(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]record.Unmerged{
		`the check "make" of the merged work failed; nothing was changed: no`: {Check: "make", Said: "no"},
		`the check "make" of the merged work failed; no branch was changed; it went back: no`: {Check: "make", Said: "no",
			Then: "it went back"},
		`both changed "a"; no branch was changed; it went back`: {Files: []string{"a"}, Then: "it went back"},
		`both changed "a", "b"; merge the default branch into the branch and solve it there, then run this again; ` +
			`nothing was changed`: {Files: []string{"a", "b"}},
	} {
		if got := u.Error(); got != want {
			t.Errorf("it says %s\nwant %s", got, want)
		}
	}
}
