package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"orange/internal/rules/record"
)

// Request reads one pull request of the repository that the address of a remote leads to, by its number.
func (g GH) Request(ctx context.Context, dir, remote string, number int) (record.Adoptee, error) {
	host, repository := hostOf(remote), repositoryOf(remote)
	if host == "" || repository == "" {
		return record.Adoptee{}, fmt.Errorf("cannot read pull request %d: origin is %q, expected a repository on "+
			"GitHub", number, remote)
	}
	out, err := g.run(ctx, dir, "", "api", "--hostname", host, fmt.Sprintf("repos/%s/pulls/%d", repository, number))
	if err != nil {
		if strings.Contains(err.Error(), "HTTP 404") {
			err = fmt.Errorf("%w; see which there are with %q", err, "gh pr list --state all")
		}
		return record.Adoptee{}, fmt.Errorf("cannot read pull request %d of %s: %w", number, repository, err)
	}
	type side struct {
		Ref, SHA string
		Repo     *struct {
			Name string `json:"full_name"`
		}
	}
	var said struct {
		Title, Body, State string
		Merged             bool
		Address            string `json:"html_url"`
		Merge              string `json:"merge_commit_sha"`
		AuthorAssociation  string `json:"author_association"`
		MayModify          bool   `json:"maintainer_can_modify"`
		User               struct{ Login, Type string }
		Head, Base         side
	}
	if err := json.Unmarshal(out.Stdout, &said); err != nil {
		return record.Adoptee{}, fmt.Errorf("cannot read what gh answers about pull request %d of %s: %w", number,
			repository, err)
	}
	if said.Address == "" || said.Head.SHA == "" || said.Head.Ref == "" || said.Base.Ref == "" {
		return record.Adoptee{}, fmt.Errorf("cannot read pull request %d of %s: the answer lacks its address, head or "+
			"base", number, repository)
	}
	a := record.Adoptee{Number: number, Branch: said.Head.Ref, MayModify: said.MayModify,
		Ref: fmt.Sprintf("refs/pull/%d/head", number),
		Issue: record.Issue{Address: said.Address, Title: said.Title, Text: said.Body,
			Author: author(said.User.Login, said.User.Type, said.AuthorAssociation)},
		PullRequest: record.PullRequest{URL: said.Address, State: record.PROpen, Commit: said.Head.SHA,
			Base: said.Base.Ref}}
	switch {
	case said.Merged:
		a.State, a.Merge = record.PRMerged, said.Merge
	case said.State != "open":
		a.State = record.PRClosed
	}
	if said.Head.Repo != nil { // of a fork that is gone it is nothing
		a.From = said.Head.Repo.Name
	}
	a.Foreign = said.Head.Repo == nil || said.Base.Repo == nil || a.From != said.Base.Repo.Name
	if a.Foreign {
		a.Branch = fmt.Sprintf("pr/%d/%s", number, said.Head.Ref)
	}
	return a, nil
}
