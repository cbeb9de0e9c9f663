package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"orange/internal/explore"
	"orange/internal/task"
	"orange/internal/workflow"
)

// provedNote is where it is noted that the workflow with a digest was looked at, and with what outcome.
func (h *Home) provedNote(digest string) string {
	return strings.TrimSuffix(h.Kept(digest), ".yml") + ".proved"
}

// prove refuses a workflow that does not keep what is proved of every workflow. What was looked at once is not looked at again:
// a digest names the very text. One with too much to follow is let through: "orange workflow check" says so.
func (h *Home) prove(def *workflow.Definition) error {
	path, note := h.provedNote(def.Digest), fmt.Sprintf("edition %d\n", explore.Edition)
	known, err := os.ReadFile(path)
	if err == nil && string(known) == note {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look whether the workflow was proved: %w", err)
	}
	failed := explore.Check(def, explore.Most).Failed()
	if len(failed) == 0 {
		return keepAt(path, def.Digest, []byte(note))
	}
	texts := make([]string, len(failed))
	for i, v := range failed {
		texts[i] = v.String()
	}
	return task.Notef(task.ErrUsage, "cannot use the workflow %q: it does not keep what is proved of every workflow\n%s\nmend that, or say why it shall be so: allow: {%s: REASON}; %q tells the same",
		def.Name, strings.Join(texts, "\n"), failed[0].Name, "orange workflow check "+def.Name)
}
