package pool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"orange/internal/rules/gitconfig"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/shared"
)

// settings are those that the worktrees of a project share, as they were noted and as they are.
type settings struct {
	*places
	record Record
	files  Files
}

// sharedRecord is what Orange knows of the settings that a project's worktrees share.
type sharedRecord struct {
	Noted gitconfig.Settings `json:"noted"`          // when nothing but a person and Orange had changed them
	Now   gitconfig.Settings `json:"now"`            // as they were at the last look,
	Stamp string             `json:"stamp"`          // when their files lay so
	Seen  []gitconfig.Change `json:"seen,omitempty"` // what differed while a task had a worktree,
	Told  []gitconfig.Change `json:"told,omitempty"` // and what of it a person has read
	Path  string             `json:"path"`           // of the repository
	Known bool               `json:"-"`              // something was noted
}

// filesMoved reports whether the files lie in another way than the note says: until that is kept, each look reads them.
func (n sharedRecord) filesMoved(note []byte) bool {
	return n.Known && !bytes.Contains(note, []byte(n.Stamp))
}

func (n sharedRecord) differences() []gitconfig.Change {
	if !n.Known {
		return nil
	}
	return gitconfig.Differences(n.Noted, n.Now)
}

// sharedFile is the note of a project, and what is made for a merge that goes by it lies next to that.
func (s *settings) sharedFile(project, kind string) string {
	return filepath.Join(s.home, "workspaces", ".shared", project+kind)
}

const (
	sharedNote  = ".json"
	sharedHooks = ".hooks"
)

// lookAtShared is the note of a project with how its settings are now. text is the note as it lies there.
func (s *settings) lookAtShared(ctx context.Context, project task.Project) (n sharedRecord, text []byte, err error) {
	file := s.sharedFile(project.Name, sharedNote)
	text, err = proc.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil, nil // nothing was noted yet, and so nothing differs
	}
	if err == nil {
		if err = json.Unmarshal(text, &n); err != nil {
			err = fmt.Errorf("read %q, which has the shared settings of project %q: %w; remove it, and Orange notes "+
				"them again", file, project.Name, err)
		}
	}
	if err == nil && n.Path != project.Path {
		return sharedRecord{}, nil, nil // it is of another repository, which had the name before
	}
	if err == nil {
		n.Known = true
		n.Stamp, n.Now, err = shared.Common{Repo: repoOf(project)}.Look(ctx, n.Stamp, n.Now)
	}
	return n, text, err
}

// changeShared keeps what change makes of the note of a project, once there is one. It calls it with how the settings
// are now.
func (s *settings) changeShared(ctx context.Context, project task.Project, change func(n *sharedRecord) error) error {
	release, err := s.files.Lock(ctx, project.Name+".shared")
	if err != nil {
		return err
	}
	defer release()
	n, before, err := s.lookAtShared(ctx, project)
	if err == nil && !n.Known {
		n.Stamp, n.Now, err = shared.Common{Repo: repoOf(project)}.Look(ctx, "", gitconfig.Settings{})
	}
	if err == nil {
		err = change(&n)
	}
	if err != nil || !n.Known {
		return err
	}
	n.Path = project.Path
	after, err := json.Marshal(n)
	if err != nil || string(after) == string(before) {
		return err
	}
	file := s.sharedFile(project.Name, sharedNote)
	if err := os.MkdirAll(filepath.Dir(file), task.PrivateFolder); err != nil {
		return err
	}
	return proc.ReplaceFile(file, after)
}

// except are those of the changes that are not among others.
func except(changes, others []gitconfig.Change) []gitconfig.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c gitconfig.Change) bool {
		return slices.ContainsFunc(others, c.Equal)
	})
}

// asOwn does something that may change what a project's worktrees share: Orange has git ignore what is its own, and a
// set-up runs. What changes meanwhile counts as Orange's, unless another task has a worktree: its agent may have
// changed it. Which files git ignores, agents seldom change and Orange often does. begins says that a task gets its
// worktree by it: what changed while none had one, a person has changed.
func (s *settings) asOwn(ctx context.Context, t task.Task, begins bool, do func(project task.Project) error) error {
	project, err := s.setup.Project(t.Project)
	if err != nil {
		return err
	}
	n, _, err := s.lookAtShared(ctx, project)
	if err != nil {
		return err
	}
	before := n.Now
	if begins && (!n.Known || len(n.differences()) > 0) {
		if before, err = s.noteShared(ctx, t, project); err != nil {
			return err
		}
	}
	failed := do(project) // it may have changed something all the same
	if !begins && !n.Known {
		return failed
	}
	ctx = context.WithoutCancel(ctx) // it is done
	n, _, err = s.lookAtShared(ctx, project)
	if err != nil || len(gitconfig.Differences(before, n.Now)) == 0 {
		return errors.Join(failed, err)
	}
	others, err := s.othersHold(ctx, t)
	if err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, s.changeShared(ctx, project, func(n *sharedRecord) error {
		own := slices.DeleteFunc(gitconfig.Differences(before, n.Now), func(c gitconfig.Change) bool {
			return others && c.Key != shared.SharedIgnores
		})
		n.Noted = n.Noted.With(n.Now, own)
		return nil
	}))
}

// noteShared notes the settings that a project's worktrees share, before a task gets one of its worktrees.
func (s *settings) noteShared(ctx context.Context, t task.Task, project task.Project) (now gitconfig.Settings,
	err error) {
	others, err := s.othersHold(ctx, t)
	if err != nil {
		return now, err
	}
	err = s.changeShared(ctx, project, func(n *sharedRecord) error {
		switch {
		case !n.Known:
			n.Noted, n.Known = n.Now, true
		case !others:
			n.Noted = n.Noted.With(n.Now, except(n.differences(), n.Seen))
		}
		n.Seen = n.differences()
		now = n.Now
		return nil
	})
	return now, err
}

// othersHold reports whether another task of the project has a worktree, with an agent that may have changed something.
func (s *settings) othersHold(ctx context.Context, t task.Task) (bool, error) {
	holders, err := s.record.Holders(ctx, t.Project)
	return slices.ContainsFunc(holders, func(h record.Holder) bool { return h.Task != t.ID }), err
}

// othersChanges are those that neither Orange nor a person made: while no task has a worktree, a person makes them.
func (s *settings) othersChanges(ctx context.Context, project task.Project, n sharedRecord) ([]gitconfig.Change,
	error) {
	changes := n.differences()
	if len(changes) == 0 {
		return nil, nil
	}
	holders, err := s.record.Holders(ctx, project.Name)
	if len(holders) > 0 || err != nil {
		return changes, err
	}
	return except(changes, except(changes, n.Seen)), nil
}

// seeShared notes what differs before a task gives its worktree back: no one else changes it for that task any more.
func (s *settings) seeShared(ctx context.Context, t task.Task) error {
	project, err := s.setup.Project(t.Project)
	if err != nil {
		return err
	}
	n, _, err := s.lookAtShared(ctx, project)
	if err != nil || len(except(n.differences(), n.Seen)) == 0 {
		return err
	}
	return s.changeShared(ctx, project, func(n *sharedRecord) error {
		n.Seen = n.differences()
		return nil
	})
}

// SharedChanges are the settings that a project's worktrees share and that neither Orange nor a person changed, as far
// as Orange knows.
func (s *settings) SharedChanges(ctx context.Context, project task.Project) (changes []gitconfig.Change, err error) {
	n, _, err := s.lookAtShared(ctx, project)
	if err == nil {
		changes, err = s.othersChanges(ctx, project, n)
	}
	if err != nil {
		return nil, fmt.Errorf("look at the settings that the worktrees of project %q share: %w", project.Name, err)
	}
	return changes, nil
}

// SharedWords are the shared settings of a project, or of all where it is empty, that have changed, each in words.
func (s *settings) SharedWords(ctx context.Context, project string) (words []string, err error) {
	projects, err := s.setup.Projects()
	for _, one := range projects {
		if project != "" && one.Name != project {
			continue
		}
		changes, trouble := s.SharedChanges(ctx, one)
		err = errors.Join(err, trouble)
		for _, c := range changes {
			words = append(words, fmt.Sprintf("project %s: %s", one.Name, c))
		}
	}
	return words, err
}

// SharedNews are those of them that this function has not answered before.
func (s *settings) SharedNews(ctx context.Context, t task.Task) (news []string, err error) {
	project, err := s.setup.Project(t.Project)
	if errors.Is(err, task.ErrNotFound) {
		return nil, nil // it is not registered any more
	}
	if err != nil {
		return nil, err
	}
	n, before, err := s.lookAtShared(ctx, project)
	if err != nil || len(n.differences())+len(n.Seen)+len(n.Told) == 0 && !n.filesMoved(before) {
		return nil, err
	}
	err = s.changeShared(ctx, project, func(n *sharedRecord) error {
		if len(n.differences()) == 0 {
			n.Seen, n.Told = nil, nil
			return nil
		}
		others, err := s.othersHold(ctx, t)
		if err != nil {
			return err
		}
		if others || t.Workspace != "" {
			n.Seen = n.differences()
		}
		for _, c := range except(n.Seen, n.Told) {
			news = append(news, c.String())
		}
		n.Told = n.Seen
		return nil
	})
	return news, err
}

// AcceptShared keeps what changed, or those of it that have the keys: it is what is noted from now on.
func (s *settings) AcceptShared(ctx context.Context, project task.Project, keys []string) (kept []gitconfig.Change,
	err error) {
	err = s.changeShared(ctx, project, func(n *sharedRecord) (err error) {
		if kept, err = withKeys(n.differences(), keys); err != nil {
			return err
		}
		n.Noted = n.Noted.With(n.Now, kept)
		n.Seen = n.differences()
		n.Told = n.Seen
		return nil
	})
	return kept, err
}

// withKeys are those of the changes that have the keys; all of them where no key is given.
func withKeys(all []gitconfig.Change, keys []string) (some []gitconfig.Change, err error) {
	var known []string
	for _, c := range all {
		known = append(known, c.Key)
		if len(keys) == 0 || slices.Contains(keys, c.Key) {
			some = append(some, c)
		}
	}
	for _, key := range keys {
		if !slices.Contains(known, key) {
			return nil, task.Notef(task.ErrNotFound, "nothing changed of %q; changed are: %s", key, known)
		}
	}
	return some, nil
}

// RestoreShared puts back what changed, or those of it that have the keys. Where nothing of a key changed, it says what
// did.
func (s *settings) RestoreShared(ctx context.Context, project task.Project, keys []string) (back []gitconfig.Change,
	err error) {
	err = s.changeShared(ctx, project, func(n *sharedRecord) error {
		some, err := withKeys(n.differences(), keys)
		if err != nil {
			return err
		}
		back = some
		repo := repoOf(project)
		err = shared.Common{Repo: repo}.PutBack(ctx, back, n.Noted)
		var unread error
		if n.Stamp, n.Now, unread = (shared.Common{Repo: repo}).Look(ctx, "", gitconfig.Settings{}); unread == nil {
			n.Seen = n.differences()
			n.Told = n.Seen
		}
		return errors.Join(err, unread)
	})
	return back, err
}

// asNoted is the repository of a project for what goes to others: Orange's git gets the settings that were noted. Where
// these cannot be had, it says what changed, and what to do.
func (s *settings) asNoted(ctx context.Context, project task.Project) (repo git.Repo, without []gitconfig.Change,
	err error) {
	repo = repoOf(project)
	n, _, err := s.lookAtShared(ctx, project)
	if err == nil {
		without, err = s.othersChanges(ctx, project, n)
	}
	if err != nil || len(without) == 0 {
		return repo, nil, err
	}
	repo, refused, err := shared.Common{Repo: repo}.AsNoted(ctx, without, n.Noted, s.sharedFile(project.Name,
		sharedHooks))
	if err == nil && len(refused) > 0 {
		err = changedMeanwhile(project.Name, refused)
	}
	return repo, without, err
}

// checkThenLook is the check of a merge, which runs what an agent wrote, and then refuses to go on where more has
// changed than what is known; nil where there is no check.
func (s *settings) checkThenLook(check func(context.Context, string) error, project task.Project,
	known []gitconfig.Change) func(context.Context, string) error {
	if check == nil {
		return nil
	}
	return func(ctx context.Context, commit string) error {
		if err := check(ctx, commit); err != nil {
			return err
		}
		changes, err := s.SharedChanges(ctx, project)
		if more := except(changes, known); err == nil && len(more) > 0 {
			return changedMeanwhile(project.Name, more)
		}
		return err
	}
}

// outward is asNoted for a task.
func (s *settings) outward(ctx context.Context, t task.Task) (git.Repo, error) {
	project, err := s.setup.Project(t.Project)
	if err != nil {
		return git.Repo{}, err
	}
	repo, _, err := s.asNoted(ctx, project)
	return repo, err
}

// changedMeanwhile refuses what would go by settings that a person has to look at first.
func changedMeanwhile(project string, changes []gitconfig.Change) *rejection.Rejection {
	no := &rejection.Rejection{Code: rejection.SharedChanged, Message: fmt.Sprintf("cannot go by the settings of the "+
		"repository of project %q: all its worktrees share them, and they have changed since they were noted", project)}
	for _, c := range changes {
		no.Details = append(no.Details, rejection.Detail{Condition: c.Key, Found: c.String(),
			Want: fmt.Sprintf("put it back with %q, or keep it with %q", "orange project restore --project "+project,
				"orange project accept --project "+project)})
	}
	return no
}

func inWords(changes []gitconfig.Change) string {
	text := ""
	for i, c := range changes {
		if i > 0 {
			text += "; "
		}
		text += c.String()
	}
	return text
}
