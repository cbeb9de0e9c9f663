package worktree

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestMisfits_areWhatNoWorktreeOfTheCommitCouldDoWithout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make   func(t *testing.T, h home)
		subdir string
		lacks  map[string]string
		want   string
	}{
		"nothing":                  {subdir: "sub"},
		"a folder":                 {subdir: "sub/none", want: `has no folder "sub/none", in which`},
		"a file for a folder":      {subdir: "sub/deep.txt", want: `has no folder "sub/deep.txt"`},
		"what lies below a link":   {make: linkedFolder, subdir: "other/x"},
		"a document and no place":  {make: written("TASK.md", ".orange"), want: `has a TASK.md and a file ".orange"`},
		"a document and its place": {make: written("TASK.md", ".orange/x")},
		"a file in its place":      {make: written(".orange")},
		"a filter by another name, and in a comment": {make: written("sub/.gitattributes"),
			lacks: map[string]string{"bi": "git-big", "gone": "x"}},
		"a filter": {make: written("sub/.gitattributes"), lacks: map[string]string{"big": "git-big", "other": "x"},
			want: `has files, or may have, that git gives to the filter "big", whose program "git-big" is not installed`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if c.make != nil {
				c.make(t, h)
				gitIn(t, h.Path, "add", "-A")
				gitIn(t, h.Path, "commit", "-q", "-m", name)
			}
			base, err := h.Base(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, err := Needs{Repo: h.Repo}.Misfits(t.Context(), base, c.subdir, c.lacks)
			if err != nil || len(got) > 1 || (len(got) == 1) != (c.want != "") ||
				len(got) == 1 && !strings.Contains(got[0].Found, c.want) {
				t.Errorf("found %v, %v, want %q", got, err, c.want)
			}
		})
	}
}

func written(names ...string) func(t *testing.T, h home) {
	return func(t *testing.T, h home) {
		t.Helper()
		for _, name := range names {
			write(t, h.Path, name, "*.bin filter=big -text\n# *.x filter=gone\n")
		}
	}
}

func linkedFolder(t *testing.T, h home) {
	t.Helper()
	if err := os.Symlink("sub", h.Path+"/other"); err != nil {
		t.Fatal(err)
	}
}

func TestCommitting_namesRequiredFiltersWhoseProgramIsMissing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for name, c := range map[string]struct{ required, process, smudge string }{
		"gone":    {"true", "no-such-program filter", "cat"},
		"smudged": {"1", "", "no-such-program %f"},
		"there":   {"true", "git filter", ""},
		"loose":   {"false", "no-such-program filter", ""},
		"shell":   {"true", "", "'no-such-program' x"},
	} {
		for key, value := range map[string]string{"required": c.required, "process": c.process, "smudge": c.smudge} {
			if value != "" {
				gitIn(t, h.Path, "config", "filter."+name+"."+key, value)
			}
		}
	}
	does, err := Needs{Repo: h.Repo}.Committing(t.Context())
	if err != nil || fmt.Sprint(does.Missing) != "map[gone:no-such-program smudged:no-such-program]" {
		t.Errorf("found %v, %v", does.Missing, err)
	}
}
