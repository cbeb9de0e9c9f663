package probe

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
)

const (
	role      = task.RoleWorker
	lookEvery = 200 * time.Millisecond
	lastLines = 15
)

// Start starts the program of one harness once, in a repository that is kept, with a terminal server of its own, and a
// prompt that has it write a word into a file. Patience is how long the prompt may take to arrive. It waits until the
// file is there, closes the window, and waits until the program is gone. Nothing of it stays behind. It may cost what
// one answer of the program's model costs.
//
// An error says what could not be tried; that no prompt arrived is one too, with the last lines of the window.
func (p Prober) Start(ctx context.Context, name string, patience time.Duration) (out harness.Started, err error) {
	h, err := p.Harness(name)
	if err != nil {
		return out, err
	}
	self, err := os.Executable()
	if err != nil {
		return out, fmt.Errorf("find the running program: %w", err)
	}
	ctx = proc.WithEnviron(ctx, p.Environ(proc.EnvironOf(ctx).Own))
	dir, err := os.MkdirTemp(proc.TempDir(ctx), "orange-harness")
	if err != nil {
		return out, fmt.Errorf("make a folder to start %q in: %w", h.Program, err)
	}
	t := &trial{self: self, folder: p.folder(), harness: h, dir: dir, word: rand.Text(),
		server: tmux.ServerOf(dir, func(name string) string { return proc.Getenv(ctx, name) })}
	defer func() { err = errors.Join(err, t.clean(context.WithoutCancel(ctx))) }()
	pane, err := t.begin(ctx, &out)
	if err != nil {
		return out, err
	}
	began := time.Now()
	arrived := t.await(ctx, patience, func() (bool, error) {
		text, err := proc.ReadFile(t.answer())
		if strings.Contains(string(text), t.word) {
			return true, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
		return false, t.asks(ctx, pane.ID)
	})
	out.Arrived = time.Since(began)
	if out.Screen, err = t.server.LastWords(ctx, pane.ID, lastLines); arrived != nil || err != nil {
		return out, errors.Join(err, arrived)
	}
	if err := t.server.KillWindow(ctx, pane.WindowID); err != nil {
		return out, err
	}
	err = t.await(ctx, leaves, func() (bool, error) {
		left, err := proc.WithEnvironment(t.mark())
		return len(left) == 0, err
	})
	out.Ended = err == nil
	return out, nil
}

// trial is one start.
type trial struct {
	self    string // the running program, which starts agents
	folder  string // the repository that the program is started in
	harness *harness.Harness
	dir     string
	word    string
	server  *tmux.Server

	launched bool // a launcher may be at work in dir
	standing int  // how many looks in a row have found the program at a question
}

// questionLooks is how many looks in a row have to find a question: a screen that is being drawn is none.
const questionLooks = 5

// asks is the question at which the program waits, as an error: no one answers it here.
func (t *trial) asks(ctx context.Context, pane string) error {
	if t.harness.Dialog == nil {
		return nil
	}
	screen, err := t.server.LastWords(ctx, pane, 2*lastLines)
	if err != nil || !t.harness.Dialog.MatchString(screen) {
		t.standing = 0
		return nil // a window that is gone is met where the program is waited for
	}
	if t.standing++; t.standing < questionLooks {
		return nil
	}
	question := strings.TrimSpace(t.harness.Dialog.FindString(screen))
	for line := range strings.Lines(screen) {
		if strings.Contains(line, "?") {
			question = strings.TrimSpace(line)
			break
		}
	}
	return fmt.Errorf("it stopped at a question: %q; answer it once, and try again: cd %q && %s", question, t.folder,
		t.harness.Program)
}

func (t *trial) answer() string { return filepath.Join(t.dir, "task", "answer") }

func (t *trial) exit() string { return filepath.Join(t.dir, "exit") }

// mark is the variable by which all that the program starts is found again.
func (t *trial) mark() string { return "ORANGE_HARNESS_TEST=" + t.word }

// begin starts the program in a window.
func (t *trial) begin(ctx context.Context, out *harness.Started) (tmux.Pane, error) {
	worktree, folder := t.folder, filepath.Join(t.dir, "task")
	for _, path := range []string{worktree, folder} {
		if err := os.MkdirAll(path, task.PrivateFolder); err != nil {
			return tmux.Pane{}, fmt.Errorf("make a folder to try %q in: %w", t.harness.Program, err)
		}
	}
	if err := repository(ctx, worktree); err != nil {
		return tmux.Pane{}, err
	}
	prompt := fmt.Sprintf("Write the word %s into the file %s, and nothing else. Then you are done.", t.word,
		t.answer())
	promptFile := filepath.Join(folder, "prompt.md")
	if err := errors.Join(proc.WriteFile(promptFile, []byte(prompt), task.PrivateFile), t.equip(worktree)); err != nil {
		return tmux.Pane{}, err
	}
	values := map[string]string{
		harness.Prompt: prompt, harness.PromptFile: promptFile, harness.Worktree: worktree, harness.TaskDir: folder,
		harness.GitDir: filepath.Join(worktree, ".git"), harness.OwnGitDir: filepath.Join(worktree, ".git"),
		harness.Home: t.dir, harness.Branch: "main", harness.SessionID: uuid(),
	}
	out.Argv = t.harness.Argv(role, task.PermissionsFull, values)
	start := t.harness.Ticket(out.Argv, values)
	start.Home, start.Task, start.Dir = t.dir, "test", worktree
	start.Path, start.Exit, start.Set = filepath.Dir(t.self), t.exit(), append(start.Set, t.mark())
	text, err := json.Marshal(start)
	if err != nil {
		return tmux.Pane{}, fmt.Errorf("write the ticket: %w", err)
	}
	ticket := filepath.Join(t.dir, "ticket.json")
	if err := errors.Join(proc.WriteFile(ticket, text, task.PrivateFile), t.server.Configure("")); err != nil {
		return tmux.Pane{}, err
	}
	t.launched = true
	return t.server.Start(ctx, tmux.Start{Task: "test", Role: role, Hook: "1", Session: "test", Window: role,
		Dir: worktree, Argv: []string{t.self, "launch", ticket}})
}

// equip writes the harness's files into the worktree.
func (t *trial) equip(worktree string) error {
	for _, f := range t.harness.Files {
		path := filepath.Join(worktree, f.Path)
		err := os.MkdirAll(filepath.Dir(path), task.PrivateFolder)
		if err == nil {
			err = proc.WriteFile(path, []byte(f.Content), task.PrivateFile)
		}
		if err != nil {
			return fmt.Errorf("write the file %q of the harness: %w", f.Path, err)
		}
	}
	return nil
}

// await waits until something holds.
func (t *trial) await(ctx context.Context, most time.Duration, holds func() (bool, error)) error {
	ctx, off := context.WithTimeoutCause(ctx, most, fmt.Errorf("nothing came of it within %s", most))
	defer off()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		there, err := holds()
		if there || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// clean ends what the start left, and removes its files.
func (t *trial) clean(ctx context.Context) error {
	err := t.server.KillServer(ctx)
	if ended := (proc.System{Grace: leaves}).EndMarked(ctx, t.mark()); ended != nil {
		err = errors.Join(err, fmt.Errorf("end what %q left running: %w", t.harness.Program, ended))
	}
	if t.launched { // it writes a last file there
		err = errors.Join(err, t.await(ctx, leaves, func() (bool, error) {
			_, err := os.Stat(t.exit())
			return err == nil, nil
		}))
	}
	return errors.Join(err, os.RemoveAll(t.dir))
}

// uuid is a new identifier for a conversation.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// repository makes a repository with one commit in a folder, where there is none.
func repository(ctx context.Context, dir string) error {
	head := []string{"rev-parse", "-q", "--verify", "HEAD"}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		if _, err := proc.Run(ctx, proc.Command{Name: "git", Args: head, Dir: dir}); err == nil {
			return nil
		}
	}
	err := os.MkdirAll(dir, task.PrivateFolder)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=Orange", "-c",
		"user.email=orange@localhost", "-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "--no-verify",
		"-m", "Begin"}} {
		if err == nil {
			_, err = proc.Run(ctx, proc.Command{Name: "git", Args: args, Dir: dir})
		}
	}
	if err != nil {
		return fmt.Errorf("make a repository to try things in: %w", err)
	}
	return nil
}
