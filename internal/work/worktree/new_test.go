package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// New is what git does not know and does not ignore. A .gitignore that is itself new hides nothing.
func TestSnapshot_namesNewFilesWhateverANewIgnoreFileSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(t *testing.T, h home, s Slot)
		want string
	}{
		"nothing": {func(*testing.T, home, Slot) {}, ""},
		"a file, and one that git ignores": {func(t *testing.T, _ home, s Slot) {
			write(t, s.Dir, "new.txt", "x")
			write(t, s.Dir, "cache/x", "x")
			write(t, s.Dir, "sub/x.log", "x")
		}, "new.txt"},
		"a new ignore file hides nothing, not even itself": {func(t *testing.T, _ home, s Slot) {
			write(t, s.Dir, "tests/.gitignore", "*\n")
			write(t, s.Dir, "tests/helper.py", "x")
			write(t, s.Dir, "cache/.gitignore", "*\n")
		}, "tests/.gitignore|tests/helper.py"},
		"one that the commit has counts in its folder": {func(t *testing.T, _ home, s Slot) {
			commit(t, s.Dir, "a [b]/.gitignore", "# rules\n\n*.tmp\n!keep.tmp\n/only\nin/side\n\\#odd\nend/\n")
			for _, file := range []string{"a [b]/x.tmp", "a [b]/deep/y.tmp", "a [b]/keep.tmp", "a [b]/only",
				"a [b]/deep/only", "a [b]/in/side", "a [b]/deep/in/side", "a [b]/#odd",
				"a [b]/deep/end/z", "z.tmp", "only"} {
				write(t, s.Dir, file, "x")
			}
		}, "a [b]/deep/in/side|a [b]/deep/only|a [b]/keep.tmp|only|z.tmp"},
		"the deeper one decides": {func(t *testing.T, _ home, s Slot) {
			commit(t, s.Dir, "sub/deep/.gitignore", "!*.log\n")
			write(t, s.Dir, "sub/deep/a.log", "x")
			write(t, s.Dir, "sub/b.log", "x")
		}, "sub/deep/a.log"},
		"what a person excludes": {func(t *testing.T, h home, s Slot) {
			write(t, s.Dir, "a.swp", "x") // see pinned
			write(t, h.Path, ".git/info/exclude", read(t, h.Path, ".git/info/exclude")+"*.bak\n")
			write(t, s.Dir, "a.bak", "x")
		}, ""},
		"what the shared configuration excludes": {func(t *testing.T, h home, s Slot) {
			gitIn(t, h.Path, "config", "core.excludesFile", filepath.Join(h.root, "mine"))
			write(t, h.root, "mine", "*\n")
			write(t, s.Dir, "a.swp", "x")
			write(t, s.Dir, "a.txt2", "x")
		}, "a.txt2"},
		"one that is not laid out counts as the index has it": {func(t *testing.T, _ home, s Slot) {
			commit(t, s.Dir, "far/.gitignore", "*.tmp\n")
			gitIn(t, s.Dir, "update-index", "--skip-worktree", "far/.gitignore")
			if err := os.Remove(filepath.Join(s.Dir, "far/.gitignore")); err != nil {
				t.Fatal(err)
			}
			write(t, s.Dir, "far/a.tmp", "x")
			write(t, s.Dir, "far/a.go", "x")
		}, "far/a.go"},
		"a rule that names nothing, and a folder that no rule can name": {func(t *testing.T, _ home, s Slot) {
			commit(t, s.Dir, "odd/.gitignore", "/\n! \n")
			commit(t, s.Dir, "two\nlines/.gitignore", "*\n")
			write(t, s.Dir, "odd/a", "x")
			write(t, s.Dir, "lines/b", "x")
			write(t, s.Dir, "two\nlines/c", "x")
		}, "lines/b|odd/a|two\nlines/c"},
		"files in the place of a submodule": {func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "update-index", "--add", "--cacheinfo", "160000,"+gitIn(t, s.Dir, "rev-parse",
				"HEAD")+",mod")
			gitIn(t, s.Dir, "commit", "-q", "-m", "link")
			write(t, s.Dir, "mod/precious", "x")
		}, "mod/"},
		"a repository": {func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "init", "-q", "lib")
			commit(t, filepath.Join(s.Dir, "lib"), "a", "x")
		}, "lib/"},
		"what the project generates": {func(t *testing.T, _ home, s Slot) {
			write(t, s.Dir, "report.xml", "x")
			write(t, s.Dir, "gen/deep/x.go", "x")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "topic", "T1")
			s.Generated = []string{"report.xml", "/gen/"}
			c.do(t, h, s)
			want(t, "new", strings.Join(stand(t, s).New, "|"), c.want)
		})
	}
}

// Git's own rules are the oracle: where every ignore file is committed, both name the same files.
func TestSnapshot_ignoresWhatGitIgnores(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.prepared(t, "topic", "T1")
	rules := []string{"a", "/a", "a/", "a/b", "**/a", "a/**", "!a", "*.x", "a*", "[ab]", `\!a`, "a ", `a\ `, "/a/*/b",
		"?"}
	for i, rule := range rules {
		for j, other := range rules {
			dir := filepath.Join("d", "r"+string(rune('a'+i)), "o"+string(rune('a'+j)))
			write(t, s.Dir, filepath.Join(dir, ".gitignore"), rule+"\n"+other+"\r\n")
			for _, file := range []string{"a", "b", "ab", "x.x", "c/a", "c/b", "e/a/b", "!a", "a b", "f/g/b"} {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(filepath.Join(s.Dir, path)), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, s.Dir, path, "x")
			}
		}
	}
	gitIn(t, s.Dir, "add", "-f", "--", ":(glob)**/.gitignore")
	gitIn(t, s.Dir, "commit", "-q", "-m", "rules")
	gitIn(t, s.Dir, "config", "core.quotePath", "false")
	theirs := strings.Split(gitIn(t, s.Dir, "ls-files", "--others", "--exclude-standard"), "\n")
	got := stand(t, s).New
	if len(theirs) < 1000 || strings.Join(got, "\n") != strings.Join(theirs, "\n") {
		have := map[string]bool{}
		for _, file := range theirs {
			have[file] = true
		}
		for _, file := range got {
			if !have[file] {
				t.Errorf("git ignores %q", file)
			}
			delete(have, file)
		}
		for file := range have {
			t.Errorf("git does not ignore %q", file)
		}
		t.Errorf("git names %d files, Orange %d", len(theirs), len(got))
	}
}
