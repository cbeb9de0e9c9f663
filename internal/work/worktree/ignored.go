package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/rules/printable"
	"orange/internal/run/proc"
)

// leftNote is the companion of a slot that says what git ignores there, and which task left it.
const leftNote = ".ignored.json"

// leftFiles are what git ignores in a free slot: caches that keep it warm, and whatever else a task put there.
type leftFiles struct {
	Task  string   `json:"task"`
	Names []string `json:"names"` // the first of them; a folder stands for all that is in it
	More  int      `json:"more,omitempty"`
	Files int      `json:"files"`
	Bytes int64    `json:"bytes"`
}

// String tells which files, how large they are together, and whose they were.
func (l leftFiles) String() string {
	names := strings.Join(l.Names, ", ")
	if l.More > 0 {
		names += fmt.Sprintf(" and %d more", l.More)
	}
	return fmt.Sprintf("%s (%d files, %s, of task %s)", names, l.Files, printable.Size(l.Bytes), l.Task)
}

// Left tells what the last task left in the slot that git ignores; empty where it left nothing.
func (s Slot) Left() (string, error) {
	var left leftFiles
	err := proc.ReadJSON(s.Companion(leftNote), &left)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot read what was left in workspace %q: %w", s.Dir, err)
	}
	if len(left.Names) == 0 {
		return "", nil
	}
	return left.String(), nil
}

// ignoredFiles removes what git ignores in a slot that was cleared, where the project wants that, and notes what is
// left of it.
func (s sweep) ignoredFiles(ctx context.Context, taskID string) error {
	if s.CleanIgnored {
		// Twice -f: what git ignores is a cache, a repository in it too.
		if _, err := s.run(ctx, "clean", "-d", "-X", "-f", "-f", "-q"); err != nil {
			return fmt.Errorf("remove what git ignores: %w", err)
		}
		if err := s.forgetSetUp(); err != nil { // it may have made some of it
			return err
		}
	}
	out, err := s.run(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return fmt.Errorf("list what git ignores: %w", err)
	}
	const most = 10
	left := leftFiles{Task: taskID}
	for _, name := range strings.Split(string(out.Stdout), "\x00") {
		if name == "" {
			continue
		}
		files, bytes := sizeOf(filepath.Join(s.Dir, filepath.FromSlash(name)))
		left.Files, left.Bytes = left.Files+files, left.Bytes+bytes
		if len(left.Names) < most {
			left.Names = append(left.Names, name)
		} else {
			left.More++
		}
	}
	text, err := json.Marshal(left)
	if err == nil {
		err = proc.ReplaceCopy(s.Companion(leftNote), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note what git ignores: %w", err)
	}
	return nil
}
