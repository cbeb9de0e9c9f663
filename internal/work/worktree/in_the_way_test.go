package worktree

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// How a merge may end. It is never anything between.
type ending string

const (
	asBefore  ending = "as before" // the repository, origin and the person's checkout
	asideOnly ending = "merged"    // the branches moved; the person's checkout is as it was
	forwarded ending = "forwarded" // the person's checkout followed, and what was theirs in it is as it was
)

// situation is what a merge of the branch "topic" finds. Its commit has work.txt and a deeper file.
type situation struct {
	name    string
	arrange func(t *testing.T, h home) // after the branch was made
	here    bool                       // the merge stays here
	ends    ending
	says    []string // the words of a refusal, or of why the local branch is behind
}

// situations are what was seen in the way of merges.
func situations() []situation {
	return append(situationsOfFiles(), append(situationsOfBranches(), situationsOfOrigin()...)...)
}

func put(name, content string) func(t *testing.T, h home) {
	return func(t *testing.T, h home) { t.Helper(); write(t, h.Path, name, content) }
}

func run(args ...string) func(t *testing.T, h home) {
	return func(t *testing.T, h home) { t.Helper(); gitIn(t, h.Path, args...) }
}

func all(steps ...func(t *testing.T, h home)) func(t *testing.T, h home) {
	return func(t *testing.T, h home) {
		t.Helper()
		for _, step := range steps {
			step(t, h)
		}
	}
}

func situationsOfFiles() []situation {
	const commitIt = "commit or move what is in the way, then run this again; nothing was changed"
	return []situation{
		{name: "nothing is in the way", ends: forwarded},
		{name: "an untracked file has its own name", arrange: put("mine.txt", "x"), ends: forwarded},
		{name: "an untracked file is where the merge has one", arrange: put("work.txt", "mine"), ends: asBefore,
			says: []string{"work.txt", commitIt}},
		{name: "the same, and the merge stays here", arrange: put("work.txt", "mine"), here: true, ends: asBefore,
			says: []string{"work.txt", commitIt}},
		{name: "an ignored file is where the merge has one", arrange: all(put(".git/info/exclude", "work.txt\n"),
			put("work.txt", "mine")), ends: asBefore, says: []string{"work.txt", commitIt}},
		{name: "an untracked file is where the merge has a folder", arrange: put("deep", "mine"), ends: asBefore,
			says: []string{"deep", commitIt}},
		{name: "an ignored file is where the merge has a folder", arrange: all(put(".git/info/exclude", "deep\n"),
			put("deep", "mine")), ends: asBefore, says: []string{"deep", commitIt}},
		{name: "an untracked folder is where the merge has a file", arrange: put("work.txt/notes", "mine"),
			ends: asBefore, says: []string{"work.txt", commitIt}},
		{name: "a change that the merge does not touch", arrange: put("sub/deep.txt", "mine"), ends: forwarded},
		{name: "a change of a file that the merge changes", arrange: put("a.txt", "mine"), ends: asBefore,
			says: []string{"a.txt", commitIt}},
		{name: "a staged change of a file that the merge changes", arrange: all(put("a.txt", "mine"),
			run("add", "a.txt")), ends: asBefore, says: []string{"a.txt", commitIt}},
		{name: "a staged change that the merge does not touch", arrange: all(put("sub/deep.txt", "mine"),
			run("add", "sub")), ends: forwarded},
		{name: "a stash", arrange: all(put("a.txt", "mine"), run("stash", "-q")), ends: forwarded},
		{name: "a change that git was told to overlook", arrange: all(
			// of another length: git takes what is written in the same tick as its index, and as long, for the same
			run("update-index", "--assume-unchanged", "a.txt"), put("a.txt", "mine alone")), ends: asBefore,
			says: []string{"a.txt", commitIt}},
		{name: "a filter of files that fails", arrange: all(put(".gitattributes", "work.txt filter=fails\n"),
			run("config", "filter.fails.smudge", "false"), run("config", "filter.fails.required", "true")),
			ends: asBefore, says: []string{"a filter of its files fails", "nothing was changed"}},
		{name: "a filter of files that works", arrange: all(put(".gitattributes", "work.txt filter=works\n"),
			run("config", "filter.works.smudge", "cat"), run("config", "filter.works.clean", "cat"),
			run("config", "filter.works.required", "true")), ends: forwarded},
	}
}

func situationsOfBranches() []situation {
	return []situation{
		{name: "the person is on another branch", arrange: all(run("switch", "-q", "-c", "mine"), put("work.txt", "x")),
			ends: asideOnly},
		{name: "the person's HEAD is detached", arrange: run("switch", "-q", "--detach"), ends: asideOnly},
		{name: "the default branch is checked out in a linked worktree", arrange: func(t *testing.T, h home) {
			t.Helper()
			gitIn(t, h.Path, "switch", "-q", "-c", "mine")
			gitIn(t, h.Path, "worktree", "add", "-q", filepath.Join(h.root, "second"), "main")
			write(t, filepath.Join(h.root, "second"), "work.txt", "mine")
		}, ends: asBefore, says: []string{"second", "work.txt", "nothing was changed"}},
		{name: "the branch is checked out by the person", arrange: all(run("switch", "-q", "topic"),
			put("work.txt", "more")), ends: asideOnly},
		{name: "the default branch is in the middle of a rebase", arrange: func(t *testing.T, h home) {
			t.Helper()
			commit(t, h.Path, "mine.txt", "mine\n")
			gitIn(t, h.Path, "push", "-q", "origin", "main")
			gitIn(t, h.Path, "branch", "-q", "other", "main~1")
			gitIn(t, h.Path, "-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-q", "-i", "main~1")
		}, ends: asBefore, says: []string{"in the middle of a rebase", "--abort", "nothing was changed"}},
		{name: "the default branch is in the middle of a merge", arrange: func(t *testing.T, h home) {
			t.Helper()
			gitIn(t, h.Path, "branch", "-q", "other")
			gitIn(t, h.Path, "switch", "-q", "other")
			commit(t, h.Path, "other.txt", "other\n")
			gitIn(t, h.Path, "switch", "-q", "main")
			gitIn(t, h.Path, "merge", "-q", "--no-ff", "--no-commit", "other")
		}, ends: asBefore, says: []string{"in the middle of a merge", "--abort", "nothing was changed"}},
		{name: "the branch was renamed", arrange: run("branch", "-m", "topic", "named"), ends: asBefore,
			says: []string{"no local branch of that name", "orange task update ID --branch NAME"}},
		{name: "the branch was deleted", arrange: run("branch", "-q", "-D", "topic"), ends: asBefore,
			says: []string{"no local branch of that name", "make it again"}},
		{name: "another git has the person's HEAD", arrange: put(".git/HEAD.lock", ""), here: true, ends: asBefore,
			says: []string{"HEAD.lock", "nothing was changed"}},
		{name: "the default branch stands for another one", arrange: all(run("branch", "-m", "main", "trunk"),
			run("symbolic-ref", "refs/heads/main", "refs/heads/trunk")), ends: forwarded},
		{name: "the default branch was renamed here and on origin", arrange: func(t *testing.T, h home) {
			t.Helper()
			gitIn(t, h.Path, "branch", "-m", "main", "trunk")
			gitIn(t, h.Path, "push", "-q", "origin", "trunk")
			gitIn(t, h.origin(), "symbolic-ref", "HEAD", "refs/heads/trunk")
			gitIn(t, h.Path, "push", "-q", "origin", ":main")
		}, ends: asBefore, says: []string{"--default-branch", "nothing was changed"}},
	}
}

func hookOf(dir func(h home) string, name, text string) func(t *testing.T, h home) {
	return func(t *testing.T, h home) {
		t.Helper()
		hooks := filepath.Join(dir(h), "hooks")
		write(t, hooks, name, "#!/bin/sh\n"+text)
		if err := os.Chmod(filepath.Join(hooks, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func situationsOfOrigin() []situation {
	here := func(h home) string { return filepath.Join(h.Path, ".git") }
	there := home.origin
	return []situation{
		{name: "a hook of origin refuses", arrange: hookOf(there, "pre-receive", "echo not today >&2; exit 1\n"),
			ends: asBefore, says: []string{"not today", "nothing was changed, here or there"}},
		{name: "a hook of the person's refuses the push", arrange: hookOf(here, "pre-push", "echo no >&2; exit 1\n"),
			ends: asBefore, says: []string{"nothing was changed, here or there"}},
		{name: "a hook of the person's never ends", arrange: hookOf(here, "pre-push", "exec tail -f /dev/null\n"),
			ends: asBefore, says: []string{"did not end within", "pre-push", "nothing was changed, here or there"}},
		{name: "hooks that refuse every commit and move", arrange: all(
			hookOf(here, "reference-transaction", "exit 1\n"), hookOf(here, "commit-msg", "exit 1\n"),
			hookOf(here, "pre-merge-commit", "exit 1\n"), hookOf(here, "post-merge", "touch left\n")), ends: forwarded},
		{name: "tags that a push would take along", arrange: all(run("config", "push.followTags", "true"),
			run("tag", "-a", "-m", "mine", "mine", "topic")), ends: forwarded},
		{name: "origin was renamed to another default branch", arrange: func(t *testing.T, h home) {
			t.Helper()
			gitIn(t, h.origin(), "branch", "-m", "main", "trunk")
		}, ends: asBefore, says: []string{"--default-branch", "nothing was changed"}},
		{name: "origin is gone", arrange: func(t *testing.T, h home) {
			t.Helper()
			gitIn(t, h.Path, "remote", "set-url", "origin", filepath.Join(h.root, "gone.git"))
		}, ends: asBefore, says: []string{"cannot fetch", "nothing was changed"}},
		{name: "commits that were never pushed", arrange: func(t *testing.T, h home) {
			t.Helper()
			commit(t, h.Path, "mine.txt", "mine\n")
		}, ends: asBefore, says: []string{"has 1 commits that origin has not", "nothing was changed"}},
		{name: "a submodule with work in it", arrange: func(t *testing.T, h home) {
			t.Helper()
			lib := filepath.Join(h.root, "lib")
			gitIn(t, h.root, "init", "-q", lib)
			commit(t, lib, "lib.txt", "lib\n")
			gitIn(t, h.Path, "submodule", "--quiet", "add", lib, "lib")
			gitIn(t, h.Path, "commit", "-q", "-m", "Add the module")
			gitIn(t, h.Path, "push", "-q", "origin", "main")
			write(t, h.Path, "lib/lib.txt", "mine\n")
		}, ends: forwarded},
		{name: "a shallow clone whose history is too short", arrange: func(t *testing.T, h home) {
			t.Helper()
			main := gitIn(t, h.Path, "rev-parse", "main")
			other := commit(t, h.colleague(t), "theirs.txt", "x")
			gitIn(t, filepath.Join(h.root, "colleague"), "push", "-q", "origin", "HEAD:main")
			gitIn(t, h.Path, "fetch", "-q", "origin")
			write(t, h.Path, ".git/shallow", main+"\n"+other+"\n")
		}, ends: asBefore, says: []string{"shallow", "fetch --unshallow"}},
	}
}

// Each situation ends merged, or exactly as it was before, with a message that says what to do.
func TestAMergeWithSomethingInTheWay_mergesOrChangesNothing(t *testing.T) {
	t.Parallel()
	const least = 20
	if n := len(situations()); n < least {
		t.Fatalf("there are %d situations, want %d at least", n, least)
	}
	for _, s := range situations() {
		t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			s.happens(t)
		})
	}
}

func (s situation) happens(t *testing.T) {
	t.Helper()
	h := newHomeWithOrigin(t)
	slot := h.prepared(t, "topic", "T1")
	commit(t, slot.Dir, "deep/er.txt", "x\n")
	commit(t, slot.Dir, "a.txt", "two\n")
	head := commit(t, slot.Dir, "work.txt", "x\n")
	release(t, slot, "T1")
	if s.arrange != nil {
		s.arrange(t, h)
	}
	request := pushed("topic")
	request.Push, request.Message = !s.here, "Merge"
	into := h.into()
	if strings.HasSuffix(s.name, "never ends") {
		into.Patience = 200 * time.Millisecond
	}
	before := seen(t, h)
	done, err := into.Merge(t.Context(), request)
	after := seen(t, h)
	if s.ends == asBefore {
		wantError(t, err, s.says...)
		sameAs(t, before, after)
		return
	}
	if err != nil || done.Behind != "" {
		t.Fatalf("it was not merged: %v %s", err, done.Behind)
	}
	for _, where := range []string{h.Path, h.origin()} {
		if _, err := try(where, "merge-base", "--is-ancestor", head, "main"); err != nil {
			t.Errorf("the work is not on the default branch of %q", where)
		}
	}
	moved := []string{"ref refs/heads/main", "ref refs/heads/trunk", "origin refs/heads/main"}
	if s.ends == forwarded {
		for _, path := range []string{"work.txt", "a.txt", "deep/er.txt"} { // those of the branch
			moved = append(moved, "file "+path, "index "+path)
		}
	}
	for _, what := range moved {
		delete(before, what)
		delete(after, what)
	}
	sameAs(t, before, after)
}

// seen is all of the person's, byte for byte, and what the branches here and on origin are at. What is known of origin
// here is not theirs: a fetch may change it.
func seen(t *testing.T, h home) map[string]string {
	t.Helper()
	all := map[string]string{"status": gitIn(t, h.Path, "status", "--porcelain", "-z"),
		"stashes": gitIn(t, h.Path, "stash", "list")}
	head, err := try(h.Path, "symbolic-ref", "HEAD")
	if err != nil {
		head = gitIn(t, h.Path, "rev-parse", "HEAD")
	}
	all["HEAD"] = head
	for _, folder := range []string{h.Path, filepath.Join(h.root, "second")} {
		addFiles(t, all, h.root, folder)
	}
	for _, line := range strings.Split(gitIn(t, h.Path, "ls-files", "-s"), "\n") {
		about, path, _ := strings.Cut(line, "\t")
		all["index "+path] = about
	}
	for kind, dir := range map[string]string{"ref ": h.Path, "origin ": h.origin()} {
		for _, line := range strings.Split(gitIn(t, dir, "for-each-ref", "--format=%(refname) %(objectname)"), "\n") {
			name, commit, _ := strings.Cut(line, " ")
			if !strings.HasPrefix(name, "refs/remotes/") {
				all[kind+name] = commit
			}
		}
	}
	return all
}

func addFiles(t *testing.T, all map[string]string, root, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err):
			return nil
		case err == nil && e.Name() == ".git" && e.IsDir():
			return fs.SkipDir
		case err != nil || !e.Type().IsRegular():
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		if filepath.Base(folder) == "second" {
			name, _ = filepath.Rel(root, path)
		}
		info, _ := e.Info()
		all["file "+filepath.ToSlash(name)] = fmt.Sprintf("%x %s", sha256.Sum256(text), info.Mode())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sameAs compares what was seen before and after.
func sameAs(t *testing.T, before, after map[string]string) {
	t.Helper()
	for what, was := range before {
		if now, there := after[what]; !there || now != was {
			t.Errorf("%s was %q and is %q", what, was, now)
		}
	}
	for what, now := range after {
		if _, there := before[what]; !there {
			t.Errorf("%s was not there and is %q", what, now)
		}
	}
}
