package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"orange/internal/record"
)

// described is a pull request in the words of GitHub.
type described struct {
	URL               string
	State             string
	HeadRefName       string
	HeadRefOid        string
	IsCrossRepository bool
	MergeCommit       *struct{ OID string }
	Commits           struct {
		Nodes []struct {
			Commit struct {
				StatusCheckRollup *struct{ State string }
			}
		}
	}
}

func (d described) pullRequest() record.PullRequest {
	pr := record.PullRequest{URL: d.URL, State: d.State, Commit: d.HeadRefOid, Foreign: d.IsCrossRepository}
	if d.MergeCommit != nil {
		pr.Merge = d.MergeCommit.OID
	}
	return pr
}

// checks is what the checks of the newest commit come to. GitHub has folded them already.
func (d described) checks() string {
	for _, node := range d.Commits.Nodes {
		if node.Commit.StatusCheckRollup == nil {
			continue
		}
		switch node.Commit.StatusCheckRollup.State {
		case "FAILURE", "ERROR":
			return record.ChecksFail
		case "SUCCESS":
			return record.ChecksPass
		}
		return record.ChecksPending
	}
	return record.ChecksNone
}

// wanted are the fields of a pull request that States asks for.
const wanted = "fragment pr on PullRequest { url state headRefName headRefOid isCrossRepository mergeCommit { oid } " +
	"commits(last: 1) { nodes { commit { statusCheckRollup { state } } } } }"

// States reports how the pull requests with these addresses stand, with one call for all of them. It asks for
// each by its address: a list would end somewhere, and a search lags behind. Those that GitHub does not know are
// missing from the answer; the error names them.
func (g GH) States(ctx context.Context, dir string, addresses []string) ([]record.PullRequest, error) {
	if len(addresses) == 0 {
		return nil, nil
	}
	first, err := url.Parse(addresses[0])
	if err != nil || first.Host == "" {
		return nil, fmt.Errorf("cannot ask GitHub for the pull request %q: it is no address", addresses[0])
	}
	var declared, asked []string
	args := []string{"api", "graphql", "--hostname", first.Host}
	for i, address := range addresses {
		declared = append(declared, fmt.Sprintf("$u%d: URI!", i))
		asked = append(asked, fmt.Sprintf("p%d: resource(url: $u%d) { ...pr }", i, i))
		args = append(args, "-f", fmt.Sprintf("u%d=%s", i, address))
	}
	args = append(args, "-f", "query=query("+strings.Join(declared, ", ")+") { "+strings.Join(asked, " ")+" } "+wanted)
	out, refused := g.run(ctx, dir, "", args...)
	var answer struct{ Data map[string]*described }
	if err := json.Unmarshal(out.Stdout, &answer); refused != nil && (err != nil || len(answer.Data) == 0) {
		return nil, fmt.Errorf("cannot ask GitHub how %d pull requests stand: %w", len(addresses), refused)
	} else if err != nil {
		return nil, fmt.Errorf("cannot read what gh answers about %d pull requests: %w", len(addresses), err)
	}
	var found []record.PullRequest
	var all error
	for i, address := range addresses {
		d := answer.Data[fmt.Sprintf("p%d", i)]
		if d == nil || d.State == "" {
			all = errors.Join(all, fmt.Errorf("cannot read the state of the pull request %s: GitHub does not "+
				"know it, or does not show it to you", address))
			continue
		}
		pr := d.pullRequest()
		pr.URL, pr.Checks = address, d.checks() // a repository that was renamed answers with its new name
		found = append(found, pr)
	}
	return found, all
}

// There reports whether gh is on this machine.
func (g GH) There() bool {
	_, err := g.find()
	return err == nil
}

// OnGitHub reports whether the address of a remote leads to GitHub: to a host that is named after it, or to the one
// that GH_HOST names.
func OnGitHub(address string) bool {
	host := hostOf(address)
	if host == "" {
		return false
	}
	if own := os.Getenv("GH_HOST"); own != "" && strings.EqualFold(host, own) {
		return true
	}
	return strings.HasSuffix(host, ".ghe.com") || strings.Contains("."+host+".", ".github.")
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
