// Package forge is GitHub, through its own program gh: which pull requests a branch has, and the opening of one.
//
// It owns how gh is called and what its answers mean. It does not own pushing (worktree), nor when a pull request
// is wanted (hook). Everything else works without gh; what needs it says so.
package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"orange/internal/printable"
	"orange/internal/proc"
	"orange/internal/record"
)

// How long gh may take for one answer, and for opening a pull request.
const (
	patience       = 20 * time.Second
	createPatience = time.Minute
)

// GH is the program gh.
type GH struct {
	// Path has the folders that it is looked for in; where it is empty, PATH of this process does at that moment.
	Path string
	// Patience is how long it may take for one answer; zero is a usual time.
	Patience time.Duration
}

// Draft is a pull request that is to be opened.
type Draft struct {
	Branch string
	Base   string // the branch that it must be merged into
	Title  string
	Body   string
}

// Find lists the pull requests of a branch, whatever their state, the newest first. dir is the repository.
func (g GH) Find(ctx context.Context, dir, branch string) ([]record.PullRequest, error) {
	out, err := g.run(ctx, dir, "", "pr", "list", "--head", branch, "--state", "all", "--limit", "30",
		"--json", "url,state,headRefName,headRefOid,isCrossRepository,mergeCommit")
	if err != nil {
		return nil, fmt.Errorf("cannot ask GitHub for the pull requests of %q: %w", branch, err)
	}
	var listed []described
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
func (g GH) Create(ctx context.Context, dir string, d Draft) (record.PullRequest, error) {
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

func (g GH) find() (string, error) { return proc.Find("gh", cmp.Or(g.Path, os.Getenv("PATH"))) }

// run runs gh in the repository. No one is there to answer a question of it.
func (g GH) run(ctx context.Context, dir, stdin string, args ...string) (proc.Result, error) {
	program, err := g.find()
	if err != nil {
		return proc.Result{}, fmt.Errorf("%w; install it (https://cli.github.com), log in with %q, and try again",
			err, "gh auth login")
	}
	most := cmp.Or(g.Patience, patience)
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	out, err := proc.Run(ctx, proc.Command{
		Name: program, Args: args, Dir: dir, Stdin: strings.NewReader(stdin), Most: mostAnswer,
		Env: []string{
			"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GH_FORCE_TTY=", "GH_PAGER=cat", "NO_COLOR=1",
			"GIT_TERMINAL_PROMPT=0",
		},
		// A git hook hands these to its children: gh would look at that repository, and not at the one in dir.
		Unset: []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_CONFIG"},
	})
	var ended *proc.Error
	switch {
	case errors.As(err, &ended):
		return out, refusal(ended)
	case errors.Is(err, context.DeadlineExceeded):
		return out, fmt.Errorf(
			"gh gave no answer within %s: %w; look whether GitHub can be reached, and try again", most, err)
	}
	return out, err
}

// refusal is gh's own refusal, with what to do about those that a person meets first. What gh says may come from far
// away: it is cut to a length, and fit to be shown.
func refusal(ended *proc.Error) error {
	said := strings.TrimSpace(ended.Stderr)
	if said == "" {
		said = fmt.Sprintf("it ended with status %d and said nothing", ended.Code)
	}
	if len(said) > mostSaid {
		said = strings.ToValidUTF8(said[:mostSaid], "") + "…"
	}
	said = "gh: " + printable.Text(strings.TrimPrefix(said, "gh: "))
	if tooMuch(said) {
		return &Limited{Said: said}
	}
	return &refused{text: said + advice(said), cause: ended}
}

// mostSaid is how many bytes of a refusal people are shown.
const mostSaid = 2000

func advice(said string) string {
	low := strings.ToLower(said)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(low, word) })
	}
	switch {
	case has("known github host", "no git remotes found", "correspond to the gh_host"):
		return "; pull requests need a repository on GitHub as the remote origin"
	case has("gh auth login", "http 401", "bad credentials"):
		return fmt.Sprintf("; log in with %q, and try again", "gh auth login")
	case has("error connecting", "dial tcp", "no such host", "i/o timeout", "tls: ", "x509: "):
		return "; look whether GitHub can be reached from here, and try again"
	case has("http 403", "not accessible", "http 404", "could not resolve to a"):
		return fmt.Sprintf("; look with %q whether the login may do that in this repository", "gh auth status")
	}
	return ""
}

// refused is gh's own refusal, without the long argument list.
type refused struct {
	text  string
	cause error
}

func (r *refused) Error() string { return r.text }
func (r *refused) Unwrap() error { return r.cause }
