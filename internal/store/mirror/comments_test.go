package mirror_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orange/internal/rules/diff"
	"orange/internal/store/mirror"
)

func TestComments_areKeptUntilNoneIsLeft(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	path := filepath.Join(files.Home, "comments", one.Project, one.ID+".json")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { // none of several writers loses what another wrote
			_, err := files.ChangeComments(t.Context(), one.Project, one.ID, func(c []diff.Comment) []diff.Comment {
				return append(c, diff.Comment{Place: diff.Place{File: "a.go", From: 1, To: 2}, Text: "why\x1b?"})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	kept, err := files.Comments(one.Project, one.ID)
	must(t, err)
	if len(kept) != 4 || kept[3].Text != "why\x1b?" || kept[3].Place != (diff.Place{File: "a.go", From: 1, To: 2}) {
		t.Errorf("kept are %+v", kept)
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v", info.Mode())
	}
	none := func([]diff.Comment) []diff.Comment { return nil }
	left, err := files.ChangeComments(t.Context(), one.Project, one.ID, none)
	if _, gone := os.Stat(path); err != nil || len(left) != 0 || !os.IsNotExist(gone) {
		t.Errorf("left are %v, %v; the file: %v", left, err, gone)
	}
}

func TestComments_thatCannotBeReadAreNotOverwritten(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	path := filepath.Join(files.Home, "comments", one.Project, one.ID+".json")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte("{broken"), 0o600))
	_, err := files.ChangeComments(t.Context(), one.Project, one.ID, func(c []diff.Comment) []diff.Comment { return c })
	if err == nil || !strings.Contains(err.Error(), "correct the file, or move it away") || read(t, path) != "{broken" {
		t.Errorf("the error is %v, the file %q", err, read(t, path))
	}
}

func TestTrash_takesTheCommentsToo(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	_, err := files.ChangeComments(t.Context(), one.Project, one.ID, func([]diff.Comment) []diff.Comment {
		return []diff.Comment{{Text: "never sent"}}
	})
	must(t, err)
	where, err := files.Trash(one.Project, one.ID)
	must(t, err)
	if text := read(t, filepath.Join(where, "comments.json")); !strings.Contains(text, "never sent") {
		t.Errorf("in the trash is %q", text)
	}
	left, err := mirror.Files{Home: files.Home}.Comments(one.Project, one.ID)
	if err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
