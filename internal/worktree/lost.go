package worktree

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// unborn reports whether the slot is on a branch without a commit: it never had one, or its ref was deleted.
func (p place) unborn() bool { return p.head == "" && p.branch != "" }

// lost are the commits that a branch had whose ref was deleted while the slot had it checked out, as far as they
// are known and still there: the last one that HEAD's log tells about, and the one that the record noted.
func (s Slot) lost(ctx context.Context, here place) []string {
	if !here.unborn() {
		return nil
	}
	var found []string
	for _, commit := range []string{here.lastHead(), s.Noted} {
		if !isCommit(commit) || slices.Contains(found, commit) {
			continue
		}
		// else git has removed it, and nothing is left to keep
		if _, err := s.run(ctx, "cat-file", "-e", commit+"^{commit}"); err == nil {
			found = append(found, commit)
		}
	}
	return found
}

// lastHead is the last commit that the slot's own log of HEAD tells about; empty where git keeps none.
func (p place) lastHead() string {
	text, err := readFile(filepath.Join(p.gitDir, "logs", "HEAD"))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range slices.Backward(lines) {
		before, rest, _ := strings.Cut(line, " ")
		after, _, _ := strings.Cut(rest, " ")
		for _, commit := range []string{after, before} { // a ref that is deleted goes from a commit to zeros
			if isCommit(commit) && strings.Trim(commit, "0") != "" {
				return commit
			}
		}
	}
	return ""
}
