// Package snapshots takes snapshots of tasks into a git repository, and brings tasks back from them.
//
// A snapshot is two refs: the task's folder with the text of its workflow, and the files of its worktree. The package
// owns what is in them, what stays out, and which snapshot was acknowledged last. It does not own how git makes, pushes
// and fetches them (worktree), nor how a task is taken over from its folder (engine).
package snapshots

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/ship"
	"orange/internal/work/worktree"
)

// Slots are the worktrees of tasks.
type Slots interface {
	Slot(t task.Task) (worktree.Slot, error)
}

// Files are the folders of tasks, and the locks next to them.
type Files interface {
	Dir(project, id string) string
	Lock(ctx context.Context, name string) (release func(), err error)
}

// Workflows are the texts of workflows, by their digests.
type Workflows interface {
	Workflow(ctx context.Context, digest string) ([]byte, error)
	SaveWorkflow(ctx context.Context, ref task.WorkflowRef, text []byte) error
}

// Adopter takes a task over from its folder.
type Adopter interface {
	Tell(ctx context.Context, project, id string, history []byte) (record.Adoption, error)
	Adopt(ctx context.Context, told []record.Adoption, progress func(done int)) []record.Adopted
}

// Keeper takes snapshots and restores them. Every field is required.
type Keeper struct {
	Home      string
	Slots     Slots
	Files     Files
	Workflows Workflows
	Sync      func(ctx context.Context, id string) error // makes the folder equal to the record
	Load      func(ctx context.Context, id string) (record.Snapshot, error)
	// Events are the events of a task on record behind a number.
	Events    func(ctx context.Context, id string, after int) ([]history.Event, error)
	FilesLock func(id string) string // the name of the lock of who writes a task's files
	Adopter   Adopter
}

// about is what a snapshot says of its task.
type about struct {
	Task     string           `json:"task"`
	Project  string           `json:"project"`
	Branch   string           `json:"branch"`
	Event    int              `json:"event"`
	Epoch    int              `json:"epoch"`
	Workflow task.WorkflowRef `json:"workflow"`
	// Claim is of the first snapshot after a restore alone, and no other one has it: two homes that restore the same
	// task in one second must not push the same commit.
	Claim string `json:"claim,omitempty"`
	// Work is the commit of the worktree, empty where there is none. A record that does not say so is not restored.
	Work *string `json:"work"`
}

const (
	aboutName    = "fleet.json"
	workflowName = "workflow.yml"
	historyName  = "history.jsonl" // in the task's folder
	biggestFile  = 50 << 20
)

// equals reports whether an earlier snapshot has the same of the task. One that cannot be read has not.
func (a about) equals(ctx context.Context, repo git.Repo, earlier string) bool {
	if earlier == "" {
		return false
	}
	text, err := ship.Snapshots{Repo: repo}.RecordText(ctx, earlier, aboutName)
	var b about
	if err != nil || json.Unmarshal(text, &b) != nil || b.Work == nil {
		return false
	}
	return a.Event == b.Event && a.Epoch == b.Epoch && a.Branch == b.Branch &&
		ship.Snapshots{Repo: repo}.SameWork(ctx, *a.Work, *b.Work)
}

// workOf is the commit of the files of a task's worktree, or of its branch where it has none.
func workOf(ctx context.Context, slot worktree.Slot, t task.Task, o record.SnapshotOrder) (
	taken record.TakenSnapshot, err error) {
	taken = record.TakenSnapshot{Event: t.Seq, Left: []string{}}
	if slot.Dir == "" {
		taken.Work, err = ship.Snapshots{Repo: slot.Repo}.BranchCommit(ctx, t.ID, t.Branch)
		return taken, err
	}
	var left []string
	taken.Work, left, err = slot.WorkCommit(ctx, t.ID, func(file string, size int64) bool {
		return keeps(o, file, size)
	})
	taken.Left = append(taken.Left, left...)
	return taken, err
}

// commit is a commit of a task's folder, with what is said of the task and the text of its workflow, behind earlier
// ones: the record before, and work that no other ref will have.
func (a about) commit(ctx context.Context, repo git.Repo, folder string, rules []byte, earlier ...string) (
	string, error) {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write about the snapshot: %w", err)
	}
	texts := map[string]string{aboutName: string(text) + "\n", workflowName: string(rules)}
	message := fmt.Sprintf("epoch %d, event %d\n", a.Epoch, a.Event)
	return ship.Snapshots{Repo: repo}.FolderCommit(ctx, folder, texts, message, earlier...)
}

// keeps reports whether a new file belongs to a snapshot.
func keeps(o record.SnapshotOrder, file string, size int64) bool {
	named := slices.ContainsFunc(o.Include, func(name string) bool { return filepath.Clean(name) == file })
	return named || size <= cmp.Or(o.Biggest, biggestFile) && !looksSecret(file)
}

// looksSecret reports whether a file's name is one that keys and passwords are kept under.
func looksSecret(file string) bool {
	name := strings.ToLower(filepath.Base(file))
	if slices.Contains([]string{".netrc", ".npmrc", ".pypirc", ".git-credentials", "credentials", "credentials.json",
		"secrets.json", "secrets.yml", "secrets.yaml", ".htpasswd"}, name) {
		return true
	}
	for _, end := range []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	if name == ".env.example" || name == ".env.sample" || name == ".env.template" {
		return false
	}
	return name == ".env" || strings.HasPrefix(name, ".env.") || strings.HasPrefix(name, "id_rsa") ||
		strings.HasPrefix(name, "id_ed25519") || strings.HasPrefix(name, "id_ecdsa")
}

// holding is what this home knows of the snapshots of a task: it is stored apart from every ref, because a push that
// fails may move refs.
type holding struct {
	Epoch        int               `json:"epoch"`
	Acknowledged map[string]string `json:"acknowledged"` // the record's commit, by the repository
	// Sent are the commits of snapshots that are on their way, or were when the program was ended, by the repository.
	Sent map[string]string `json:"sent,omitempty"`
}

// heldPath is the file by which a task is held for a fleet.
func heldPath(home, id string) string { return filepath.Join(home, "fleet", "held", id+".json") }

func (k Keeper) holdingOf(id string) (holding, error) { return heldIn(k.Home, id) }

func heldIn(home, id string) (holding, error) {
	h := holding{Epoch: 1, Acknowledged: map[string]string{}, Sent: map[string]string{}}
	err := proc.ReadJSON(heldPath(home, id), &h)
	if errors.Is(err, os.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("read which snapshots of task %s were acknowledged: %w; if %q is damaged, move it away "+
			"and snapshot to another repository", id, err, heldPath(home, id))
	}
	if h.Acknowledged == nil {
		h.Acknowledged = map[string]string{}
	}
	if h.Sent == nil {
		h.Sent = map[string]string{}
	}
	return h, nil
}

// hold notes what was acknowledged, in one step that outlives a power cut.
func (k Keeper) hold(id string, h holding) error {
	if err := proc.ReplaceJSON(heldPath(k.Home, id), h); err != nil {
		return fmt.Errorf("note the snapshot: %w", err)
	}
	return nil
}

// Forget removes the snapshots of a task that was deleted, from every repository that has one by this home.
func (k Keeper) Forget(ctx context.Context, t task.Task) error {
	release, err := k.Files.Lock(ctx, t.ID+".snapshot") // one that is on its way is there before
	if err != nil {
		return err
	}
	defer release()
	h, err := k.holdingOf(t.ID)
	if err != nil {
		return err
	}
	var all error
	for to, acknowledged := range h.Acknowledged { // each independently
		slot, err := k.Slots.Slot(task.Task{ID: t.ID, Project: t.Project})
		if err == nil {
			err = ship.Snapshots{Repo: slot.Repo}.Unship(ctx, to, t.ID, acknowledged)
		}
		all = errors.Join(all, err)
	}
	if all != nil {
		return all
	}
	if err := os.Remove(heldPath(k.Home, t.ID)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget the snapshots of task %s: %w", t.ID, err)
	}
	return nil
}
