package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Kinds of processes that work for a home.
const (
	kindRunner  = "runner"
	kindCommand = "command"
	kindMonitor = "monitor"
	kindServer  = "server"
	kindLaunch  = "launcher"
	kindTmux    = "tmux server"
	kindGit     = "git"
)

// victim is a process that works for this home, and for no other.
type victim struct {
	kind    string
	process task.Process
}

func (v victim) String() string { return fmt.Sprintf("%s %d", v.kind, v.process.PID) }

// victims lists the processes of this home: the test's own copy of the program, what git it runs, and the tmux server.
func (s *storm) victims() []victim {
	all, err := proc.WithEnvironment("ORANGE_HOME=" + s.home)
	if err != nil {
		s.t.Error(err)
	}
	var out []victim
	for _, p := range all {
		if kind := s.kindOf(p.PID); kind != "" {
			out = append(out, victim{kind, p})
		}
	}
	return out
}

func (s *storm) kindOf(pid int) string {
	switch exe := exeOf(pid); {
	case exe == s.program:
		return kindOfCommand(pid)
	case filepath.Base(exe) == "git":
		above, _, err := proc.Parent(pid)
		if err == nil && exeOf(above.PID) == s.program && !s.inCheckout(pid) {
			return kindGit
		}
	case filepath.Base(exe) == "tmux":
		if name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); err == nil &&
			strings.HasPrefix(string(name), "tmux: server") {
			return kindTmux
		}
	}
	return ""
}

// inCheckout reports whether a git moves the person's own checkout on: killed in the middle of that, it leaves it
// half moved, as it would for the person.
func (s *storm) inCheckout(pid int) bool {
	where, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err != nil || where == s.repo && bytes.Contains(text, []byte("\x00--ff-only\x00"))
}

func exeOf(pid int) string {
	exe, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe") // gone, or not ours: nothing to kill
	return exe
}

func kindOfCommand(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	words := bytes.Split(text, []byte{0})
	if len(words) < 2 {
		return "" // it has begun to be the program, or has ended
	}
	switch string(words[1]) {
	case "settle":
		return kindRunner
	case "monitor":
		return kindMonitor
	case "serve":
		return kindServer
	case "launch":
		return kindLaunch
	}
	return kindCommand
}

// kill ends so many processes with SIGKILL, at random moments of their lives.
func (s *storm) kill(ctx context.Context, times int) {
	dice := s.random(0)
	for done := 0; done < times && ctx.Err() == nil; {
		throw, kind := dice.IntN(100), kindRunner
		switch {
		case throw < 3:
			kind = kindTmux
		case throw < 12:
			kind = kindLaunch
		case throw < 20:
			kind = kindMonitor
		case throw < 34:
			kind = kindServer
		case throw < 50:
			kind = kindGit
		case throw < 66:
			kind = kindCommand
		}
		v, found := s.await(ctx, kind)
		if !found {
			continue
		}
		rest(ctx, time.Duration(dice.Int64N(int64(phase(kind)))))
		if s.kindOf(v.process.PID) == v.kind && end(v.process) {
			s.count("kills of a " + kind)
			done++
		}
		rest(ctx, time.Duration(dice.Int64N(int64(s.size.truce))))
	}
}

// phase is about as long as a process of the kind lives, so that every moment of its life is hit.
func phase(kind string) time.Duration {
	if kind == kindGit {
		return 4 * time.Millisecond
	}
	return 80 * time.Millisecond
}

// await waits a moment for a process of the kind.
func (s *storm) await(ctx context.Context, kind string) (victim, bool) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(300 * time.Millisecond)
	defer late.Stop()
	for {
		for _, v := range s.victims() {
			if v.kind == kind {
				return v, true
			}
		}
		select {
		case <-ctx.Done():
			return victim{}, false
		case <-late.C:
			return victim{}, false
		case <-tick.C:
		}
	}
}
