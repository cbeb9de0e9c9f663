package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"orange/internal/document"
	"orange/internal/forge"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
)

// What GitHub takes, and what is read of a template.
const (
	mostTitle    = 256     // characters
	mostBody     = 60_000  // bytes; GitHub takes 65,536 characters
	mostTemplate = 1 << 16 // bytes
)

// createPR pushes the task's branch and opens a pull request, unless it has one that is open, or merged just as
// the branch is now.
func (h *Executor) createPR(ctx context.Context, job record.Job) (record.Effect, error) {
	t := job.Task
	effect, err := h.pushBranch(ctx, job)
	if err != nil {
		return record.Effect{}, err
	}
	if effect.Pushed == nil {
		return record.Effect{}, fmt.Errorf("cannot open a pull request for %q: the repository has no remote "+
			"called origin; add the one on GitHub with %q",
			t.Branch, "git remote add origin URL")
	}
	known, err := h.Forge.Find(ctx, job.Project.Path, t.Branch)
	if err != nil {
		return record.Effect{}, err
	}
	if pr, found := standing(known, *effect.Pushed); found {
		return withPR(effect, t, pr, "has its pull request already"), nil
	}
	draft, err := h.draft(ctx, job)
	if err != nil {
		return record.Effect{}, err
	}
	pr, err := h.Forge.Create(ctx, job.Project.Path, draft)
	if err != nil {
		return record.Effect{}, err
	}
	pr.Commit = *effect.Pushed
	return withPR(effect, t, pr, "opened its pull request"), nil
}

// standing is the pull request that makes another one needless. What comes from another repository is a
// stranger's, who has a branch of the same name, unless it has the very commit: then origin is the fork.
func standing(known []record.PullRequest, commit string) (record.PullRequest, bool) {
	for _, state := range []string{record.PROpen, record.PRMerged} {
		for _, pr := range known {
			if pr.State == state && (pr.Commit == commit || state == record.PROpen && !pr.Foreign) {
				return pr, true
			}
		}
	}
	return record.PullRequest{}, false
}

// withPR adds to the effect of the push what became of the pull request. The record may lack one that an attempt
// opened which was cut short.
func withPR(effect record.Effect, t task.Task, pr record.PullRequest, how string) record.Effect {
	if t.PRURL != pr.URL {
		effect.Events = append(effect.Events, history.Event{Type: history.PRCreated, Data: map[string]string{
			"url": pr.URL, "branch": t.Branch}})
	}
	effect.PR = &pr
	effect.Said = fmt.Sprintf("%s %s: %s", t.Branch, how, pr.URL)
	return effect
}

// draft is the pull request as it is asked for: the task's summary over the repository's own template and what
// the worker handed over.
func (h *Executor) draft(ctx context.Context, job record.Job) (forge.Draft, error) {
	t := job.Task
	title, _, _ := strings.Cut(strings.TrimSpace(t.Summary), "\n")
	if title = strings.TrimSpace(title); title == "" {
		title = t.Branch
	}
	if runes := []rune(title); len(runes) > mostTitle {
		title = string(runes[:mostTitle-1]) + "…"
	}
	dir := job.Project.Path
	if t.Workspace != "" {
		view, err := h.Workspaces.View(ctx, t)
		if err != nil {
			return forge.Draft{}, err
		}
		dir = view.Dir
	}
	var parts []string
	template, err := templateIn(dir)
	if err != nil {
		return forge.Draft{}, fmt.Errorf("read the template for pull requests: %w", err)
	}
	if template != "" {
		parts = append(parts, template)
	}
	text, err := h.Setup.Document(t)
	if err != nil {
		return forge.Draft{}, fmt.Errorf("read what the worker handed over: %w", err)
	}
	if handoff, found := document.Read(text).Section("## Handoff"); found && !handoff.Empty() {
		parts = append(parts, "## "+handoff.Name+"\n\n"+strings.TrimSpace(handoff.Text))
	}
	if len(parts) == 0 {
		parts = append(parts, strings.TrimSpace(t.Summary))
	}
	return forge.Draft{Branch: t.Branch, Base: job.Project.DefaultBranch, Title: title,
		Body: cutBody(strings.Join(parts, "\n\n") + "\n")}, nil
}

func cutBody(text string) string {
	if len(text) <= mostBody {
		return text
	}
	end := mostBody
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "\n\n(cut here; the rest is in the task's document)\n"
}

// templateIn reads the repository's template for pull requests from the first of the four usual places that has
// one; empty when none has. Its name may be written in any case.
func templateIn(dir string) (string, error) {
	for _, place := range []string{".github", ".", "docs", ".github/PULL_REQUEST_TEMPLATE"} {
		folder := filepath.Join(dir, filepath.FromSlash(place))
		entries, err := os.ReadDir(folder)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			// a link may lead out of the repository
			if entry.Type().IsRegular() && strings.EqualFold(entry.Name(), "pull_request_template.md") {
				return readSome(filepath.Join(folder, entry.Name()), mostTemplate)
			}
		}
	}
	return "", nil
}

func readSome(path string, most int64) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(file, most))
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), errors.Join(err, file.Close())
}
