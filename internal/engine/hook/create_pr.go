package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/forge"
)

// What GitHub and GitLab take, and what is read of a template.
const (
	mostTitle    = 255     // characters
	mostBody     = 60_000  // bytes; GitHub takes 65,536 characters, GitLab more
	mostContext  = 16_000  // bytes: what the worker handed over follows it
	mostTemplate = 1 << 16 // bytes
)

// createPR pushes the task's branch and opens a pull request, unless it has one that is open, or merged just as
// the branch is now.
func (h *Executor) createPR(ctx context.Context, job record.Job) (record.Effect, error) {
	t := job.Task
	if job.Project.Forge == record.ForgeNone {
		return record.Effect{}, fmt.Errorf("cannot open a pull request for %q: project %q has no program for that "+
			"(orange project update %s --forge github, or gitlab); nothing was pushed", t.Branch, job.Project.Name,
			job.Project.Name)
	}
	known, err := h.Work.Find(ctx, job.Project, t.Branch) // before the push: what cannot follow needs none
	if err != nil {
		return record.Effect{}, err
	}
	effect, err := h.pushBranch(ctx, job)
	if err != nil {
		return record.Effect{}, err
	}
	if effect.Pushed == nil {
		return record.Effect{}, fmt.Errorf("cannot open a pull request for %q: the repository has no remote "+
			"called origin; add the one on GitHub or GitLab with %q", t.Branch, "git remote add origin URL")
	}
	if pr, found := standing(known, *effect.Pushed, job); found {
		return withPR(effect, t, pr, "has its pull request already"), nil
	}
	draft, err := h.draft(ctx, job, *effect.Pushed)
	if err != nil {
		return record.Effect{}, err
	}
	pr, err := h.Work.Create(ctx, job.Project, draft)
	if err != nil {
		return record.Effect{}, err
	}
	pr.Commit = *effect.Pushed
	return withPR(effect, t, pr, "opened its pull request"), nil
}

// standing is the pull request that makes another one needless. What comes from another repository is a
// stranger's, who has a branch of the same name, unless it has the very commit: then origin is the fork. What was
// merged into another branch needs another one.
func standing(known []record.PullRequest, commit string, job record.Job) (record.PullRequest, bool) {
	for _, state := range []string{record.PROpen, record.PRMerged} {
		for _, pr := range known {
			if decide.Elsewhere(job.Task, pr, job.Project.DefaultBranch) != "" {
				continue
			}
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

// draft is the pull request as it is asked for: the repository's own template, then the task's summary, which commit
// was judged, its context, and what the worker handed over. What a terminal would obey and what no one can see is
// written out, because people will trust what they read there.
func (h *Executor) draft(ctx context.Context, job record.Job, pushed string) (forge.Draft, error) {
	t := job.Task
	dir := job.Project.Path
	if t.Workspace != "" {
		view, err := h.Work.View(ctx, t)
		if err != nil {
			return forge.Draft{}, err
		}
		dir = view.Dir
	}
	template, err := templateIn(dir)
	if err != nil {
		return forge.Draft{}, fmt.Errorf("read the template for pull requests: %w", err)
	}
	text, err := h.Setup.Document(t)
	if err != nil {
		return forge.Draft{}, fmt.Errorf("read what the worker handed over: %w", err)
	}
	read := document.Read(text)
	parts := []string{template, strings.TrimSpace(t.Summary), judgedLine(t.Subject, pushed),
		section(read, "## Context", mostContext), section(read, "## Handoff", mostBody)}
	body := strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n\n")
	return forge.Draft{Branch: t.Branch, Base: job.Project.DefaultBranch, Title: title(t),
		Body: cut(printable.Text(body)+"\n", mostBody)}, nil
}

// title is the first line of the task's summary, or its branch where it has none.
func title(t task.Task) string {
	line, _, _ := strings.Cut(strings.TrimSpace(t.Summary), "\n")
	line = printable.Line(strings.TrimSpace(line))
	if line == "" {
		return t.Branch
	}
	if runes := []rune(line); len(runes) > mostTitle {
		return string(runes[:mostTitle-1]) + "…"
	}
	return line
}

// judgedLine names the commit that the evidence is about, and says so where the branch has another one. Who put it up
// stays here.
func judgedLine(s task.Subject, pushed string) string {
	how := "not reviewed"
	if s.Reviewed {
		how = "reviewed"
	}
	switch s.Commit {
	case "":
		return fmt.Sprintf("Commit: %s. Nothing was judged yet.", pushed)
	case pushed:
		return fmt.Sprintf("Judged commit: %s (%s).", pushed, how)
	}
	return fmt.Sprintf("Judged commit: %s (%s). The branch was at %s when this was opened: what lies between was "+
		"not judged.", s.Commit, how, pushed)
}

// section is a section of the document with its heading; empty where there is nothing in it.
func section(d *document.Document, name string, most int) string {
	s, found := d.Section(name)
	if !found || s.Empty() {
		return ""
	}
	return cut("## "+s.Name+"\n\n"+strings.TrimSpace(s.Text), most)
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "\n\n(cut here; the rest is in the task's document)\n"
}

// templateIn reads the repository's template for pull requests from the first of the usual places that has one: four
// of GitHub, one of GitLab. It is empty when none has. Its name may be written in any case.
func templateIn(dir string) (string, error) {
	const usual = "pull_request_template.md"
	for _, place := range [][2]string{{".github", usual}, {".", usual}, {"docs", usual},
		{".github/PULL_REQUEST_TEMPLATE", usual}, {".gitlab/merge_request_templates", "default.md"}} {
		folder := filepath.Join(dir, filepath.FromSlash(place[0]))
		entries, err := os.ReadDir(folder)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			// a link may lead out of the repository
			if entry.Type().IsRegular() && strings.EqualFold(entry.Name(), place[1]) {
				return readSome(filepath.Join(folder, entry.Name()), mostTemplate)
			}
		}
	}
	return "", nil
}

func readSome(path string, most int64) (string, error) {
	file, err := proc.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(file, most))
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), errors.Join(err, file.Close())
}
