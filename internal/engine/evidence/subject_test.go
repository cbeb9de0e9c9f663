package evidence_test

import (
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/work/worktree"
)

const (
	earlier = "2222222222222222222222222222222222222222"
	tree    = "3333333333333333333333333333333333333333"
)

func TestLook_tellsWhetherTheWorkIsWhatItsEvidenceIsAbout(t *testing.T) {
	t.Parallel()
	dirty := func(w *world) { w.stand.Modified = []string{"a.go"} }
	rows := []struct {
		name  string
		git   string
		set   func(w *world)
		found []string // nothing where it holds
		want  string
		moved bool
		again bool // a verdict on what is there now would do too
		files int  // so many new or changed files alone refuse it; 0 where that is not asked
	}{
		{name: "committed", git: workflow.GitCommitted},
		{name: "a new file", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.New = []string{"new.go"}
		}, found: []string{`new files that no commit has: "new.go"`}, want: `git add "new.go"`},
		{name: "many new files", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.New = strings.Split("abcdefghijkl", "")
		}, found: []string{`"j" and 2 more`}, want: "delete them"},
		{name: "new files since the hand-off", git: workflow.GitUnmoved, set: func(w *world) {
			w.stand.New = []string{"new.go"}
		}},
		{name: "not committed", git: workflow.GitCommitted, set: dirty, found: []string{
			`uncommitted changes in "a.go"`}, want: `git restore "a.go"`},
		{name: "a submodule", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.Submodules = []string{"lib"}
		}, found: []string{`"lib"`}, want: `git submodule update --force "lib"`},
		{name: "both", git: workflow.GitCommitted, set: func(w *world) {
			dirty(w)
			w.stand.Submodules = []string{"lib"}
		}, found: []string{`"a.go", "lib"`},
			want: `commit them, or take them back: git restore "a.go"; git submodule update --force "lib"`},
		{name: "several files", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.Modified = []string{"-a.go", "b c.go", "d$x.go"}
		},
			found: []string{`"-a.go", "b c.go", "d$x.go"`}, want: `git restore "./-a.go" "b c.go" 'd$x.go'`},
		{name: "many files", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.Modified = strings.Fields("a b c d e f g")
		},
			found: []string{"and 2 more"}, want: `git restore "a" "b" "c" "d" "e" and 2 more`},
		{name: "hidden", git: workflow.GitCommitted, set: func(w *world) {
			dirty(w)
			w.stand.Hidden = []worktree.Hidden{{Path: "a.go", Flags: []string{"skip-worktree"}}}
		}, found: []string{`overlooks "a.go" (skip-worktree)`},
			want: `git update-index --no-skip-worktree "a.go"`},
		{name: "hidden, and more than one", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.Modified = []string{"a.go", "b.go"}
			w.stand.Hidden = []worktree.Hidden{{Path: "a.go", Flags: []string{"skip-worktree"}},
				{Path: "b.go", Flags: []string{"skip-worktree"}}}
		}, found: []string{`overlooks "a.go", "b.go" (skip-worktree)`},
			want: `have git look again: git update-index --no-skip-worktree "a.go" "b.go"; commit them, or take them back: git restore "a.go" "b.go"`},
		{name: "hidden in a submodule", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.Submodules = []string{"lib"}
			w.stand.Hidden = []worktree.Hidden{{Path: "b.go", Submodule: "lib/deep", Flags: []string{"skip-worktree"}}}
		}, found: []string{`overlooks "b.go" in "lib/deep" (skip-worktree)`},
			want: `git -C "lib/deep" update-index --no-skip-worktree "b.go"; commit them, or take them back: git submodule update --force "lib"`},
		{name: "hidden from clean", git: workflow.GitClean, set: func(w *world) {
			dirty(w)
			w.stand.Hidden = []worktree.Hidden{{Path: "a.go", Flags: []string{"assume-unchanged"}}}
		}, found: []string{"assume-unchanged"}, want: `git update-index --no-assume-unchanged "a.go"`},
		{name: "a submodule is not clean", git: workflow.GitClean, set: func(w *world) {
			w.stand.Submodules = []string{"lib"}
		},
			found: []string{`uncommitted changes in "lib"`}, want: "commit"},
		{name: "settings", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.Setup = []string{"core.hookspath"}
		},
			found: []string{"settings", "core.hookspath"}, want: "git config --worktree --unset"},
		{name: "settings, asked for a clean one", git: workflow.GitClean, set: func(w *world) {
			w.stand.Setup = []string{"sparse-checkout"}
		},
			found: []string{"sparse-checkout"}, want: "git sparse-checkout disable"},
		{name: "a renamed branch is followed", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.Branch, w.tip.Branch = "better", "better"
		}},
		{name: "another branch is not", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.Branch = "other"
		}, found: []string{`on branch "other"`}, want: "switch"},
		{name: "the branch is gone", git: workflow.GitCommitted, set: func(w *world) {
			w.stand.Head = ""
		}, found: []string{`on branch "work", which has no commit`}, want: "made again where it was"},

		{name: "unmoved", git: workflow.GitUnmoved},
		{name: "moved on", git: workflow.GitUnmoved, set: func(w *world) { w.task.Subject.Commit, w.more = earlier, 3 },
			found: []string{"reviewed 2222222, now 1111111, 3 commits since"}, want: "reviewed", moved: true},
		{name: "rewritten", git: workflow.GitUnmoved, set: func(w *world) {
			w.task.Subject.Commit, w.more, w.fewer = earlier, 1, 2
		},
			found: []string{"with 1 commit that it had not and without 2 commits that it had"}, want: "reviewed",
			moved: true},
		{name: "handed in by somebody", git: workflow.GitUnmoved, set: func(w *world) {
			w.task.Subject.Commit, w.task.Subject.By = earlier, "Ada"
		},
			found: []string{"handed in by Ada and not reviewed 2222222"}, want: "reviewed", moved: true},
		{name: "not moved and dirty", git: workflow.GitUnmoved, set: dirty, found: []string{
			`uncommitted changes in "a.go"`},
			want: `take them back: git restore "a.go"; or have them committed, and that commit reviewed`},
		{name: "moved and dirty", git: workflow.GitUnmoved, set: func(w *world) {
			dirty(w)
			w.task.Subject.Commit = earlier
		},
			found: []string{"now 1111111", `uncommitted changes in "a.go"`},
			want:  `take them back, or have them committed: git restore "a.go"; then have the present commit reviewed`, again: true},
		{name: "of before", git: workflow.GitUnmoved, set: func(w *world) {
			w.task.Subject = task.Subject{}
		}, found: []string{"the record does not say which commit"}, want: "again", again: true},
		{name: "unreadable then", git: workflow.GitUnmoved, set: func(w *world) {
			w.task.Subject = task.Subject{Trouble: "a broken ref"}
		},
			found: []string{"the record does not say", "a broken ref"}, want: "again", again: true},
		{name: "unreadable now", git: workflow.GitUnmoved, set: func(w *world) {
			w.tip = task.Subject{Trouble: "there is no branch"}
		}, found: []string{"there is no branch"}, want: "bring"},
		{name: "the worktree as it was judged", git: workflow.GitUnmoved, set: func(w *world) {
			dirty(w)
			w.task.Subject = task.Subject{Tree: tree}
		}},
		{name: "the worktree changed since", git: workflow.GitUnmoved, set: func(w *world) {
			w.task.Subject.Tree, w.since = tree, []string{"b.go"}
		},
			found: []string{`changed since it was judged: "b.go"`},
			want:  `put them back as they were: git restore --source 333333333333 "b.go"`, again: true, files: 1},
		{name: "the record does not say the worktree that is judged", git: workflow.GitUnmoved, set: func(w *world) {
			w.task.Status = "judge"
			w.def.States = []workflow.State{{Name: "judge", Subject: workflow.SubjectWorktree}}
		}, found: []string{"the record does not say what lay in the worktree"}, want: "again", again: true},

		{name: "not moved", git: workflow.GitMoved, set: dirty, found: []string{"where it was, at 1111111"},
			want: "other commits"},
		{name: "moved", git: workflow.GitMoved, set: func(w *world) { w.task.Subject.Commit = earlier }},
		{name: "moved from nowhere", git: workflow.GitMoved, set: func(w *world) {
			w.task.Subject = task.Subject{}
		}, found: []string{"the record does not say"}, want: "again", again: true},
		{name: "moved to nowhere", git: workflow.GitMoved, set: func(w *world) {
			w.tip = task.Subject{Trouble: "no tip"}
		}, found: []string{"no tip"}, want: "bring"},

		{name: "as reviewed", git: workflow.GitAsReviewed, set: func(w *world) { w.task.Subject.Tree = tree }},
		{name: "otherwise than reviewed", git: workflow.GitAsReviewed, set: func(w *world) {
			w.task.Subject.Tree, w.since = tree, []string{"b.go"}
		},
			found: []string{"1111111 is not what was judged", `"b.go"`}, want: "nothing else", again: true},
		{name: "otherwise than put up", git: workflow.GitAsReviewed, set: func(w *world) {
			w.task.Subject.Tree, w.task.Subject.By, w.since = tree, "Ann", []string{"b.go"}
		},
			found: []string{"1111111 is not what lay in the worktree when it was handed in by Ann and not reviewed",
				`"b.go"`}, want: "nothing else", again: true},
		{name: "reviewed by nobody", git: workflow.GitAsReviewed, found: []string{
			"the record does not say what lay in the worktree"}, want: "again", again: true},

		{name: "untouched", git: workflow.GitUntouched, set: func(w *world) {
			w.changed, w.stand.New = []string{"a.go"}, []string{"b.go"}
		}},
		{name: "touched by a commit", git: workflow.GitUntouched, set: func(w *world) {
			w.changed = []string{"test.sh"}
		}, found: []string{`"test.sh"`}, want: "back"},
		{name: "touched in the worktree", git: workflow.GitUntouched, set: func(w *world) {
			w.stand.New = []string{"test.sh"}
		}, found: []string{`"test.sh"`}, want: "back"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.tip, w.task.Subject = task.Subject{Commit: head}, task.Subject{Commit: head}
			if row.set != nil {
				row.set(w)
			}
			fact := w.fact(workflow.Part{Git: row.git, Untouched: []string{"test.sh"}})
			if len(row.found) == 0 {
				wantFact(t, fact, "", "")
			}
			for _, words := range row.found {
				wantFact(t, fact, words, "")
			}
			if !strings.Contains(fact.Want, row.want) {
				t.Errorf("it wants %q, and should say %q", fact.Want, row.want)
			}
			if row.files > 0 && fact.Files != row.files {
				t.Errorf("so many files alone refuse it: %d, want %d", fact.Files, row.files)
			}
			if fact.Moved != row.moved || fact.Anew != (row.again || row.moved) {
				t.Errorf("moved alone: %t; to be judged again: %t", fact.Moved, fact.Anew)
			}
			judged := row.git == workflow.GitUnmoved || row.git == workflow.GitAsReviewed || row.again
			if other := judged && fact.Found != "" && w.tip.Trouble == ""; fact.Other != other {
				t.Errorf("it is not what was judged: %t", fact.Other)
			}
		})
	}
}

func TestLook_runsAScratchCheckOnTheCommitAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check(":")
	w.def.Checks[0].Scratch = true
	w.stand.Modified, w.stand.New, w.stand.Setup = []string{"a.go"}, []string{"b.go"}, []string{"core.hookspath"}
	wantFact(t, w.fact(passed), "", "")
	if len(w.inside) != 1 || w.inside[0] != head {
		t.Errorf("it ran on %q", w.inside)
	}
	w.set(func() { w.stand.New = []string{"c.go"} })
	wantFact(t, w.fact(passed), "", "")
	wantRan(t, w, 1)
	w.def.Checks[0].Scratch = false
	wantFact(t, w.fact(passed), "uncommitted changes", "")
	w.set(func() { w.stand.Modified, w.stand.New, w.stand.Setup = nil, nil, nil })
	wantFact(t, w.fact(passed), "", "") // one that ran elsewhere says nothing of the worktree
	wantRan(t, w, 2)
}

func TestLook_runsNoCheckUnderForeignGitSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check(":")
	w.set(func() { w.stand.Setup = []string{"core.hookspath"} })
	wantFact(t, w.fact(passed), "core.hookspath", "the workspace")
	wantRan(t, w, 0)
}

func TestCompare_saysHowTheBranchDiffersFromWhatWasJudged(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{
		Transitions: []workflow.Transition{
			{From: "look", To: "done", Gate: []workflow.Part{{Git: workflow.GitUnmoved}}}, {From: "work", To: "look"}}}
	noted := task.Subject{Commit: "1111111aaaa"}
	reviewed, put := noted, noted
	reviewed.Reviewed, put.By = true, "Ada"
	moved := task.Subject{Commit: "2222222bbbb"}
	for name, c := range map[string]struct {
		status      task.Status
		noted, tip  task.Subject
		more, fewer int
		want        string
	}{
		"nobody asks": {status: "work", noted: reviewed, tip: moved},
		"as it was reviewed": {status: "look", noted: reviewed, tip: noted,
			want: "reviewed 1111111, and nothing since"},
		"moved since the review": {status: "look", noted: reviewed, tip: moved, more: 3,
			want: "reviewed 1111111, now 2222222, 3 commits since"},
		"other commits": {status: "look", noted: reviewed, tip: moved, more: 1, fewer: 2,
			want: "reviewed 1111111, now 2222222, with 1 commit that it had not and without 2 commits that it had"},
		"handed in by a person": {status: "look", noted: put, tip: moved, more: 1,
			want: "handed in by Ada and not reviewed 1111111, now 2222222, 1 commit since"},
		"under review": {status: "look", noted: noted, tip: moved, more: 1,
			want: "handed in at 1111111, now 2222222, 1 commit since"},
		"the branch is gone": {status: "look", noted: reviewed, tip: task.Subject{
			Trouble: "there is no such branch"}, want: "reviewed 1111111; now there is no such branch"},
		"the record does not say it": {
			status: "look", tip: moved, want: "the record does not say which commit it is about"},
		"nobody could": {status: "look", noted: task.Subject{Trouble: "no such branch"}, tip: moved,
			want: "the record does not say which commit it is about: no such branch"},
	} {
		w := newWorld(t)
		w.tip, w.more, w.fewer = c.tip, c.more, c.fewer
		if got := w.looker.Compare(t.Context(), def, task.Task{Status: c.status, Subject: c.noted}); got != c.want {
			t.Errorf("%s: it says %q, want %q", name, got, c.want)
		}
	}
}

// Files that no commit has are on no branch: a merge leaves them behind, and says so before it is made.
func TestCompare_namesWhatNoCommitHas(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{Transitions: []workflow.Transition{{From: "look", To: "done",
		Gate: []workflow.Part{{Git: workflow.GitUnmoved}}}}}
	noted := task.Subject{Commit: "1111111aaaa", Reviewed: true}
	for want, loose := range map[string][]string{
		"and nothing since": nil,
		`and no commit since; 1 file is not committed and stays behind: "a"`:       {"a"},
		`and no commit since; 2 files are not committed and stay behind: "a", "b"`: {"a", "b"},
	} {
		w := newWorld(t)
		w.tip = task.Subject{Commit: noted.Commit}
		w.set(func() { w.stand.New = loose })
		if got := w.looker.Compare(t.Context(), def, task.Task{Status: "look", Subject: noted,
			Workspace: "coffee--1"}); got != "reviewed 1111111, "+want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
