package evidence

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// deep makes a folder with chains of folders in it, each so many levels deep with one file at its end, and
// answers how many folders that are.
func deep(t *testing.T, chains, levels int) (dir string, folders int) {
	t.Helper()
	dir = t.TempDir()
	for i := range chains {
		chain := filepath.Join(dir, fmt.Sprint(i), strings.Repeat("a/", levels-2))
		if err := os.MkdirAll(chain, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(chain, "b"), []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, 1 + chains*(levels-1)
}

func TestWalk_looksIntoEachFolderOnceHoweverManyDoublestarsThereAre(t *testing.T) {
	t.Parallel()
	dir, folders := deep(t, 5, 60)
	for pattern, found := range map[string]int{
		"**/b":                      5,
		"**/**/**/**/**/**/**/**/b": 5,
		"**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/b":          5,
		"**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/none":         0,
		"**/*a*/**/*a*/**/*a*/**/*a*/**/*a*/**/*a*/**/{b,c}": 5,
	} {
		w := walk{ctx: t.Context(), in: os.DirFS(dir), pattern: path.Clean(pattern), levels: maxLevels}
		if err := w.folder("."); err != nil || len(w.files) != found || w.listed != folders || w.seen != folders-1+5 {
			t.Errorf("%s: found %d files, looked into %d folders of %d and at %d names, %v", pattern,
				len(w.files), w.listed, folders, w.seen, err)
		}
	}
}

func TestWalk_goesNoDeeperThanItMust(t *testing.T) {
	t.Parallel()
	dir, _ := deep(t, 3, maxLevels+5)
	w := walk{ctx: t.Context(), in: os.DirFS(dir), pattern: "*/a/*", levels: 3}
	if err := w.folder("."); err != nil || w.listed != 7 {
		t.Errorf("looked into %d folders, %v", w.listed, err)
	}
	w = walk{ctx: t.Context(), in: os.DirFS(dir), pattern: "**/b", levels: maxLevels}
	var bound *tooMuch
	if err := w.folder("."); !errors.As(err, &bound) ||
		bound.what != "folders nested more than 100 levels deep" || w.listed != maxLevels {
		t.Errorf("looked into %d folders, %v", w.listed, err)
	}
}
