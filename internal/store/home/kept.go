package home

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// keptFolder holds a copy of every workflow that a task was pinned to, named by its digest.
// Its name begins with a dot: these are not workflows that a task can be created under.
const keptFolder = ".kept"

// KeptPath is where the copy of the workflow with that digest is.
func (h *Home) KeptPath(digest string) string {
	return filepath.Join(h.Dir, "workflows", keptFolder, digest+".yml")
}

// keep keeps a workflow's text outside the record too, so that a task can still be judged by its own rules
// when the record is lost. A copy that is there stays as it is.
func (h *Home) keep(digest string, text []byte) error {
	path := h.KeptPath(digest)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := keepAt(path, text); err != nil {
		return fmt.Errorf("keep a copy of the workflow: %w", err)
	}
	return nil
}

// keepAt writes what is known of a workflow.
func keepAt(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), task.PrivateFolder); err != nil {
		return err
	}
	return proc.ReplaceFile(path, text)
}

// recover finds the text of a workflow that the record has lost, and gives it back to the record.
func (h *Home) recover(ctx context.Context, ref task.WorkflowRef) ([]byte, error) {
	text, err := h.findLost(ref.Digest)
	if err != nil {
		return nil, err
	}
	def, err := h.ParseWorkflow(ref.Name+".yml", text)
	if err != nil {
		return nil, err
	}
	ref.Name, ref.Version = def.Name, def.Version
	return text, h.Keeper.SaveWorkflow(ctx, ref, text)
}

// findLost looks for a text with the digest among the copies, and among the workflows that can be had today.
func (h *Home) findLost(digest string) ([]byte, error) {
	text, err := proc.ReadFile(h.KeptPath(digest))
	if err == nil && digestOf(text) == digest {
		return text, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the copy of the workflow: %w", err)
	}
	all, err := h.ListWorkflows()
	if err != nil {
		return nil, err
	}
	var unread []error
	for _, l := range all {
		if l.Err == nil && digestOf(l.Text) == digest {
			return l.Text, nil
		}
		unread = append(unread, l.Err)
	}
	// One that ships may be hidden by a file of the person's.
	text, err = h.shippedText(digest)
	if err != nil || text != nil {
		return text, err
	}
	if err := errors.Join(unread...); err != nil {
		return nil, fmt.Errorf("look for the workflow with the digest %q: %w", digest, err)
	}
	return nil, task.Notef(task.ErrNotFound,
		"cannot find the workflow with the digest %q, in the record or among the files; put its file at %q",
		digest, h.KeptPath(digest))
}

// shippedText is the workflow with that digest among those that ship, or nil.
func (h *Home) shippedText(digest string) ([]byte, error) {
	all, err := builtIns(h.Workflows)
	for _, l := range all {
		if digestOf(l.Text) == digest {
			return l.Text, nil
		}
	}
	return nil, err
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
