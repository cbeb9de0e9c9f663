package pool

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// place is where a task of a workspace starts, and its ports.
func place(t *testing.T, p *Pool, s *setup, id string, slot int) (dir string, ports string) {
	t.Helper()
	one := task.Task{ID: id, Project: "garden", Workspace: fmt.Sprintf("garden--%d", slot)}
	if held := (record.Holder{Workspace: one.Workspace, Task: id}); !slices.Contains(s.holders, held) {
		s.holders = append(slices.DeleteFunc(s.holders, func(h record.Holder) bool {
			return h.Workspace == one.Workspace
		}), held)
	}
	dir, env, err := p.Place(t.Context(), one)
	must(t, err)
	for _, pair := range env {
		if all, is := strings.CutPrefix(pair, "ORANGE_PORTS="); is {
			ports = all
		}
	}
	if first, _, _ := strings.Cut(ports, " "); ports != "" && !slices.Contains(env, "ORANGE_PORT="+first) {
		t.Errorf("the first of %q is not ORANGE_PORT in %q", ports, env)
	}
	return dir, ports
}

func wantPorts(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: ports %q, want %q", what, got, want)
	}
}

func TestPorts_areATasksAloneAndStayTheSame(t *testing.T) {
	t.Parallel()
	p, s := newPool(t)
	_, none := place(t, p, s, "abc", 1)
	wantPorts(t, "none are wanted", none, "")
	s.project.Worktree.Ports = 2
	_, first := place(t, p, s, "abc", 1)
	wantPorts(t, "the first task", first, "20000 20001")
	_, second := place(t, p, s, "def", 2)
	wantPorts(t, "the second", second, "20002 20003")
	s.project.Worktree.Ports = 3
	_, again := place(t, p, s, "abc", 1)
	wantPorts(t, "the first, after the project asked for more", again, first)
	s.project.Worktree.Ports = 0
	_, again = place(t, p, s, "def", 2)
	wantPorts(t, "the second, after it asked for none", again, second)
	s.project.Worktree.Ports = 3
	_, next := place(t, p, s, "ghi", 1) // abc has given its workspace back
	wantPorts(t, "the next task of the workspace", next, "20004 20005 20006")
	_, last := place(t, p, s, "jkl", 3)
	wantPorts(t, "one where there is room again", last, "20007 20008 20009")
}

func TestPorts_thatAreAllTaken_areRefused(t *testing.T) {
	t.Parallel()
	all := map[string]block{"a": {Task: "a", First: firstPort, Count: lastPort - firstPort}}
	if got, err := gap(all, 1); got != lastPort || err != nil {
		t.Errorf("the last one: %d, %v", got, err)
	}
	if _, err := gap(all, 2); err == nil || !strings.Contains(err.Error(), "--ports") {
		t.Errorf("two: %v", err)
	}
}

func TestPrograms_startInTheFolderThatTheProjectNames(t *testing.T) {
	t.Parallel()
	p, s := newPool(t)
	web := filepath.Join(s.project.Path, "packages", "web")
	must(t, os.MkdirAll(web, 0o700))
	must(t, os.WriteFile(filepath.Join(web, "index"), []byte("x\n"), 0o600))
	gitIn(t, s.project.Path, "add", ".")
	gitIn(t, s.project.Path, "commit", "-q", "-m", "web")
	_, err := p.Prepare(t.Context(), aTask())
	must(t, err)
	s.project.Worktree.Subdir = "packages/web"
	s.project.Worktree.Ports = 1
	s.holders = []record.Holder{{Workspace: "garden--1", Task: "abc"}}
	view, err := p.View(t.Context(), aTask())
	must(t, err)
	if view.Dir != p.Dir("garden--1") || view.Cwd() != filepath.Join(view.Dir, "packages", "web") ||
		view.TaskFile != "../../TASK.md" || !slices.Contains(view.Env, "ORANGE_PORT=20000") {
		t.Errorf("an agent sees %+v", view)
	}
	head := gitIn(t, s.project.Path, "rev-parse", "HEAD")
	one, err := p.Scratch(t.Context(), aTask(), "abc-tests", head)
	must(t, err)
	if !strings.Contains(one.Dir, "/abc-tests/") || !strings.HasSuffix(one.Dir, "/packages/web") ||
		!slices.Contains(one.Env, "ORANGE_PORT=20000") {
		t.Errorf("a check in a checkout starts in %q with %q", one.Dir, one.Env)
	}
	info, err := os.Stat(filepath.Join(p.scratchDir(), "abc-tests"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder has the mode %v (%v), want 0700", info.Mode(), err)
	}
	must(t, one.Away(t.Context()))
	other, err := p.Scratch(t.Context(), aTask(), "abc-tests", head)
	if err != nil || other.Dir == one.Dir {
		t.Errorf("the next one starts in %q too (%v)", other.Dir, err)
	}
	must(t, other.Away(t.Context()))
	if left, err := p.Scratches(); len(left) > 0 || err != nil {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestAFolderThatIsNotInTheWorktree_isRefused(t *testing.T) {
	t.Parallel()
	p, s := newPool(t)
	_, err := p.Prepare(t.Context(), aTask())
	must(t, err)
	must(t, os.Symlink(t.TempDir(), filepath.Join(p.Dir("garden--1"), "out")))
	for _, subdir := range []string{"gone", "out", "file", "../garden--1"} {
		s.project.Worktree.Subdir = subdir
		if _, _, err := p.Place(t.Context(), aTask()); err == nil || !strings.Contains(err.Error(), "--subdir") {
			t.Errorf("%q: %v", subdir, err)
		}
	}
}

// An origin that does not answer holds no start up: the task begins from what is here, and its history says so.
func TestPrepare_beginsFromWhatIsHereWhereOriginDoesNotAnswer(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	p, s := newPool(t, func(o *Surroundings) {
		o.Log, o.patience = slog.New(slog.NewTextHandler(&log, nil)), 50*time.Millisecond
	})
	gitIn(t, s.project.Path, "remote", "add", "origin", "ssh://localhost/nowhere")
	gitIn(t, s.project.Path, "config", "core.sshCommand", "sh -c 'exec sleep 900'")
	prepared, err := p.Prepare(t.Context(), aTask())
	must(t, err)
	const want = "origin did not answer within 50ms"
	if !strings.Contains(log.String(), want) || len(prepared.Notes) != 1 || !strings.Contains(prepared.Notes[0], want) {
		t.Errorf("the log says %q, and the notes are %q", log.String(), prepared.Notes)
	}
	if branch := gitIn(t, p.Dir("garden--1"), "branch", "--show-current"); branch != "fix" {
		t.Errorf("the worktree is on %q", branch)
	}
}
