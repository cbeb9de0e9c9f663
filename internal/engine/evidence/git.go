package evidence

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// workspaceOn is the state of the workspace, read once for each look, or why it tells nothing of a branch: the
// task's, or the one that it was renamed to.
func (v *view) workspaceOn(ctx context.Context, branch string) (s Workspace, found, want string, err error) {
	if v.task.Workspace == "" {
		return Workspace{}, "the task has no workspace", "get it one by a move that starts an agent, or: orange task " +
			"respawn " + v.task.ID, nil
	}
	if v.workspace == nil {
		s, err := v.Looker.workspace(ctx, v.task)
		if err != nil {
			return Workspace{}, "", "", err
		}
		v.workspace = &s
	}
	found, want = whyMisplaced(*v.workspace, v.task, branch)
	return *v.workspace, found, want, nil
}

// whyMisplaced reports why what is in a workspace tells nothing of the task's branch; empty when it does.
func whyMisplaced(s Workspace, t task.Task, branch string) (found, want string) {
	switch {
	case !s.There:
		return fmt.Sprintf("its workspace %q is not there", t.Workspace),
			"have it made again: orange task respawn " + t.ID
	case s.Branch == "":
		return fmt.Sprintf("its workspace is on no branch, and the task on %q", branch),
			"bring the workspace back to its branch"
	case s.Branch != branch:
		return fmt.Sprintf("its workspace is on branch %q, and the task on %q", s.Branch, branch),
			"switch the workspace back, or run orange task update --branch there"
	case s.Head == "":
		return fmt.Sprintf("its workspace is on branch %q, which has no commit: there is no such branch any "+
				"more, or not yet", branch),
			"have it made again where it was: orange task respawn " + t.ID
	}
	return "", ""
}

// seeGit looks at a part that asks for something of the workspace's git.
func (v *view) seeGit(ctx context.Context, p workflow.Part) (decide.Fact, error) {
	fact := decide.Fact{Source: "git " + p.Git, Where: "the workspace"}
	switch p.Git {
	case workflow.GitCommitted, workflow.GitUnmoved, workflow.GitMoved, workflow.GitAsReviewed, workflow.GitUntouched,
		workflow.GitProtected:
		return factOrTrouble(&fact, v.seeSubject(ctx, &fact, p))
	}
	s, found, want, err := v.workspaceOn(ctx, v.task.Branch)
	if err != nil || found != "" {
		fact.Found, fact.Want = found, want
		return fact, err
	}
	fact.Where = fmt.Sprintf("branch %s at %.12s", s.Branch, s.Head)
	switch p.Git {
	case workflow.GitAhead:
		err = v.seeAhead(ctx, &fact, s)
	case workflow.GitClean:
		fact.Text = "HEAD " + s.Head + "\nclean\n"
		if dirt := s.Uncommitted(); len(dirt)+len(s.Setup) > 0 {
			fact.Text = "HEAD " + s.Head + "\n" + strings.Join(slices.Concat(dirt, s.Setup), "\n") + "\n"
			fact.Found, fact.Want = s.differs(dirt, "commit them")
			if len(s.Setup) == 0 {
				fact.Files = len(dirt)
			}
		}
	case workflow.GitPlanned:
		err = v.seePlanned(ctx, &fact, s, p.Plan)
	default:
		return fact, fmt.Errorf("git knows no %q", p.Git)
	}
	return factOrTrouble(&fact, err)
}

// factOrTrouble is a fact with all that follows from what was found. One of which nothing was seen has no text.
func factOrTrouble(fact *decide.Fact, err error) (decide.Fact, error) {
	fact.Holds = fact.Found == ""
	if fact.Text != "" {
		fact.Text = document.Normalise(fact.Text)
		fact.Digest = document.Digest(fact.Text)
	}
	return *fact, err
}

func (v *view) seeAhead(ctx context.Context, fact *decide.Fact, s Workspace) error {
	base, count, err := v.Git.Commits(ctx, v.task, s.Head)
	fact.Text = fmt.Sprintf("HEAD %s\nahead %d\n", s.Head, count)
	if err == nil && count == 0 {
		fact.Found, fact.Want = "no commit that "+base+" has not", "commit the work"
	}
	return err
}

func (v *view) seePlanned(ctx context.Context, fact *decide.Fact, s Workspace, plan string) error {
	changed, _, err := v.Git.Changed(ctx, v.task, s.Head)
	if err != nil {
		return err
	}
	changed = append(changed, s.Uncommitted()...)
	slices.Sort(changed)
	changed = slices.Compact(changed)
	fact.Text = "HEAD " + s.Head + "\n" + strings.Join(changed, "\n") + "\n"
	planned, found := v.plannedPaths(plan)
	if found != "" {
		fact.Where, fact.Found, fact.Want = plan, found, `write `+plan+` with {"files": [{"path": "..."}]}`
		return nil
	}
	beyond := slices.DeleteFunc(slices.Clone(changed), func(name string) bool { return planned[name] })
	if len(beyond) > 0 {
		fact.Found = "changes that the plan does not name: " + some(beyond)
		fact.Want = "take them back, or have them planned in " + plan
	}
	return nil
}

// plannedPaths reads the paths that a plan file names.
func (v *view) plannedPaths(plan string) (paths map[string]bool, found string) {
	c := v.bytesOf(plan)
	if c.trouble != "" {
		return nil, c.trouble
	}
	text := withoutMark(c.text)
	if found, line, column := wrongJSON(text); found != "" {
		return nil, fmt.Sprintf("no JSON: line %d, column %d: %s", line, column, found)
	}
	var read struct {
		Files *[]struct {
			Path string `json:"path"`
		} `json:"files"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, "no plan: " + err.Error()
	}
	if read.Files == nil {
		return nil, `no plan: it has no "files"`
	}
	paths = map[string]bool{}
	for _, f := range *read.Files {
		if f.Path != "" {
			paths[path.Clean(f.Path)] = true
		}
	}
	return paths, ""
}

// mostPaths is how many paths are named where there are many.
const mostPaths = 5

// some names the first few of many.
func some(paths []string) string { return firstOf(paths, ", ", strconv.Quote) }

func firstOf(paths []string, between string, written func(string) string) string {
	var words []string
	for _, p := range paths[:min(mostPaths, len(paths))] {
		words = append(words, written(p))
	}
	text := strings.Join(words, between)
	if more := len(paths) - mostPaths; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
