package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// slots are lent to tasks: made ready for one, shown to its agents, and given back.
type slots struct {
	*places
	settings  *settings
	setups    *setups
	branches  *branches
	documents *documents
	checkouts *checkouts
	losses    *losses
	record    Record
	log       *slog.Logger
	terminal  func(ctx context.Context) error
	patience  time.Duration
}

// fetchLimit is how long origin has to answer when a task starts.
const fetchLimit = time.Minute

// Prepare makes the worktree ready for the task, and answers what of an earlier one was found in it. What it changes of
// the settings that all worktrees share counts as Orange's own.
func (s *slots) Prepare(ctx context.Context, t task.Task) (worktree.Cleared, error) {
	slot, err := s.slot(t)
	if err != nil {
		return worktree.Cleared{}, err
	}
	var prepared worktree.Cleared
	err = s.settings.asOwn(ctx, t, true, func(project task.Project) (err error) {
		prepared, err = s.prepare(ctx, t, slot, project)
		return err
	})
	return s.report(t, prepared), err
}

func (s *slots) prepare(ctx context.Context, t task.Task, slot worktree.Slot, project task.Project) (worktree.Cleared,
	error) {
	// A base that is weeks old is worth a try to fetch; without a network the task starts from what is there, and one
	// that does not answer is not waited for without end.
	within, end := context.WithTimeoutCause(ctx, s.patience,
		fmt.Errorf("origin did not answer within %s", s.patience))
	repo, _, err := s.settings.asNoted(ctx, project)
	if err == nil {
		err = repo.Fetch(within)
	}
	end()
	var notes []string
	if err != nil && ctx.Err() == nil {
		s.log.Warn("origin could not be fetched; the task starts from what is known of it",
			"component", "worktree", "task", t.ID, "error", err.Error())
		notes = append(notes, "it begins from what is here: "+printable.Line(err.Error()))
	}
	if err := os.MkdirAll(filepath.Dir(slot.Dir), task.PrivateFolder); err != nil {
		return worktree.Cleared{}, fmt.Errorf("make the folder of workspaces: %w", err)
	}
	if slot.Noted, err = s.lastOnRecord(ctx, slot.Repo, t); err != nil {
		return worktree.Cleared{}, err
	}
	prepared, err := slot.Prepare(ctx, t.Branch, t.ID)
	stays := ""
	if err == nil {
		stays, err = slot.Restore(ctx, t.ID)
	}
	if err == nil {
		_, err = slot.Document().Link(ctx, s.documents.document(t))
	}
	if err == nil {
		err = s.setups.makeReady(ctx, t, slot, s.setups.environmentOf(t))
	}
	if err == nil {
		notes, err = s.noteHooks(ctx, project, slot, notes)
	}
	if err == nil {
		err = s.losses.noteOthers(ctx, t, slot.Repo)
	}
	prepared.Notes = append(prepared.Notes, notes...)
	if stays != "" { // it could not be laid out, and is not lost
		prepared.Rescued = append(prepared.Rescued, worktree.Rescue{Ref: stays})
	}
	return prepared, err
}

// noteHooks adds a note where no hook of git runs in a worktree that is ready, and hooks run in the person's checkout.
func (s *slots) noteHooks(ctx context.Context, project task.Project, slot worktree.Slot, notes []string) ([]string,
	error) {
	n, _, err := s.settings.lookAtShared(ctx, project)
	if err != nil {
		return notes, err
	}
	for _, hooksPath := range n.Now.Values["core.hookspath"] {
		lacks, err := slot.LacksHooks(ctx, hooksPath)
		if err != nil {
			return notes, err
		}
		if lacks {
			notes = append(notes, fmt.Sprintf("no hook of git runs in its worktree: they are in %q, which no commit "+
				"has; have them brought along: %s", hooksPath, bringHooks(project, hooksPath)))
		}
	}
	return notes, nil
}

// report is what was found in a workspace, as far as it concerns a person. Commits that are on a branch are kept too,
// for the day on which the branch is deleted; that is no rescue. What was taken back is in the log too: a step after it
// may fail, and another try has nothing to take back any more.
func (s *slots) report(t task.Task, found worktree.Cleared) worktree.Cleared {
	found.Rescued = slices.DeleteFunc(found.Rescued, func(r worktree.Rescue) bool { return r.Held })
	for _, what := range found.TakenBack {
		s.log.Warn("what was changed in a worktree's own git configuration was taken back",
			"component", "worktree", "task", t.ID, "workspace", t.Workspace, "what", what)
	}
	for _, one := range found.Aside {
		s.log.Warn("what no commit can hold was set aside", "component", "worktree", "task", one.Task, "workspace",
			t.Workspace, "what", one.String(), "at", one.At)
	}
	return found
}

// View is the workspace as an agent sees it.
func (s *slots) View(ctx context.Context, t task.Task) (worktree.View, error) {
	slot, err := s.slot(t)
	if err != nil {
		return worktree.View{}, err
	}
	base, err := slot.Repo.Base(ctx)
	if err != nil {
		return worktree.View{}, err
	}
	// An agent is started in a worktree, on its branch, or not at all.
	if missing, err := s.branches.Missing(ctx, t); err != nil {
		return worktree.View{}, err
	} else if missing != "" {
		return worktree.View{}, goneError(t, missing)
	}
	file, err := s.documents.link(ctx, t, slot)
	if err != nil {
		return worktree.View{}, err
	}
	own, shared, err := slot.GitDirs(ctx)
	if err != nil {
		return worktree.View{}, err
	}
	start, env, err := s.setups.Place(ctx, t)
	if err == nil {
		file, err = filepath.Rel(start, filepath.Join(slot.Dir, file))
	}
	return worktree.View{Dir: slot.Dir, Start: start, Env: env, GitDir: shared, OwnGitDir: own, Base: base.Ref,
		TaskFile: file}, err
}

// Equip writes the files that a harness wants into the worktree.
func (s *slots) Equip(ctx context.Context, t task.Task, files []harness.File, exclude []string) error {
	slot, err := s.slot(t)
	if err != nil {
		return err
	}
	if len(exclude) > 0 {
		err := s.settings.asOwn(ctx, t, false, func(task.Project) error { return slot.Exclude(ctx, exclude...) })
		if err != nil {
			return err
		}
	}
	for _, f := range files {
		path := filepath.Join(slot.Dir, filepath.FromSlash(f.Path))
		if err := writeNew(ctx, path, f.Content); err != nil {
			return fmt.Errorf("write %q for the harness: %w", f.Path, err)
		}
	}
	return nil
}

// writeNew writes a file that is not there; what the repository or the agent put there stays.
func writeNew(ctx context.Context, path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), proc.Masked(ctx, 0o755)); err != nil {
		return err
	}
	file, err := proc.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, proc.Masked(ctx, 0o644))
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	return errors.Join(err, file.Close())
}

// Release gives the worktree back, and answers what was found in it.
func (s *slots) Release(ctx context.Context, t task.Task) (worktree.Cleared, error) {
	slot, err := s.slot(t)
	if err != nil {
		return worktree.Cleared{}, err
	}
	if slot.Noted, err = s.lastOnRecord(ctx, slot.Repo, t); err != nil {
		return worktree.Cleared{}, err
	}
	if err := s.settings.seeShared(ctx, t); err != nil {
		return worktree.Cleared{}, err
	}
	done, err := slot.Release(ctx, t.ID)
	if err == nil {
		err = letGo(slot)
	}
	if err == nil {
		err = s.losses.forgetOthers(t.ID)
	}
	if err == nil {
		err = s.checkouts.unscratchAll(ctx, slot.Repo, t)
	}
	if err == nil && !t.Live {
		var kept []worktree.Rescue
		kept, err = s.forgetJudged(ctx, slot.Repo, t)
		done.Rescued = append(done.Rescued, kept...)
	}
	return s.report(t, done), err
}

// lastOnRecord is the last commit of a task's branch that its history tells of since a person had it begin again last,
// where the branch has none any more.
func (s *slots) lastOnRecord(ctx context.Context, repo git.Repo, t task.Task) (string, error) {
	if (worktree.Worktrees{Repo: repo}).ReadTip(ctx, s.Dir(t.Workspace), t.Branch).Trouble == "" {
		return "", nil
	}
	events, err := s.record.Events(ctx, t.ID, 0)
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(events) {
		if _, again := e.Data[history.DataRedo]; e.Subject.Commit != "" || again {
			return e.Subject.Commit, nil
		}
	}
	return "", nil
}

// forgetJudged lets go of what was judged of a task that is over: nothing asks for it any more.
func (s *slots) forgetJudged(ctx context.Context, repo git.Repo, t task.Task) ([]worktree.Rescue, error) {
	def, err := s.setup.Pinned(ctx, t.Workflow)
	if err != nil {
		return nil, err
	}
	return worktree.Judged{Repo: repo}.Forget(ctx, t.ID, t.Branch, decide.Marks(def, t.Status).Well)
}

// leastSpace is how many bytes have to be free so that a task starts. No one knows beforehand what its files take; with
// less, not even the record can be written. The doctor warns much earlier.
const leastSpace = 1 << 20

// Ready asks what a task needs before it can start in its project, all of it, and changes nothing. It leaves out what
// its branch and its agents need. Origin is asked by the start itself, which goes on without an answer.
func (s *slots) Ready(ctx context.Context, t task.Task) ([]rejection.Readiness, error) {
	project, err := s.setup.Project(t.Project)
	if err != nil {
		return nil, err
	}
	all, err := s.Usable(ctx, project, t.Branch)
	if err != nil {
		return nil, err
	}
	free, err := proc.Space(s.home)
	if err != nil {
		return nil, err
	}
	disk := rejection.Readiness{What: "disk", Found: fmt.Sprintf("%d MB are free", free>>20)}
	if free < leastSpace {
		disk.Want = "make room: a worktree needs it, and so does the record"
	}
	holders, err := s.record.Holders(ctx, project.Name)
	if err != nil {
		return nil, err
	}
	slots := rejection.Readiness{What: "worktrees", Found: fmt.Sprintf("%d of %d are free",
		max(0, project.PoolSize-len(holders)), project.PoolSize)}
	if len(holders) >= project.PoolSize {
		slots.Found += ": it waits in line"
	}
	all = append(all, disk, slots)
	if s.terminal != nil {
		terminal := rejection.Readiness{What: "terminal", Found: "tmux can start"}
		if err := s.terminal(ctx); err != nil {
			terminal.Found, terminal.Want = err.Error(), "mend that: no agent can start without it"
		}
		all = append(all, terminal)
	}
	return all, nil
}

// Usable is what each task of a project needs of its repository: its base, whether commits can be signed, where they
// are, whether hooks of git run at them, and whether a worktree of the branch, or of the base where there is none,
// could be made ready. It asks nothing of the record.
func (s *slots) Usable(ctx context.Context, project task.Project, branch string) ([]rejection.Readiness, error) {
	repo := repoOf(project)
	does, err := worktree.Needs{Repo: repo}.Committing(ctx)
	if err != nil {
		return nil, err
	}
	commits := rejection.Readiness{What: "commits", Found: "not signed", Want: does.Trouble}
	if does.How != "" {
		commits.Found = "signed " + does.How
	}
	if !project.Worktree.Brings(does.HooksPath) {
		hidden, err := worktree.Main{Repo: repo}.HiddenHooks(ctx, does.HooksPath)
		if err != nil {
			return nil, err
		}
		if hidden {
			commits.Note = fmt.Sprintf("git runs the hooks in %q, and no commit has that folder: none runs in a "+
				"worktree, unless the set-up makes them; have them brought along: %s", does.HooksPath,
				bringHooks(project, does.HooksPath))
		}
	}
	base, err := repo.Base(ctx)
	if err != nil {
		return []rejection.Readiness{{What: "base", Found: err.Error(),
			Want: "mend that, or say where work is merged: orange project update --default-branch NAME"}, commits}, nil
	}
	all := []rejection.Readiness{{What: "base", Found: fmt.Sprintf("%s at %.12s", base.Ref, base.Commit)}, commits}
	folder := project.Worktree.Subdir
	if project.Worktree.Brings(folder) {
		folder = ""
	}
	if tip := (worktree.Worktrees{Repo: repo}).ReadTip(ctx, "", branch); tip.Commit != "" {
		base = git.Base{Ref: branch, Commit: tip.Commit}
	}
	misfits, err := worktree.Needs{Repo: repo}.Misfits(ctx, base, folder, does.Missing)
	if err != nil {
		return nil, err
	}
	for _, one := range misfits {
		files := rejection.Readiness{What: "files", Found: one.Found, Want: one.Want}
		if one.Maybe {
			files = rejection.Readiness{What: "files", Found: "a filter is missing", Note: one.Found + "; " + one.Want}
		}
		all = append(all, files)
	}
	return all, nil
}

// bringHooks is the command that has a folder of hooks brought into a project's worktrees.
func bringHooks(project task.Project, hooksPath string) string {
	return fmt.Sprintf("orange project update %q --copy %q", project.Name, "/"+path.Clean(hooksPath))
}

// HasIdentity reports whether git knows, in a folder and with these variables, whose commits are made there.
func (s *slots) HasIdentity(ctx context.Context, dir string, env []string) (bool, error) {
	return worktree.HasIdentity(ctx, dir, env)
}
