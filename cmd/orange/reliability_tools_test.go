package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// endServer ends the tmux servers of the world's sockets, and every agent with them.
func (w *faultWorld) endServer() {
	w.t.Helper()
	for _, socket := range w.sockets() {
		_ = exec.Command("tmux", "-S", socket, "kill-server").Run() // it may have left already
	}
}

// stopServer stops the terminal server that the world's home has noted.
func stopServer(w *faultWorld) func() {
	w.t.Helper()
	var noted struct {
		PID   int
		Began string
	}
	w.check(json.Unmarshal([]byte(w.text(w.home("terminal.json"))), &noted))
	server := task.Process{PID: noted.PID, Began: noted.Began}
	w.check(proc.Signal(server, syscall.SIGSTOP))
	return func() { w.check(proc.Signal(server, syscall.SIGCONT)) }
}

func (w *faultWorld) sockets() []string {
	w.t.Helper()
	dir := ""
	for _, pair := range w.env {
		if value, found := strings.CutPrefix(pair, "TMUX_TMPDIR="); found {
			dir = value
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, "tmux-*", "*"))
	w.check(err)
	return found
}

// without makes a PATH on which one program is missing.
func without(program string) func(w *faultWorld) func() {
	return func(w *faultWorld) func() {
		dir, err := os.MkdirTemp(w.dir, "path")
		w.check(err)
		for _, name := range []string{"git", "tmux", "sh", "tail", "env"} {
			path, err := exec.LookPath(name)
			w.check(err)
			if name != program {
				w.check(os.Symlink(path, filepath.Join(dir, name)))
			}
		}
		return w.setting("PATH", dir)
	}
}

func (w *faultWorld) git(args ...string) {
	w.t.Helper()
	w.must("git", args...)
}

func gitFaults() []fault {
	const agentless = "it keeps its status, with a mark, and its hook stays pending"
	respawn := []string{"task", "respawn", "ID"}
	retry := []string{"task", "retry", "ID"}
	moved := func(w *faultWorld) func() {
		w.check(os.Rename(w.repo, w.repo+".moved"))
		return func() { w.check(os.Rename(w.repo+".moved", w.repo)) }
	}
	return []fault{
		{
			name: "The repository is moved away", inflict: moved, run: moveIt(), says: accepted,
			becomes: "it moves: what needs git fails later, as a hook", goesOn: "move the repository back",
		},
		{
			name: "The repository is moved away, and a hook needs it", inflict: func(w *faultWorld) func() {
				w.endServer()
				return moved(w)
			}, run: respawn, exit: 1, repair: retry,
			says:    `orange: hook failed: spawn_agent: .*(git|REPO).*\n  the task stays \S+; put that right and run: orange task retry ID`,
			becomes: agentless, goesOn: "move it back; `orange task retry`",
		},
		{
			name: "git is not on PATH", inflict: func(w *faultWorld) func() {
				w.endServer()
				return without("git")(w)
			}, run: respawn,
			says:    `respawned the worker of ID\n  spawn_agent            done`,
			becomes: "its agent starts: a worktree that is as it was needs no git for that", goesOn: "install git",
		},
		{
			name: "git was interrupted and left its index.lock", inflict: func(w *faultWorld) func() {
				path := filepath.Join(w.repo, ".git", "worktrees", "coffee--1", "index.lock")
				w.put(path, "")
				return func() { w.check(os.RemoveAll(path)) }
			}, run: moveIt(), says: accepted,
			becomes: "it moves; a hook that switches the worktree fails and names the file",
			goesOn:  "delete the file; `orange task retry`",
		},
		{
			name: "The task's branch is deleted", inflict: func(w *faultWorld) func() {
				head := strings.TrimSpace(w.must("git", "rev-parse", "feat/hit"))
				w.git("update-ref", "-d", "refs/heads/feat/hit")
				return func() { w.git("update-ref", "refs/heads/feat/hit", head) }
			}, run: moveIt(), says: accepted,
			becomes: "it moves; only a merge needs the branch, and says that there is none",
			goesOn:  "`git branch` creates it again, from the reflog",
		},
		{
			name: "The worktree's folder is deleted by hand", inflict: func(w *faultWorld) func() {
				w.endServer()
				w.check(os.RemoveAll(w.slot()))
				return func() {}
			}, run: respawn, says: `respawned the worker of ID\n  spawn_agent            done`,
			becomes: "its worktree is created again, on its branch; uncommitted work is gone with the folder",
			goesOn:  "nothing to do",
		},
		{
			name: "git has forgotten the worktree (.git/worktrees is gone)", inflict: func(w *faultWorld) func() {
				w.endServer()
				w.check(os.RemoveAll(filepath.Join(w.repo, ".git", "worktrees")))
				return func() { w.check(os.Rename(w.slot(), w.slot()+".saved")) }
			}, run: respawn, exit: 1, repair: retry,
			says: `orange: hook failed: spawn_agent: .*: the folder holds something else than a worktree; save what is in it and move it away` +
				`\n  the task stays \S+; put that right and run: orange task retry ID`,
			becomes: agentless, goesOn: "move the folder away; `orange task retry` creates the worktree again",
		},
	}
}

func tmuxFaults() []fault {
	respawn := []string{"task", "respawn", "ID"}
	return []fault{
		{
			name: "The tmux server is killed", run: []string{"task", "list"}, repair: respawn,
			inflict: func(w *faultWorld) func() {
				w.endServer()
				return func() {}
			},
			says:    `ID  coffee   clarification  dead, needs you: worker has died  +feat/hit`,
			becomes: "it keeps its status, its agent is shown as dead", goesOn: "`orange task respawn`",
		},
		{
			name: "The socket of the tmux server is removed", run: []string{"task", "list"},
			inflict: func(w *faultWorld) func() {
				for _, socket := range w.sockets() {
					w.check(os.Remove(socket))
				}
				return func() {}
			},
			says:    `ID  coffee   clarification  alive, needs you: waits in clarification  +feat/hit`,
			becomes: "its agent works on, and the server makes its socket again", goesOn: "nothing to do",
		},
		{
			name: "The tmux server is stopped and does not answer", run: []string{"task", "list"}, inflict: stopServer,
			says: `has not answered for 2 s, so its agents are unknown; the process is stopped, let it go on: ` +
				`kill -CONT`,
			becomes: "it moves; whether its agent lives is unknown, never \"dead\"",
			goesOn:  "let the process go on, which the message names",
		},
		{
			name: "The tmux server is stopped, and an agent is to be looked at", run: respawn, exit: 1,
			inflict: stopServer,
			says: `has not answered for 2 s, so its agents are unknown; the process is stopped, let it go on: ` +
				`kill -CONT`,
			becomes: "nothing: no second agent is started while the first cannot be seen",
			goesOn:  "let the process go on; the same command again",
		},
		{
			name: "tmux is not on PATH", run: []string{"task", "list"}, inflict: without("tmux"),
			says:    `ID  coffee   clarification  unknown, needs you: waits in clarification  +feat/hit`,
			becomes: "it moves; whether its agent lives is unknown, never \"dead\"", goesOn: "install tmux",
		},
		{
			name: "tmux is not on PATH, and an agent is to be looked at", run: respawn, exit: 1,
			inflict: without("tmux"),
			says:    `orange: look at the sessions: list the tmux panes of task "ID": run "tmux": exec: "tmux": executable file not found in \$PATH`,
			becomes: "nothing: no second agent is started while the first cannot be seen",
			goesOn:  "install tmux; the same command again",
		},
	}
}
