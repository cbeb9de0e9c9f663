package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"orange/internal/work/merge"
)

// Git hashes hardly any object that it reads. Each row puts another object's content under the name of one.
func TestObjectsThatWereWrittenOver_areNeitherJudgedNorMerged(t *testing.T) {
	t.Parallel()
	const ours = "holds something else than its name says" // else git may say so itself, in its own words
	for name, row := range map[string]struct{ of, by, says string }{
		"a file":         {of: "topic:sub/deep.txt", by: "topic:a.txt", says: ours},
		"a folder":       {of: "topic:sub", by: "main:sub", says: ours},
		"the top folder": {of: "topic^{tree}", by: "main^{tree}"},
		"the commit":     {of: "topic", by: "main"},
		"nothing":        {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "topic", "T1")
			commit(t, s.Dir, "sub/deep.txt", "deeper\n")
			commit(t, h.Path, "other.txt", "other\n") // so that a merge makes trees
			object := func(of string) string {
				of = gitIn(t, h.Path, "rev-parse", of)
				return filepath.Join(h.Path, ".git", "objects", of[:2], of[2:])
			}
			if row.of != "" {
				name, by := object(row.of), object(row.by)
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(by)
				if err == nil {
					err = os.WriteFile(name, text, 0o444)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			before := gitIn(t, h.Path, "rev-parse", "main")
			_, _, looked := s.Files().Snapshot(t.Context())
			_, merged := h.into().Merge(t.Context(), merge.Plan{Branch: "topic", Message: "Merge"})
			_, stamped := s.Files().Stamps(t.Context())
			if row.of == "" {
				want(t, "a look", looked, nil)
				want(t, "a merge", merged, nil)
				want(t, "a check", stamped, nil)
				return
			}
			wantError(t, looked, row.says)
			wantError(t, merged, row.says)
			want(t, "the default branch", gitIn(t, h.Path, "rev-parse", "main"), before)
			if row.of != "topic:sub/deep.txt" { // whose content is compared with the file
				wantError(t, stamped, row.says)
			}
		})
	}
}

// Anyone who does not forbid it sees the other object, or the other parents: a reviewer does, and a merge does not.
func TestObjectsThatGitShowsInAnothersPlace_areNeitherJudgedNorMerged(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		arrange func(t *testing.T, h home)
		says    string
	}{
		"a file": {func(t *testing.T, h home) {
			t.Helper()
			gitIn(t, h.Path, "replace", gitIn(t, h.Path, "rev-parse", "topic:a.txt"), gitIn(t, h.Path, "rev-parse",
				"main:a.txt"))
		}, "replace -d"},
		"a file, packed": {func(t *testing.T, h home) {
			t.Helper()
			gitIn(t, h.Path, "replace", gitIn(t, h.Path, "rev-parse", "topic:a.txt"), gitIn(t, h.Path, "rev-parse",
				"main:a.txt"))
			gitIn(t, h.Path, "pack-refs", "--all")
			if err := os.RemoveAll(filepath.Join(h.Path, ".git", "refs", "replace")); err != nil {
				t.Fatal(err)
			}
		}, "replace -d"},
		"the parents of a commit": {func(t *testing.T, h home) {
			t.Helper()
			write(t, h.Path, ".git/info/grafts", gitIn(t, h.Path, "rev-parse", "topic")+"\n")
		}, "other parents"},
		"a file that is no part of it": {func(t *testing.T, h home) {
			t.Helper()
			gitIn(t, h.Path, "replace", gitIn(t, h.Path, "rev-parse", "main:sub/deep.txt"), gitIn(t, h.Path,
				"rev-parse",
				"main:a.txt"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "topic", "T1")
			commit(t, s.Dir, "a.txt", "evil\n")
			row.arrange(t, h)
			_, _, looked := s.Files().Snapshot(t.Context())
			_, merged := h.into().Merge(t.Context(), merge.Plan{Branch: "topic", Message: "Merge"})
			if row.says == "" {
				want(t, "a look", looked, nil)
				want(t, "a merge", merged, nil)
				return
			}
			wantError(t, looked, row.says)
			wantError(t, merged, row.says)
		})
	}
}
