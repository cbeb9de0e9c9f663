// Package forge is where pull requests are, through a program of that place: GitHub through gh, and GitLab, whose pull
// requests are merge requests, through glab.
//
// It owns how these programs are called and what their answers mean. It does not own pushing (worktree), nor when a
// pull request is wanted (hook). Everything else works without them; what needs one says so.
//
// What is about GitHub was tried with the real gh. What is about GitLab was written from GitLab's documented answers,
// and never run.
package forge

import (
	"context"
	"net/url"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/run/proc"
)

// Host is a place with pull requests. dir is the repository, and remote the address of its origin. What it does not
// know, or does not show to this login, is an error. It is a *Limited where too much was asked.
type Host interface {
	// Program is the name of the program, and there reports whether that is on this machine.
	Program(ctx context.Context) (name string, there bool)
	// Find lists the pull requests of a branch, whatever their state, the newest first.
	Find(ctx context.Context, dir, remote, branch string) ([]record.PullRequest, error)
	// Create opens a pull request for a branch that origin has already.
	Create(ctx context.Context, dir, remote string, d Draft) (record.PullRequest, error)
	// States reads how the pull requests with these addresses are, without what others say of them.
	States(ctx context.Context, dir string, addresses []string) ([]record.PullRequest, error)
	// Look reads them with what others say of them, and how many calls the host still takes.
	Look(ctx context.Context, dir string, addresses []string) ([]record.PRLook, Quota, error)
	// Log is the end of the log of a check, as Look named it, of the pull request with this address.
	Log(ctx context.Context, dir, address, log string, most int) (string, error)
	// Issue reads an issue of the repository.
	Issue(ctx context.Context, dir, remote string, number int) (record.Issue, error)
	// Request reads a pull request of the repository by its number.
	Request(ctx context.Context, dir, remote string, number int) (record.Adoptee, error)
}

// Draft is a pull request that is to be opened.
type Draft struct {
	Branch string
	Base   string // the branch that it must be merged into
	Title  string
	Body   string
}

// For is the host of a kind: record.ForgeGitLab, and GitHub for every other one.
func For(kind string) Host {
	if kind == record.ForgeGitLab {
		return GL{}
	}
	return GH{}
}

// OfRequest is the host that has the pull request with this address.
func OfRequest(address string) Host {
	if strings.Contains(address, "/merge_requests/") {
		return GL{}
	}
	return GH{}
}

// At is the kind of host that the address of a remote leads to, as the name of the host tells, or as GH_HOST or
// GITLAB_HOST says: record.ForgeNone where none does.
func At(ctx context.Context, address string) string {
	host := hostOf(address)
	named := func(variable string) bool {
		own := proc.Getenv(ctx, variable)
		if parsed, err := url.Parse(own); err == nil && parsed.Host != "" {
			own = parsed.Hostname()
		}
		return own != "" && strings.EqualFold(host, own)
	}
	switch {
	case host == "":
		return record.ForgeNone
	case named("GH_HOST"), strings.HasSuffix(host, ".ghe.com"), strings.Contains("."+host+".", ".github."):
		return record.ForgeGitHub
	case named("GITLAB_HOST"), strings.Contains("."+host+".", ".gitlab."):
		return record.ForgeGitLab
	}
	return record.ForgeNone
}

// hostOf is the host in an address as git takes it: https://host/path, ssh://user@host:port/path or user@host:path.
func hostOf(address string) string {
	if strings.Contains(address, "://") {
		parsed, err := url.Parse(address)
		if err != nil || parsed.Scheme == "file" {
			return ""
		}
		return strings.ToLower(parsed.Hostname())
	}
	host, _, found := strings.Cut(address, ":")
	if !found || strings.Contains(host, "/") {
		return "" // a folder
	}
	return strings.ToLower(host[strings.LastIndex(host, "@")+1:])
}

// pathOf is the path of the repository in an address as git takes it; empty where there is none.
func pathOf(address string) string {
	path := ""
	if parsed, err := url.Parse(address); err == nil && parsed.Host != "" {
		path = parsed.Path
	} else if _, rest, found := strings.Cut(address, ":"); found {
		path = rest
	}
	return strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}
