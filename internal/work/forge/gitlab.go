package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/record"
)

// GL is GitLab, through the program glab. It was written from what GitLab documents of its interface, and never run.
// It asks for each answer with "glab api", which adds the person's login and nothing else.
type GL struct {
	// Path has the folders that glab is looked for in; where it is empty, PATH of this process does at that moment.
	Path string
	// Patience is how long it may take for one answer; zero is a usual time.
	Patience time.Duration
}

func (g GL) program() program {
	return program{name: "glab", site: "GitLab", from: "https://gitlab.com/gitlab-org/cli",
		env:   []string{"GLAB_CHECK_UPDATE=false", "GLAB_SEND_TELEMETRY=false", "GLAB_PAGER=cat"},
		unset: []string{"GLAB_DEBUG_HTTP"}, // it would print the login
		path:  g.Path, patience: g.Patience}
}

// Program is glab.
func (g GL) Program(ctx context.Context) (name string, there bool) {
	_, err := g.program().find(ctx)
	return "glab", err == nil
}

// place is a project of a GitLab. The path of one may have several slashes.
type place struct{ host, path string }

func placeOf(remote string) (place, error) {
	p := place{host: hostOf(remote), path: pathOf(remote)}
	if p.host == "" || !strings.Contains(p.path, "/") {
		return p, fmt.Errorf("origin is %q, expected a project on GitLab", remote)
	}
	return p, nil
}

// placeOfRequest is where the merge request with this address is, and its number there.
func placeOfRequest(address string) (p place, number string, err error) {
	if parsed, err := url.Parse(address); err == nil {
		path, rest, found := strings.Cut(strings.Trim(parsed.Path, "/"), "/merge_requests/")
		p = place{host: parsed.Hostname(), path: strings.TrimSuffix(path, "/-")}
		if _, err := strconv.Atoi(rest); err == nil && found && p.host != "" {
			return p, rest, nil
		}
	}
	return p, "", fmt.Errorf("cannot ask for the merge request %q: it is no address of one", address)
}

// pathOf is the path of something in the project, as the interface has it.
func (p place) pathOf(format string, args ...any) string {
	return "projects/" + url.PathEscape(p.path) + "/" + fmt.Sprintf(format, args...)
}

// ask reads one answer.
func (g GL) ask(ctx context.Context, dir string, p place, what string, into any) (Quota, error) {
	return g.send(ctx, dir, "", into, "api", "--hostname", p.host, "--include", what)
}

func (g GL) send(ctx context.Context, dir, stdin string, into any, args ...string) (Quota, error) {
	out, err := g.program().run(ctx, dir, stdin, args...)
	said := readAnswer(out.Stdout)
	if err != nil {
		said.until(err, time.Now())
		return said.quota(), err
	}
	if err := json.Unmarshal(said.body, into); err != nil {
		return said.quota(), fmt.Errorf("cannot read what glab answers: %w; look with %q whether glab works", err,
			"glab api version")
	}
	return said.quota(), nil
}

// readPages reads a list of several pages, which glab prints as one list or as one after the other.
func (g GL) readPages(ctx context.Context, dir string, p place, what string, page func(json.RawMessage) error) error {
	out, err := g.program().run(ctx, dir, "", "api", "--hostname", p.host, "--paginate", what)
	if err != nil {
		return err
	}
	pages := json.NewDecoder(bytes.NewReader(out.Stdout))
	for {
		var one json.RawMessage
		err := pages.Decode(&one)
		if err == nil {
			err = page(one)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read what glab answers: %w", err)
		}
	}
}

// mergeRequest is a merge request in the words of GitLab.
type mergeRequest struct {
	Number             int `json:"iid"`
	Title, Description string
	State, SHA         string
	URL                string `json:"web_url"`
	Source             string `json:"source_branch"`
	Target             string `json:"target_branch"`
	SourceProject      int    `json:"source_project_id"`
	TargetProject      int    `json:"target_project_id"`
	Merge              string `json:"merge_commit_sha"`
	Squash             string `json:"squash_commit_sha"`
	MayModify          bool   `json:"allow_collaboration"`
	Author             user
}

type user struct {
	ID       int
	Username string
}

func (m *mergeRequest) pullRequest() record.PullRequest {
	pr := record.PullRequest{URL: m.URL, State: record.PROpen, Commit: m.SHA, Base: m.Target,
		Foreign: m.SourceProject != m.TargetProject}
	switch m.State {
	case "closed":
		pr.State = record.PRClosed
	case "merged": // by a fast-forward it is its own head that the target has
		pr.State, pr.Merge = record.PRMerged, cmp.Or(m.Merge, m.Squash, m.SHA)
	}
	return pr
}

// Find lists the merge requests of a branch.
func (g GL) Find(ctx context.Context, dir, remote, branch string) ([]record.PullRequest, error) {
	p, err := placeOf(remote)
	var listed []mergeRequest
	if err == nil {
		_, err = g.ask(ctx, dir, p, p.pathOf("merge_requests?scope=all&state=all&order_by=created_at&sort=desc"+
			"&per_page=30&source_branch=%s", url.QueryEscape(branch)), &listed)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot ask GitLab for the merge requests of %q: %w", branch, err)
	}
	var found []record.PullRequest
	for i := range listed {
		if listed[i].Source == branch {
			found = append(found, listed[i].pullRequest())
		}
	}
	return found, nil
}

// Create opens a merge request. Title and text go through standard input: no other process sees them there.
func (g GL) Create(ctx context.Context, dir, remote string, d Draft) (record.PullRequest, error) {
	g.Patience = cmp.Or(g.Patience, createPatience)
	p, err := placeOf(remote)
	var made mergeRequest
	if err == nil {
		var text []byte
		text, err = json.Marshal(map[string]string{"source_branch": d.Branch, "target_branch": d.Base, "title": d.Title,
			"description": d.Body})
		if err == nil {
			_, err = g.send(ctx, dir, string(text), &made, "api", "--hostname", p.host, "--include", "--method", "POST",
				"--header", "Content-Type: application/json", "--input", "-", p.pathOf("merge_requests"))
		}
	}
	if err != nil {
		return record.PullRequest{}, fmt.Errorf("cannot open a merge request for %q: %w", d.Branch, err)
	}
	if made.URL == "" {
		return record.PullRequest{}, fmt.Errorf("cannot tell whether the merge request for %q was opened: the answer "+
			"names no address", d.Branch)
	}
	return record.PullRequest{URL: made.URL, State: record.PROpen}, nil
}

// Issue reads an issue of the project.
func (g GL) Issue(ctx context.Context, dir, remote string, number int) (record.Issue, error) {
	fail := func(err error) (record.Issue, error) {
		return record.Issue{}, fmt.Errorf("cannot read issue %d: %w", number, err)
	}
	p, err := placeOf(remote)
	if err != nil {
		return fail(err)
	}
	var said mergeRequest // an issue has these keys too
	if _, err := g.ask(ctx, dir, p, p.pathOf("issues/%d", number), &said); err != nil {
		return fail(err)
	}
	if said.Title == "" {
		return fail(errors.New("the answer has no title"))
	}
	by, err := g.author(ctx, dir, p, said.Author)
	if err != nil {
		return fail(err)
	}
	return record.Issue{Address: said.URL, Title: said.Title, Text: said.Description, Author: by}, nil
}

// Request reads a merge request of the project.
func (g GL) Request(ctx context.Context, dir, remote string, number int) (record.Adoptee, error) {
	fail := func(err error) (record.Adoptee, error) {
		if strings.Contains(err.Error(), "HTTP 404") {
			err = fmt.Errorf("%w; see which there are with %q", err, "glab mr list --all")
		}
		return record.Adoptee{}, fmt.Errorf("cannot read merge request %d: %w", number, err)
	}
	p, err := placeOf(remote)
	if err != nil {
		return fail(err)
	}
	var said mergeRequest
	if _, err := g.ask(ctx, dir, p, p.pathOf("merge_requests/%d", number), &said); err != nil {
		return fail(err)
	}
	if said.URL == "" || said.SHA == "" || said.Source == "" || said.Target == "" {
		return fail(errors.New("the answer lacks its address, head or target"))
	}
	by, err := g.author(ctx, dir, p, said.Author)
	if err != nil {
		return fail(err)
	}
	a := record.Adoptee{Number: number, Branch: said.Source, MayModify: said.MayModify,
		From: p.path, Ref: fmt.Sprintf("refs/merge-requests/%d/head", number), PullRequest: said.pullRequest(),
		Issue: record.Issue{Address: said.URL, Title: said.Title, Text: said.Description, Author: by}}
	if a.Foreign {
		a.Branch = fmt.Sprintf("pr/%d/%s", number, said.Source)
		var fork struct {
			Path string `json:"path_with_namespace"`
		}
		// a fork that is gone, or private, has no name here
		_, err := g.ask(ctx, dir, p, "projects/"+strconv.Itoa(said.SourceProject), &fork)
		if err != nil && !strings.Contains(err.Error(), "HTTP 404") {
			return fail(err)
		}
		a.From = fork.Path
	}
	return a, nil
}

// writes is the least level of access that may push: a developer's.
const writes = 30

// author is someone with what they may do in the project. Programs have accounts of their own, known by their names.
func (g GL) author(ctx context.Context, dir string, p place, u user) (record.PRAuthor, error) {
	name := u.Username
	a := record.PRAuthor{Name: name, Bot: strings.HasPrefix(name, "service_account_") ||
		strings.Contains(name, "_bot") && (strings.HasPrefix(name, "project_") || strings.HasPrefix(name, "group_"))}
	if a.Bot || u.ID == 0 {
		return a, nil
	}
	var member struct {
		Level int `json:"access_level"`
	}
	_, err := g.ask(ctx, dir, p, p.pathOf("members/all/%d", u.ID), &member)
	if err != nil && strings.Contains(err.Error(), "HTTP 404") {
		return a, nil // no member
	}
	a.Writes = member.Level >= writes
	return a, err
}
