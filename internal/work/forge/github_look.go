package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/record"
)

// wanted are the fields of a pull request that a look asks for.
const wanted = `fragment pr on PullRequest { url state headRefName headRefOid isCrossRepository mergeCommit { oid } ` +
	`baseRefName reviews(last: 30) { nodes { id state body authorAssociation author { __typename login } ` +
	`commit { oid } comments(first: 30) { nodes { path line body } } } } ` +
	`commits(last: 1) { nodes { commit { oid statusCheckRollup { state contexts(first: 100) { nodes { __typename ` +
	`... on CheckRun { databaseId name status conclusion detailsUrl title summary checkSuite { app { slug } } } ` +
	`... on StatusContext { id context state description targetUrl } } } } } } } }`

// Look reports how the pull requests with these addresses stand, with one call for all of them, and how many calls
// GitHub still takes. It asks for each by its address: a list would end somewhere, and a search lags behind. Those that
// GitHub does not know are missing from the answer; the error names them. It is a *Limited where too much was asked.
func (g GH) Look(ctx context.Context, dir string, addresses []string) ([]record.PRLook, Quota, error) {
	if len(addresses) == 0 {
		return nil, Quota{}, nil
	}
	host, err := HostOfRequest(addresses[0])
	if err != nil {
		return nil, Quota{}, err
	}
	var declared, asked []string
	args := []string{"api", "graphql", "--hostname", host, "--include"}
	for i, address := range addresses {
		declared = append(declared, fmt.Sprintf("$u%d: URI!", i))
		asked = append(asked, fmt.Sprintf("p%d: resource(url: $u%d) { ...pr }", i, i))
		args = append(args, "-f", fmt.Sprintf("u%d=%s", i, address))
	}
	args = append(args, "-f", "query=query("+strings.Join(declared, ", ")+") { "+strings.Join(asked, " ")+" } "+wanted)
	out, refused := g.run(ctx, dir, "", args...)
	said := readAnswer(out.Stdout)
	said.until(refused, time.Now())
	var answer struct{ Data map[string]*pullRequestView }
	if err := json.Unmarshal(said.body, &answer); refused != nil && (err != nil || len(answer.Data) == 0) {
		return nil, said.quota(), fmt.Errorf("cannot ask GitHub how %d pull requests stand: %w", len(addresses),
			refused)
	} else if err != nil {
		return nil, said.quota(), fmt.Errorf("cannot read what gh answers about %d pull requests: %w; look with %q "+
			"whether gh works", len(addresses), err, "gh api graphql")
	}
	var found []record.PRLook
	var all error
	for i, address := range addresses {
		d := answer.Data[fmt.Sprintf("p%d", i)]
		if d == nil || d.State == "" {
			all = errors.Join(all, fmt.Errorf("cannot read the state of the pull request %s: GitHub does not "+
				"know it, or does not show it to you", address))
			continue
		}
		look := d.look()
		look.URL = address // a repository that was renamed answers with its new name
		found = append(found, look)
	}
	return found, said.quota(), all
}

// pullRequestView is a pull request in the words of GitHub.
type pullRequestView struct {
	URL               string
	State             string
	BaseRefName       string
	HeadRefName       string
	HeadRefOid        string
	IsCrossRepository bool
	MergeCommit       *struct{ OID string }
	Reviews           struct{ Nodes []reviewView }
	Commits           struct {
		Nodes []struct {
			Commit struct {
				OID               string
				StatusCheckRollup *struct {
					State    string
					Contexts struct{ Nodes []checkView }
				}
			}
		}
	}
}

type reviewView struct {
	ID, State, Body, AuthorAssociation string
	Author                             *struct {
		Typename string `json:"__typename"`
		Login    string
	}
	Commit   *struct{ OID string }
	Comments struct {
		Nodes []struct {
			Path, Body string
			Line       *int
		}
	}
}

// checkView is a check run, or a status that another program reported.
type checkView struct {
	Typename                                             string `json:"__typename"`
	DatabaseID                                           int64
	Name, Status, Conclusion, DetailsURL, Title, Summary string
	ID, Context, State, Description, TargetURL           string
	CheckSuite                                           *struct{ App *struct{ Slug string } }
}

func (d *pullRequestView) pullRequest() record.PullRequest {
	pr := record.PullRequest{URL: d.URL, State: d.State, Commit: d.HeadRefOid, Base: d.BaseRefName,
		Foreign: d.IsCrossRepository}
	if d.MergeCommit != nil {
		pr.Merge = d.MergeCommit.OID
	}
	return pr
}

func (d *pullRequestView) look() record.PRLook {
	look := record.PRLook{PullRequest: d.pullRequest()}
	look.Checks = d.checks()
	for i := range d.Reviews.Nodes {
		look.Reviews = append(look.Reviews, d.Reviews.Nodes[i].review())
	}
	for i := range d.Commits.Nodes {
		commit := &d.Commits.Nodes[i].Commit
		if commit.StatusCheckRollup == nil || commit.OID != "" && commit.OID != d.HeadRefOid {
			continue // the list of commits may lag behind the head
		}
		for j := range commit.StatusCheckRollup.Contexts.Nodes {
			look.Runs = append(look.Runs, commit.StatusCheckRollup.Contexts.Nodes[j].check())
		}
	}
	return look
}

// checks is what the checks of the newest commit come to. GitHub has folded them already.
func (d *pullRequestView) checks() string {
	for i := range d.Commits.Nodes {
		rollup := d.Commits.Nodes[i].Commit.StatusCheckRollup
		if rollup == nil {
			continue
		}
		return result(rollup.State, "")
	}
	return record.ChecksNone
}

func (d *reviewView) review() record.PRReview {
	r := record.PRReview{ID: d.ID, State: d.State, Said: short(d.Body)}
	if d.Commit != nil {
		r.Commit = d.Commit.OID
	}
	if d.Author != nil { // an account that was deleted has no name
		r.Author = author(d.Author.Login, d.Author.Typename, d.AuthorAssociation)
	}
	for _, c := range d.Comments.Nodes {
		note := record.PRNote{Path: short(c.Path), Said: short(c.Body)}
		if c.Line != nil {
			note.Line = *c.Line
		}
		r.Notes = append(r.Notes, note)
	}
	return r
}

func author(login, kind, association string) record.PRAuthor {
	a := record.PRAuthor{Name: login, Bot: kind == "Bot" || strings.HasSuffix(login, "[bot]")}
	switch association {
	case "OWNER", "MEMBER", "COLLABORATOR":
		a.Writes = !a.Bot
	}
	return a
}

func (d *checkView) check() record.PRCheck {
	if d.Typename == "StatusContext" {
		c := record.PRCheck{ID: "status " + d.ID, Name: short(d.Context), Result: result(d.State, ""),
			Address: d.TargetURL, Said: short(d.Description)}
		if d.State == "EXPECTED" { // no one may ever report it: it does not hold up the others
			c.Result = record.ChecksNone
		}
		return c
	}
	c := record.PRCheck{ID: "run " + strconv.FormatInt(d.DatabaseID, 10), Name: short(d.Name),
		Result: result(d.Status, d.Conclusion), Address: d.DetailsURL,
		Said: strings.TrimSpace(short(d.Title) + "\n\n" + short(d.Summary))}
	if d.CheckSuite != nil && d.CheckSuite.App != nil && d.CheckSuite.App.Slug == "github-actions" {
		c.Log = strconv.FormatInt(d.DatabaseID, 10)
	}
	return c
}

// result is what a status and, once it is completed, its conclusion come to.
func result(status, conclusion string) string {
	switch status {
	case "COMPLETED":
	case "SUCCESS", "FAILURE", "ERROR":
		conclusion = status
	default:
		return record.ChecksPending
	}
	switch conclusion {
	case "FAILURE", "ERROR", "TIMED_OUT", "STARTUP_FAILURE":
		return record.ChecksFail
	case "SUCCESS", "NEUTRAL", "SKIPPED":
		return record.ChecksPass
	}
	return record.ChecksNone
}

// Log is the end of the log of a check that GitHub ran itself, as Look names it. repository is that of the pull
// request with this address.
func (g GH) Log(ctx context.Context, dir, address, log string, most int) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return "", fmt.Errorf("cannot read a log of the pull request %q: it is no address", address)
	}
	repository, _, found := strings.Cut(strings.Trim(parsed.Path, "/"), "/pull/")
	if !found {
		return "", fmt.Errorf("cannot read a log of the pull request %q: its address names no repository", address)
	}
	out, err := g.run(ctx, dir, "", "api", "--hostname", parsed.Host, "repos/"+repository+"/actions/jobs/"+log+"/logs")
	if err != nil {
		return "", fmt.Errorf("cannot read the log of a check of %s: %w", address, err)
	}
	return end(out.Stdout, most), nil
}
