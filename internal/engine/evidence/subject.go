package evidence

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/printable"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/work/worktree"
)

// seeSubject looks at a part that asks about the work that the task's evidence is about, and not only about the
// worktree.
func (v *view) seeSubject(ctx context.Context, fact *decide.Fact, p workflow.Part) error {
	tip := v.theTip(ctx)
	if p.Git == workflow.GitMoved || p.Git == workflow.GitAsReviewed {
		if tip.Trouble != "" {
			unreadable(fact, tip)
			return nil
		}
		fact.Where = fmt.Sprintf("branch %s at %.12s", v.branchOf(tip), tip.Commit)
		if p.Git == workflow.GitMoved {
			v.seeMoved(fact, tip)
			return nil
		}
		return v.seeAsReviewed(ctx, fact, tip)
	}
	s, found, want, err := v.workspaceOn(ctx, v.branchOf(tip))
	if err != nil || found != "" {
		fact.Found, fact.Want = found, want
		return err
	}
	fact.Where = fmt.Sprintf("branch %s at %.12s", s.Branch, s.Head)
	switch p.Git {
	case workflow.GitCommitted:
		fact.Text = "HEAD " + s.Head + "\ncommitted\n"
		v.seeCommitted(fact, s, s.New)
	case workflow.GitUntouched:
		return v.seeUntouched(ctx, fact, s, p.Untouched)
	case workflow.GitProtected:
		return v.seeProtected(ctx, fact, s, p)
	case workflow.GitUnmoved:
		return v.seeUnmoved(ctx, fact, s, tip)
	}
	return nil
}

// theTip is where the branch ended when this look first asked.
func (v *view) theTip(ctx context.Context) task.Subject {
	if v.tip == nil {
		tip := v.Git.Subject(ctx, v.task, false)
		v.tip = &tip
	}
	return *v.tip
}

// branchOf is the branch of the tip: the task's, or the name that it was given in the workspace.
func (v *view) branchOf(tip task.Subject) string {
	if tip.Branch != "" {
		return tip.Branch
	}
	return v.task.Branch
}

func unreadable(fact *decide.Fact, tip task.Subject) {
	fact.Text = ""
	fact.Found, fact.Want = tip.Trouble,
		"bring the task's branch back, or run orange task update --branch in the workspace"
}

// seeCommitted checks whether the commit has what lies in the worktree: no file that git knows differs, and fresh, the
// new ones that count, are none.
func (v *view) seeCommitted(fact *decide.Fact, s Workspace, fresh []string) {
	dirt := s.Tracked()
	if len(dirt)+len(s.Setup)+len(fresh)+len(s.Unpushed) == 0 {
		return
	}
	fact.Text = "HEAD " + s.Head + "\n" + strings.Join(slices.Concat(dirt, fresh, s.Setup, s.Unpushed), "\n") + "\n"
	if len(s.Setup)+len(s.Unpushed) == 0 { // else files are not all
		fact.Files = len(dirt) + len(fresh)
	}
	fact.Found, fact.Want = s.differs(dirt, "commit them, or take them back: "+s.takeBack())
	if len(fresh) > 0 {
		fact.Found = joinTexts(fact.Found, "new files that no commit has: "+names(fresh))
		fact.Want = joinTexts(fact.Want, "the new ones: commit them (git add "+typeable(fresh)+
			"), or have git ignore them "+
			"in a .gitignore that you commit, or delete them")
	}
	if len(s.Unpushed) > 0 {
		fact.Found = joinTexts(fact.Found, "submodules at commits that their remotes do not have: "+names(s.Unpushed))
		fact.Want = joinTexts(fact.Want, "push those there, so that others can check out what is merged: git -C "+
			typeable(s.Unpushed[:1])+" push")
	}
}

func joinTexts(first, second string) string {
	if first == "" {
		return second
	}
	return first + "; " + second
}

// names names the first ten of many files.
func names(files []string) string { return printable.Names(files, mostNew) }

const mostNew = 10

// seeUndisturbed checks whether a worktree is still at the commit that is judged in it: a commit of what differs
// would be another one.
func (v *view) seeUndisturbed(fact *decide.Fact, s Workspace) {
	s.Unpushed = nil // the hand-off asked for that
	if v.seeCommitted(fact, s, nil); fact.Found != "" {
		fact.Other = true
		_, fact.Want = s.differs(s.Tracked(), "take them back: "+s.takeBack()+
			"; or have them committed, and that commit reviewed")
	}
}

func (v *view) seeUnmoved(ctx context.Context, fact *decide.Fact, s Workspace, tip task.Subject) error {
	noted := v.task.Subject
	if noted.Tree != "" {
		return v.seeUnchanged(ctx, fact, s)
	}
	if v.whole { // the same commit says nothing of new files
		failUnnoted(fact, noted, "what lay in the worktree when its judge began")
		return nil
	}
	fact.Text = "HEAD " + s.Head + "\nunmoved\n"
	switch {
	case tip.Trouble != "":
		unreadable(fact, tip)
		return nil
	case noted.Commit == "":
		failUnnoted(fact, noted, "which commit the work was handed in at")
		return nil
	case tip.Commit == noted.Commit:
		v.seeUndisturbed(fact, s)
		if len(s.New) > 0 { // a judge's own run of the tests may leave some; they are no part of what is merged
			fact.Text += "new since: " + names(s.New) + "\n"
		}
		return nil
	}
	fact.Text = "HEAD " + s.Head + "\nsubject " + noted.Commit + "\n"
	fact.Other, fact.Anew = true, true
	judged := noted // the role that is refused has judged it
	judged.Reviewed = noted.By == ""
	fact.Found = v.since(ctx, judged.Words(), tip.Commit)
	fact.Want = "have the present commit reviewed, or go back to the one that was"
	if dirt := s.Tracked(); len(dirt)+len(s.Setup) > 0 {
		found, want := s.differs(dirt, "take them back, or have them committed: "+s.takeBack())
		fact.Found, fact.Want = fact.Found+"; and "+found, want+"; then "+fact.Want
		return nil
	}
	fact.Moved = true
	return nil
}

// Compare says in a line how the task's branch relates to the commit that the evidence in its status is about, and what
// in the worktree no commit has. It is empty where no way out of the status asks for that.
func (l *Looker) Compare(ctx context.Context, def *workflow.Definition, t task.Task) string {
	asked := slices.ContainsFunc(def.Transitions, func(e workflow.Transition) bool {
		return e.From == t.Status && (workflow.Asks(e.Gate, workflow.GitUnmoved) ||
			workflow.Asks(e.Gate, workflow.GitMoved) || workflow.Asks(e.Gate, workflow.GitAsReviewed))
	})
	if !asked {
		return ""
	}
	v := view{Looker: l, task: t}
	tip, noted, loose := v.theTip(ctx), t.Subject, l.loose(ctx, t)
	switch {
	case noted.Commit == "":
		text := "the record does not say which commit it is about"
		if noted.Trouble != "" {
			text += ": " + noted.Trouble
		}
		return text + loose
	case tip.Trouble != "":
		return noted.Words() + "; now " + tip.Trouble
	case tip.Commit != noted.Commit:
		return v.since(ctx, noted.Words(), tip.Commit) + loose
	case loose != "":
		return noted.Words() + ", and no commit since" + loose
	}
	return noted.Words() + ", and nothing since"
}

// loose says which files of a task's worktree no commit has: a merge leaves them behind. It is empty where there are
// none, and where there is no worktree.
func (l *Looker) loose(ctx context.Context, t task.Task) string {
	if t.Workspace == "" {
		return ""
	}
	s, err := l.workspace(ctx, t)
	if err != nil {
		return "; its worktree cannot be read: " + err.Error()
	}
	switch files := s.Uncommitted(); len(files) {
	case 0:
		return ""
	case 1:
		return "; 1 file is not committed and stays behind: " + names(files)
	default:
		return fmt.Sprintf("; %d files are not committed and stay behind: %s", len(files), names(files))
	}
}

// since says what lies between the commit that evidence is about, which noted tells about, and the present one.
func (v *view) since(ctx context.Context, noted, now string) string {
	text := fmt.Sprintf("%s, now %.7s", noted, now)
	more, fewer, err := v.Git.Between(ctx, v.task, v.task.Subject.Commit, now)
	switch {
	case err != nil: // the earlier commit may be gone: that it is another one is what counts
		return text
	case fewer > 0:
		return fmt.Sprintf("%s, with %s that it had not and without %s that it had", text, commits(more),
			commits(fewer))
	}
	return text + ", " + commits(more) + " since"
}

func commits(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return fmt.Sprintf("%d commits", n)
}

// failUnnoted is the answer where the task does not say what its evidence is about: it is from before that was noted,
// or it could not be read then.
func failUnnoted(fact *decide.Fact, noted task.Subject, what string) {
	fact.Text = ""
	fact.Found = "the record does not say " + what
	if noted.Trouble != "" {
		fact.Found += ": " + noted.Trouble
	}
	fact.Want = "have it reviewed again, which notes it"
	fact.Other, fact.Anew = true, true
}

// seeUnchanged compares the worktree with what lay in it when that was judged.
func (v *view) seeUnchanged(ctx context.Context, fact *decide.Fact, s Workspace) error {
	tree := v.task.Subject.Tree
	changed, err := v.Git.ChangedSince(ctx, v.task)
	fact.Where = "the workspace"
	fact.Text = "tree " + tree + "\n" + strings.Join(changed, "\n") + "\n"
	if len(changed)+len(s.Setup) > 0 {
		fact.Other, fact.Anew = true, true
		if len(s.Setup) == 0 { // else files are not all
			fact.Files = len(changed)
		}
		s.Submodules = nil
		fact.Found, fact.Want = s.differs(changed,
			fmt.Sprintf("put them back as they were: git restore --source %.12s %s", tree, typeable(changed)))
		fact.Found = strings.Replace(fact.Found, "uncommitted changes in", "changed since it was judged:", 1)
	}
	return err
}

func (v *view) seeMoved(fact *decide.Fact, tip task.Subject) {
	noted := v.task.Subject
	fact.Text = "tip " + tip.Commit + "\nsubject " + noted.Commit + "\n"
	switch noted.Commit {
	case "":
		failUnnoted(fact, noted, "which commit the work was handed in at")
	case tip.Commit:
		fact.Found = fmt.Sprintf("the branch is where it was, at %.7s", tip.Commit)
		fact.Want = "this move is for a branch that has other commits by now"
	}
}

func (v *view) seeAsReviewed(ctx context.Context, fact *decide.Fact, tip task.Subject) error {
	noted := v.task.Subject
	fact.Text = "tip " + tip.Commit + "\ntree " + noted.Tree + "\n"
	if noted.Tree == "" {
		failUnnoted(fact, noted, "what lay in the worktree when it was judged")
		return nil
	}
	other, err := v.Git.Differs(ctx, v.task, tip.Commit)
	if len(other) > 0 {
		fact.Text += strings.Join(other, "\n") + "\n"
		what := "what was judged"
		if noted.By != "" {
			what = "what lay in the worktree when it was handed in by " + noted.By + " and not reviewed"
		}
		fact.Found = fmt.Sprintf("the commit %.7s is not %s: %s", tip.Commit, what, some(other))
		fact.Want = "commit these files as they were then, and nothing else; or have the work judged again"
		fact.Other, fact.Anew = true, true
	}
	return err
}

func (v *view) seeUntouched(ctx context.Context, fact *decide.Fact, s Workspace, globs []string) error {
	changed, _, err := v.Git.Changed(ctx, v.task, s.Head)
	if err != nil {
		return err
	}
	changed = append(changed, s.Uncommitted()...)
	slices.Sort(changed)
	touched := worktree.MatchingFiles(globs, slices.Compact(changed))
	fact.Text = "HEAD " + s.Head + "\nuntouched " + strings.Join(globs, " ") + "\n" + strings.Join(touched, "\n") + "\n"
	if len(touched) > 0 {
		fact.Found = "changes of what the task must leave alone: " + some(touched)
		fact.Want = "take these changes back (git restore --source with the base), or ask a person"
	}
	return nil
}

// seeProtected checks that the task leaves alone what its project protects. New files count only where a pattern says
// so.
func (v *view) seeProtected(ctx context.Context, fact *decide.Fact, s Workspace, p workflow.Part) error {
	fact.Source = "protected files"
	changed, added, err := v.Git.Changed(ctx, v.task, s.Head)
	if err != nil {
		return err
	}
	changed = slices.Concat(changed, s.Uncommitted(), s.New)
	slices.Sort(changed)
	changed = slices.Compact(changed)
	fresh := slices.Concat(added, s.New)
	var all, new []string // patterns; those of new files are among all
	for _, pattern := range p.Untouched {
		pattern, also := strings.CutPrefix(pattern, "+")
		all = append(all, pattern)
		if also {
			new = append(new, pattern)
		}
	}
	also := worktree.MatchingFiles(new, fresh)
	allowed := worktree.MatchingFiles(p.Except, changed)
	touched := slices.DeleteFunc(worktree.MatchingFiles(all, changed), func(path string) bool {
		return slices.Contains(fresh, path) && !slices.Contains(also, path) || slices.Contains(allowed, path)
	})
	if touched, err = v.unlikeBase(ctx, s, touched); err != nil {
		return err
	}
	fact.Text = strings.Join(append([]string{"HEAD " + s.Head, "protected " + strings.Join(p.Untouched, " ")},
		touched...), "\n") + "\n"
	if len(touched) > 0 {
		fact.Files = len(touched)
		fact.Found = "changes of files that the project protects: " + names(touched)
		fact.Want = "take these changes back (git restore --source with the base), or have a person allow them: " +
			"orange task update " + v.task.ID + " --may-change " + typeable(touched[:1]) + " --reason REASON"
	}
	return nil
}

// unlikeBase leaves out the paths that the branch has as the base has them by now: a commit of the base was taken over.
func (v *view) unlikeBase(ctx context.Context, s Workspace, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	other, err := v.Git.OtherThanBase(ctx, v.task, s.Head, paths)
	dirt := slices.Concat(s.Uncommitted(), s.New)
	return slices.DeleteFunc(paths, func(path string) bool {
		return !slices.Contains(other, path) && !slices.Contains(dirt, path)
	}), err
}

// differs reports paths that differ, of what hides some of them, and of the worktree's own settings; and what to
// do about it.
func (s Workspace) differs(dirt []string, remedy string) (found, want string) {
	var is, do []string
	if len(s.Setup) > 0 {
		is = append(is, "settings of the worktree's own that it was not prepared with: "+strings.Join(s.Setup, ", "))
		do = append(do, "take them back (git config --worktree --unset NAME, git sparse-checkout disable)")
	}
	if len(dirt) > 0 {
		is = append(is, "uncommitted changes in "+some(dirt))
		overlooked, show := s.overlooked(dirt)
		is, do = append(is, overlooked...), append(append(do, show...), remedy)
	}
	return strings.Join(is, "; "), strings.Join(do, "; ")
}

// overlooked reports which of the paths git overlooks because of flags, and the commands with which it looks at them
// again: until then it takes none of them back.
func (s Workspace) overlooked(dirt []string) (is, show []string) {
	type index struct{ flag, submodule string }
	paths := map[index][]string{}
	var order []index
	for _, h := range s.Hidden {
		if !slices.ContainsFunc(dirt, func(at string) bool { return liesIn(h, at) }) {
			continue
		}
		for _, flag := range h.Flags {
			in := index{flag, h.Submodule}
			if paths[in] == nil {
				order = append(order, in)
			}
			paths[in] = append(paths[in], h.Path)
		}
	}
	for _, in := range order {
		where, inside := "", ""
		if in.submodule != "" {
			where, inside = fmt.Sprintf(" -C %q", in.submodule), fmt.Sprintf(" in %q", in.submodule)
		}
		is = append(is, "git overlooks "+some(paths[in])+inside+" ("+in.flag+")")
		show = append(show, fmt.Sprintf("have git look again: git%s update-index --no-%s %s", where, in.flag,
			typeable(paths[in])))
	}
	return is, show
}

// liesIn reports whether a path is that of the file, or of a submodule in which it lies.
func liesIn(h worktree.Hidden, at string) bool {
	return at == path.Join(h.Submodule, h.Path) || h.Submodule == at || strings.HasPrefix(h.Submodule, at+"/")
}

// takeBack is what takes back all that differs of what git knows, as it is typed in the worktree.
func (s Workspace) takeBack() string {
	var do []string
	if len(s.Modified) > 0 {
		do = append(do, "git restore "+typeable(s.Modified))
	}
	if len(s.Submodules) > 0 {
		do = append(do, "git submodule update --force "+typeable(s.Submodules))
	}
	return strings.Join(do, "; ")
}

// typeable are the first few of many paths as they are typed, and how many more there are.
func typeable(paths []string) string {
	return firstOf(paths, " ", func(p string) string {
		if strings.HasPrefix(p, "-") {
			p = "./" + p
		}
		if strings.ContainsAny(p, "\"$`\\!") { // a shell would read something else
			return "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
		}
		return `"` + p + `"`
	})
}
