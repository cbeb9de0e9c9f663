package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"orange/internal/rules/record"
	"orange/internal/run/proc"
)

// GH is GitHub, through the program gh.
type GH struct {
	// Path has the folders that gh is looked for in; where it is empty, PATH of this process does at that moment.
	Path string
	// Patience is how long it may take for one answer; zero is a usual time.
	Patience time.Duration
}

func (g GH) program() program {
	return program{name: "gh", site: "GitHub", from: "https://cli.github.com", calls: "gh api rate_limit",
		env:  []string{"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GH_FORCE_TTY=", "GH_PAGER=cat"},
		path: g.Path, patience: g.Patience}
}

func (g GH) run(ctx context.Context, dir, stdin string, args ...string) (proc.Result, error) {
	return g.program().run(ctx, dir, stdin, args...)
}

// Program is gh.
func (g GH) Program(ctx context.Context) (name string, there bool) {
	_, err := g.program().find(ctx)
	return "gh", err == nil
}

// Find lists the pull requests of a branch. gh itself tells from dir which repository that is.
func (g GH) Find(ctx context.Context, dir, _, branch string) ([]record.PullRequest, error) {
	out, err := g.run(ctx, dir, "", "pr", "list", "--head", branch, "--state", "all", "--limit", "30",
		"--json", "url,state,headRefName,headRefOid,isCrossRepository,mergeCommit,baseRefName")
	if err != nil {
		return nil, fmt.Errorf("cannot ask GitHub for the pull requests of %q: %w", branch, err)
	}
	var listed []pullRequestView
	if err := json.Unmarshal(out.Stdout, &listed); err != nil {
		return nil, fmt.Errorf("cannot read what gh answers about the pull requests of %q: %w", branch, err)
	}
	var found []record.PullRequest
	for _, l := range listed {
		if l.HeadRefName == branch {
			found = append(found, l.pullRequest())
		}
	}
	return found, nil
}

// Create opens a pull request for a branch that is on GitHub already.
func (g GH) Create(ctx context.Context, dir, _ string, d Draft) (record.PullRequest, error) {
	g.Patience = cmp.Or(g.Patience, createPatience)
	out, err := g.run(ctx, dir, d.Body, "pr", "create", "--head", d.Branch, "--base", d.Base, "--title", d.Title,
		"--body-file", "-")
	if err != nil {
		return record.PullRequest{}, fmt.Errorf("cannot open a pull request for %q: %w", d.Branch, err)
	}
	for _, line := range strings.Split(out.Text(), "\n") {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "https://") || strings.HasPrefix(line, "http://") {
			return record.PullRequest{URL: line, State: record.PROpen}, nil
		}
	}
	return record.PullRequest{},
		fmt.Errorf("cannot tell whether the pull request for %q was opened: gh named no address, it said %q",
			d.Branch, out.Text())
}

// States reads how the pull requests with these addresses are.
func (g GH) States(ctx context.Context, dir string, addresses []string) ([]record.PullRequest, error) {
	seen, _, err := g.Look(ctx, dir, addresses)
	var found []record.PullRequest
	for i := range seen {
		found = append(found, seen[i].PullRequest)
	}
	return found, err
}
