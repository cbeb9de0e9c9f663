package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/work/git"
)

// trap names a program in every place of a configuration where git would run one, and answers the file that the
// program writes.
func trap(t *testing.T, h home, dir string) string {
	t.Helper()
	ran := filepath.Join(h.root, "ran")
	program := filepath.Join(h.root, "trap")
	script := "#!/bin/sh\necho \"$0 $*\" >>'" + ran + "'\ncat >/dev/null\nprintf 'token\\0'\n"
	write(t, h.root, "trap", script)
	for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout",
		"fsmonitor-watchman", "pre-commit", "post-commit", "pre-auto-gc"} {
		write(t, h.root, "hooks/"+hook, script)
		if err := os.Chmod(filepath.Join(h.root, "hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"core.hooksPath": filepath.Join(h.root, "hooks"), "diff.external": program, "diff.txt.textconv": program,
		"diff.txt.command": program,
		"core.pager":       program, "pager.status": program, "pager.diff": program, "alias.status": "!" + program,
		"alias.rev-list":  "!" + program,
		"core.sshCommand": program, "gpg.program": program, "log.showSignature": "true", "diff.submodule": "diff",
		"core.editor":    program,
		"core.fsmonitor": program,
	} {
		gitIn(t, dir, "config", name, value)
	}
	return ran
}

func TestLooking_runsNoProgramThatAConfigurationNames(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	library := filepath.Join(h.root, "library")
	gitIn(t, h.root, "init", "-q", library)
	commit(t, library, "lib.txt", "one\n")
	gitIn(t, h.Path, "submodule", "--quiet", "add", library, "lib")
	commit(t, h.Path, ".gitattributes", "*.txt diff=txt\n")
	s := h.prepared(t, "topic", "T1")
	gitIn(t, s.Dir, "submodule", "--quiet", "update", "--init")
	commit(t, s.Dir, "more.txt", "more\n")
	write(t, s.Dir, "kept.txt", "kept\n")
	release(t, s, "T1")
	prepare(t, s, "topic", "T1")
	ran := trap(t, h, filepath.Join(s.Dir, "lib"))
	trap(t, h, h.Path)
	write(t, s.Dir, "lib/lib.txt", "two\n")
	write(t, s.Dir, "a.txt", "two\n")
	write(t, s.Dir, "new.txt", "new\n")
	looks := map[string]func() error{
		"Inspect":    func() error { _, err := git.Inspect(t.Context(), s.Dir); return err },
		"Stand":      func() error { _, _, err := s.Files().Snapshot(t.Context()); return err },
		"Branch":     func() error { _, err := s.Branch(t.Context()); return err },
		"Work":       func() error { _, err := s.Files().Work(t.Context()); return err },
		"Diff":       func() error { _, err := s.Files().Diff(t.Context()); return err },
		"BranchDiff": func() error { _, err := h.BranchDiff(t.Context(), "topic"); return err },
		"Base":       func() error { _, err := h.Base(t.Context()); return err },
		"Ahead":      func() error { _, err := h.Ahead(t.Context(), "topic", ""); return err },
		"Between":    func() error { _, _, err := h.Between(t.Context(), "main", "topic"); return err },
		"Changed":    func() error { _, _, err := h.Changed(t.Context(), "main", "topic"); return err },
		"Within":     func() error { _, _, err := h.Within(t.Context(), "topic", "main"); return err },
		"Tip":        func() error { _, err := h.Tip(t.Context(), "topic"); return err },
		"ReadTip":    func() error { _ = Worktrees{Repo: h.Repo}.ReadTip(t.Context(), s.Dir, "topic"); return nil },
		"Origin":     func() error { _, err := h.Origin(t.Context()); return err },
		"Rescues":    func() error { _, err := Rescues{Repo: h.Repo}.List(t.Context(), "T1"); return err },
		"Touched":    func() error { _, err := s.Touched(); return err },
	}
	for name, look := range looks {
		if err := look(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if text, err := os.ReadFile(ran); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s ran a program: %s, %v", name, text, err)
		}
	}
	if _, err := try(s.Dir, "diff"); err != nil {
		t.Log(err)
	}
	if !exists(h.root, "ran") {
		t.Error("no program runs where git is called by hand: the test proves nothing")
	}
}

// A monitor of files tells git which ones it need not look at.
func TestALyingFsmonitorHidesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	write(t, h.root, "liar", "#!/bin/sh\nprintf 'token\\0'\n")
	if err := os.Chmod(filepath.Join(h.root, "liar"), 0o755); err != nil {
		t.Fatal(err)
	}
	gitIn(t, h.Path, "config", "core.fsmonitor", filepath.Join(h.root, "liar"))
	gitIn(t, s.Dir, "update-index", "--fsmonitor")
	gitIn(t, s.Dir, "status")
	gitIn(t, s.Dir, "update-index", "--fsmonitor-valid", "a.txt", "sub/deep.txt", ".gitignore")
	write(t, s.Dir, "a.txt", "work of hours\n")
	want(t, "what git says by itself", gitIn(t, s.Dir, "status", "--porcelain"), "")
	want(t, "modified", strings.Join(stand(t, s).Modified, "|"), "a.txt")
	kept := release(t, s, "T1")
	if len(kept) != 1 {
		t.Fatalf("rescued: %+v", kept)
	}
	want(t, "rescued", gitIn(t, h.Path, "show", kept[0].Commit+":a.txt"), "work of hours")
	want(t, "the file", read(t, s.Dir, "a.txt"), "one\n")
}

// A repository's configuration can tell git to compare less of a file, and its refs can put one commit in
// another's place.
func TestWhatAgentsWriteIntoTheRepository_hidesNothing(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(t *testing.T, h home, s Slot){
		"a time that is put back": func(t *testing.T, h home, s Slot) {
			gitIn(t, h.Path, "config", "core.checkStat", "minimal")
			gitIn(t, h.Path, "config", "core.trustctime", "false")
			file := filepath.Join(s.Dir, "a.txt")
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			write(t, s.Dir, "cache/other", "two\n")
			other := filepath.Join(s.Dir, "cache/other")
			if err := errors.Join(os.Chtimes(other, info.ModTime(), info.ModTime()),
				os.Rename(other, file)); err != nil {
				t.Fatal(err)
			}
		},
		"a replaced commit": func(t *testing.T, _ home, s Slot) {
			tip := gitIn(t, s.Dir, "rev-parse", "HEAD")
			other := commit(t, s.Dir, "a.txt", "two\n")
			gitIn(t, s.Dir, "reset", "-q", "--soft", tip)
			gitIn(t, s.Dir, "replace", tip, other)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "topic", "T1")
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(s.Dir, "a.txt"), old, old); err != nil {
				t.Fatal(err)
			}
			gitIn(t, s.Dir, "update-index", "--refresh")
			hide(t, h, s)
			want(t, "what git says by itself", gitIn(t, s.Dir, "status", "--porcelain"), "")
			want(t, "modified", strings.Join(stand(t, s).Modified, "|"), "a.txt")
		})
	}
}

func TestSnapshot_refusesAWorktreeThatLeadsElsewhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	other := newHome(t)
	gitDir, err := git.DirOf(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	write(t, gitDir, "commondir", filepath.Join(other.Path, ".git")+"\n")
	_, _, err = s.Files().Snapshot(t.Context())
	wantError(t, err, "no worktree of", "save what is in it")
}
