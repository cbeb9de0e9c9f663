package home

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"orange/internal/edition"
	"orange/internal/explore"
	"orange/internal/proc"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Proved is where it is noted what came of following a task through the workflow with that digest.
func (h *Home) Proved(digest string) string {
	return strings.TrimSuffix(h.Kept(digest), ".yml") + ".proved"
}

// The notes. One that says anything else, or is of another edition, is as good as none.
func provedNote(digest string) string {
	return fmt.Sprintf("%s: proved by edition %s\n", digest, edition.Rules)
}

func vastNote(digest string) string {
	return fmt.Sprintf("%s: more than edition %s could follow, at most %d configurations\n", digest,
		edition.Rules, explore.MostAtCreation)
}

// verdict is what is known of a workflow: a refusal, or nil.
type verdict struct{ err error }

// prove refuses a workflow that does not keep what is proved of every workflow. A text is followed once: a digest
// never comes to name another one. Those that ship are proved before they do.
func (h *Home) prove(def *workflow.Definition) error {
	if known, there := h.proved.Load(def.Digest); there {
		return known.(verdict).err
	}
	if text, err := h.shipped(def.Digest); err != nil || text != nil {
		return err
	}
	path := h.Proved(def.Digest)
	note, err := proc.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("check whether the workflow was proved: %w", err)
	}
	var refused error
	switch string(note) {
	case provedNote(def.Digest):
	case vastNote(def.Digest):
		h.warnVast(def)
	default:
		report := h.check(def)
		if len(report.Refused()) > 0 {
			refused = refusal(def, report) // which is noted nowhere: what is fixed is another text
			break
		}
		note := provedNote(def.Digest)
		if len(report.NotProved()) > 0 {
			note = vastNote(def.Digest)
			h.warnVast(def)
		}
		if err := keepAt(path, []byte(note)); err != nil {
			return fmt.Errorf("note that the workflow was proved: %w", err)
		}
	}
	h.proved.Store(def.Digest, verdict{refused})
	return refused
}

func (h *Home) check(def *workflow.Definition) explore.Report {
	if h.Check == nil {
		return explore.Check(def, explore.MostAtCreation)
	}
	return h.Check(def, explore.MostAtCreation)
}

// warnVast reports that nothing is known of a workflow, which is no reason to refuse it.
func (h *Home) warnVast(def *workflow.Definition) {
	if h.Warn != nil {
		h.Warn(fmt.Sprintf("the workflow %q is not proved: there is more to follow than is followed while you "+
			"wait; %q follows more, and says what is too much",
			def.Name, "orange workflow check "+def.Name))
	}
}

// refusal reports what "orange workflow check" tells.
func refusal(def *workflow.Definition, report explore.Report) error {
	lines := []string{fmt.Sprintf("cannot use the workflow %q: it does not keep what is proved of a workflow",
		def.Name)}
	for _, v := range report.Refused() {
		lines = append(lines, v.Tell(def.File))
	}
	lines = append(lines, "correct it, or say in the file why it is right: "+report.Excuse())
	return task.Notef(task.ErrUsage, "%s", strings.Join(lines, "\n"))
}
