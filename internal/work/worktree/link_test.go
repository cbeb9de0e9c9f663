package worktree

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/work/git"
)

// linked is a slot with a link to a document.
func linked(t *testing.T, h home) (Slot, string, string) {
	t.Helper()
	s := h.prepared(t, "topic", "T1")
	target := filepath.Join(h.root, "tasks", "T1", "TASK.md")
	write(t, filepath.Dir(target), "TASK.md", "document\n")
	file, err := s.Document().Link(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return s, target, file
}

// linkState is what became of the link to a document.
type linkState string

const (
	linkMissing  linkState = "missing, or a link to something else"
	linkIntact   linkState = "intact"
	linkReplaced linkState = "replaced by a file"
)

func wantLink(t *testing.T, s Slot, target string, state linkState, content string) {
	t.Helper()
	text, replaced, err := s.Document().Replaced()
	if err != nil {
		t.Fatal(err)
	}
	file, err := s.Document().linkFile()
	to, noLink := os.Readlink(filepath.Join(s.Dir, file))
	got := linkMissing
	switch {
	case replaced:
		got = linkReplaced
	case err == nil && noLink == nil && to == target:
		got = linkIntact
	}
	want(t, "state", got, state)
	want(t, "content", string(text), content)
}

func TestLink_isExcludedAndMadeOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	write(t, h.Path, ".git/info/exclude", "# no newline at the end")
	s, target, file := linked(t, h)
	want(t, "file", file, "TASK.md")
	want(t, "content", read(t, s.Dir, "TASK.md"), "document\n")
	if _, err := s.Document().Link(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	if err := s.Exclude(t.Context(), "/TASK.md", "/.claude/settings.local.json",
		"/.claude/settings.local.json"); err != nil {
		t.Fatal(err)
	}
	want(t, "exclude", read(t, h.Path, ".git/info/exclude"),
		"# no newline at the end\n/TASK.md\n/.claude/settings.local.json\n")
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), "")
	wantLink(t, s, target, linkIntact, "")
	release(t, s, "T1")
	want(t, "taken away", exists(s.Dir, "TASK.md"), false)
	wantLink(t, s, target, linkMissing, "")
	want(t, "document", read(t, filepath.Dir(target), "TASK.md"), "document\n")
}

func TestLink_inARepositoryWithATaskFileOfItsOwn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	commit(t, h.Path, "TASK.md", "the repository's\n")
	s, target, file := linked(t, h)
	want(t, "file", file, ".orange/TASK.md")
	want(t, "own", read(t, s.Dir, "TASK.md"), "the repository's\n")
	want(t, "linked", read(t, s.Dir, file), "document\n")
	want(t, "status", gitIn(t, s.Dir, "status", "--porcelain"), "")
	wantLink(t, s, target, linkIntact, "")
	// The repository's own file is never taken for a replaced link.
	if err := os.RemoveAll(filepath.Join(s.Dir, ".orange")); err != nil {
		t.Fatal(err)
	}
	wantLink(t, s, target, linkMissing, "")
	if _, err := s.Document().Link(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	replace(t, filepath.Join(s.Dir, file), "saved by rename\n")
	wantLink(t, s, target, linkReplaced, "saved by rename\n")
}

// The link is looked over before each start of an agent: git lists files again only where they may be others.
func TestLink_asksGitAgainWhereTheRepositoryChanged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s, target, _ := linked(t, h)
	link := func(file string) {
		t.Helper()
		at, err := s.Document().Link(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "file", at, file)
	}
	link("TASK.md")
	commit(t, s.Dir, "b.txt", "b\n")
	link("TASK.md")
	link("TASK.md")
	write(t, s.Dir, "task.md", "the repository's\n")
	gitIn(t, s.Dir, "add", "-f", "task.md")
	link(".orange/TASK.md")
	link(".orange/TASK.md")
	gitIn(t, s.Dir, "commit", "-q", "-m", "It has a file of that name")
	link(".orange/TASK.md")
	gitIn(t, s.Dir, "rm", "-q", "--cached", "task.md")
	link(".orange/TASK.md") // the commit has it
	gitIn(t, s.Dir, "update-ref", "HEAD", "HEAD^")
	link("TASK.md")
}

func TestLink_doesNotFollowTheRepositoryOutside(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	commit(t, h.Path, "TASK.md", "own\n")
	if err := os.Symlink(h.root, filepath.Join(h.Path, ".orange")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, h.Path, "add", "-f", ".orange")
	gitIn(t, h.Path, "commit", "-q", "-m", "trap")
	s := h.prepared(t, "topic", "T1")
	_, err := s.Document().Link(t.Context(), filepath.Join(h.root, "doc"))
	wantError(t, err, "cannot link", ".orange")
	want(t, "outside", exists(h.root, "TASK.md"), false)
}

// replace saves as many editors do: a new file, renamed over the old name.
func replace(t *testing.T, path, content string) {
	t.Helper()
	write(t, filepath.Dir(path), "TASK.md.tmp", content)
	if err := os.Rename(filepath.Join(filepath.Dir(path), "TASK.md.tmp"), path); err != nil {
		t.Fatal(err)
	}
}

func TestLinked_aProgramReplacedTheLinkByAFile(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s, target, file := linked(t, h)
	replace(t, filepath.Join(s.Dir, file), "saved by rename\n")
	wantLink(t, s, target, linkReplaced, "saved by rename\n")
	wantError(t, s.Switch(t.Context(), "main"), "adopt it first")
	wantError(t, Worktrees{Repo: h.Repo}.Remove(t.Context(), s.Dir), "not adopted")

	// Put back before it was adopted: the words are kept next to the document.
	if _, err := s.Document().Link(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	wantLink(t, s, target, linkIntact, "")
	want(t, "kept", read(t, filepath.Dir(target), "TASK.md.replaced-1"), "saved by rename\n")
	want(t, "document", read(t, filepath.Dir(target), "TASK.md"), "document\n")

	// Adopted as it was: nothing needs keeping.
	replace(t, filepath.Join(s.Dir, file), "document\n")
	if _, err := s.Document().Link(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	want(t, "no second one", exists(filepath.Dir(target), "TASK.md.replaced-2"), false)
}

func TestRelease_keepsAReplacedDocument(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(*testing.T, Slot) []Rescue{
		"Release": func(t *testing.T, s Slot) []Rescue { return release(t, s, "T1") },
		"Prepare": func(t *testing.T, s Slot) []Rescue { return prepare(t, s, "next", "T2").Rescued },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s, target, file := linked(t, h)
			replace(t, filepath.Join(s.Dir, file), "saved by rename\n")
			kept := next(t, s)
			if len(kept) != 1 {
				t.Fatalf("kept %v", kept)
			}
			want(t, "content", gitIn(t, h.Path, "show", kept[0].Ref+":TASK.md"), "saved by rename")
			want(t, "task", strings.HasPrefix(kept[0].Ref, "refs/orange/rescue/T1/"), true)
			want(t, "taken away", exists(s.Dir, "TASK.md"), false)
			wantLink(t, s, target, linkMissing, "")
		})
	}
}

func TestLinked_strangeThingsInItsPlace(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s, target, file := linked(t, h)
	path := filepath.Join(s.Dir, file)
	clear := func() {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	clear()
	wantLink(t, s, target, linkMissing, "")
	if err := os.Symlink("/etc/hostname", path); err != nil {
		t.Fatal(err)
	}
	wantLink(t, s, target, linkMissing, "")
	if _, err := s.Document().Link(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	wantLink(t, s, target, linkIntact, "")

	clear()
	write(t, s.Dir, file, string(bytes.Repeat([]byte("x"), maxDocument)))
	content, replaced, err := s.Document().Replaced()
	want(t, "the largest", err == nil && replaced && len(content) == maxDocument, true)
	write(t, s.Dir, file, string(bytes.Repeat([]byte("x"), maxDocument+1)))
	_, _, err = s.Document().Replaced()
	wantError(t, err, "cannot adopt", "larger")

	clear()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Document().Replaced()
	wantError(t, err, "neither a file nor a link")
	_, err = s.Document().Link(t.Context(), target)
	wantError(t, err, "neither a file nor a link")

	clear()
	write(t, s.Dir, "elsewhere", "a secret")
	if err := os.Link(filepath.Join(s.Dir, "elsewhere"), path); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Document().Replaced()
	wantError(t, err, "hard link", "2 names")

	clear()
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = s.Document().Link(t.Context(), target)
	wantError(t, err, "neither a file nor a link")
}

func TestLink_refuses(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	_, err := s.Document().Link(t.Context(), "relative/TASK.md")
	want(t, "usage", errors.Is(err, task.ErrUsage), true)
	_, err = h.slot(7).Document().Link(t.Context(), "/doc")
	wantError(t, err, "cannot link", "not there")
	wantError(t, s.Exclude(t.Context(), "a\nb"), "not one line")
	wantError(t, h.slot(7).Exclude(t.Context(), "x"), "not there")
	_, _, err = h.slot(7).Document().Replaced()
	wantError(t, err, "cannot look")
}

// An agent that may write into its worktree's folder of git's has Orange write into no file of someone else's.
func TestLink_writesThroughNoLinkOfAnAgents(t *testing.T) {
	t.Parallel()
	slot := newHome(t).prepared(t, "fix", "abc")
	gitDir, err := git.DirOf(slot.Dir)
	if err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(t.TempDir(), "precious")
	for _, name := range []string{linkNote, taskFile} {
		write(t, filepath.Dir(precious), "precious", "mine")
		path := filepath.Join(gitDir, name)
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.Symlink(precious, path); err != nil {
			t.Fatal(err)
		}
		if _, err := slot.Document().Link(t.Context(), filepath.Join(t.TempDir(), "TASK.md")); err != nil {
			t.Fatal(err)
		}
		prepare(t, slot, "fix", "abc")
		if text, err := os.ReadFile(precious); err != nil || string(text) != "mine" {
			t.Errorf("%s: the file holds %q: %v", name, text, err)
		}
	}
}
