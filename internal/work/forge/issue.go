package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"orange/internal/rules/record"
)

// Issue reads an issue of the repository that the address of a remote leads to.
func (g GH) Issue(ctx context.Context, dir, remote string, number int) (record.Issue, error) {
	host, repository := hostOf(remote), repositoryOf(remote)
	if host == "" || repository == "" {
		return record.Issue{}, fmt.Errorf("cannot read issue %d: origin is %q, expected a repository on GitHub", number,
			remote)
	}
	out, err := g.run(ctx, dir, "", "api", "--hostname", host, fmt.Sprintf("repos/%s/issues/%d", repository, number))
	if err != nil {
		return record.Issue{}, fmt.Errorf("cannot read issue %d of %s: %w", number, repository, err)
	}
	var said struct {
		Title, Body       string
		Address           string `json:"html_url"`
		AuthorAssociation string `json:"author_association"`
		User              struct{ Login, Type string }
	}
	if err := json.Unmarshal(out.Stdout, &said); err != nil {
		return record.Issue{}, fmt.Errorf("cannot read what gh answers about issue %d of %s: %w", number, repository,
			err)
	}
	if said.Title == "" {
		return record.Issue{}, fmt.Errorf("cannot read issue %d of %s: the answer has no title", number, repository)
	}
	return record.Issue{Address: said.Address, Title: said.Title, Text: said.Body,
		Author: author(said.User.Login, said.User.Type, said.AuthorAssociation)}, nil
}

// repositoryOf is owner and name in the address of a remote; empty where there are none.
func repositoryOf(address string) string {
	if path := pathOf(address); strings.Count(path, "/") == 1 {
		return path
	}
	return ""
}
