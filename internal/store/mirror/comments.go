package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/rules/diff"
	"orange/internal/run/proc"
)

// mostComments is the size of a file of comments in bytes up to which it is read.
const mostComments = 4 << 20

// comments is the file of the comments that people wrote on the work of a task and have not sent. It is not in the
// task's folder, which the task's agents may write to.
func (f Files) comments(project, id string) string {
	return filepath.Join(f.Home, "comments", project, id+".json")
}

// Comments are what people wrote on the work of a task and have not sent.
func (f Files) Comments(project, id string) ([]diff.Comment, error) {
	path := f.comments(project, id)
	text, there, err := readIfThere(path, mostComments)
	if err != nil {
		return nil, fmt.Errorf("read the comments: %w", err)
	}
	if !there {
		return nil, nil
	}
	var out []diff.Comment
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("cannot read the comments in %q: %w; correct the file, or move it away", path, err)
	}
	return out, nil
}

// ChangeComments changes the comments of a task while no other process does, and answers those that are left.
func (f Files) ChangeComments(ctx context.Context, project, id string,
	change func([]diff.Comment) []diff.Comment) ([]diff.Comment, error) {
	release, err := f.Lock(ctx, "comments")
	if err != nil {
		return nil, fmt.Errorf("keep the comments: %w", err)
	}
	defer release()
	before, err := f.Comments(project, id)
	if err != nil {
		return nil, err
	}
	after := change(before)
	path := f.comments(project, id)
	if len(after) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return before, fmt.Errorf("remove the comments that were sent: %w", err)
		}
		return nil, nil
	}
	if err := proc.ReplaceJSON(path, after); err != nil {
		return before, fmt.Errorf("keep the comments: %w", err)
	}
	return after, nil
}
