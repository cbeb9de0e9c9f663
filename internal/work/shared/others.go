package shared

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orange/internal/rules/printable"
	"orange/internal/work/git"
)

// Others are the branches, tags, notes and stashes of a repository: what all worktrees share, and an agent can lose for
// others.
type Others struct {
	Refs    map[string]string `json:"refs"`    // commits by the refs' names, without "refs/"
	Stashes map[string]string `json:"stashes"` // messages by commits; nil where they could not be read
	Unread  error             `json:"-"`       // why that is so
}

// mostRefs is how many refs of a kind are noted. With more of them nothing is said of what became of that kind.
const mostRefs = 5000

// stashRef is the newest stash; its log has the others.
const stashRef = "refs/stash"

// Others has git list them. Of a kind of which there are very many it has none.
func (r Common) Others(ctx context.Context) (all Others, err error) {
	defer git.Explain(&err, "cannot look at the branches, tags and stashes of %q", r.Path)
	all = Others{Refs: map[string]string{}, Stashes: map[string]string{}}
	rows, err := r.ListRefs(ctx, []string{"refs/" + git.OfBranches, "refs/" + git.OfTags, "refs/" + git.OfNotes,
		stashRef},
		"refname", "objectname", "symref")
	if err != nil {
		return all, err
	}
	kinds := map[string]map[string]string{}
	stashed := false
	for _, row := range rows {
		stashed = stashed || row[0] == stashRef
		name := strings.TrimPrefix(row[0], "refs/")
		if kind, _, below := strings.Cut(name, "/"); below && row[2] == "" { // what stands for another is not noted
			if kinds[kind] == nil {
				kinds[kind] = map[string]string{}
			}
			kinds[kind][name] = row[1]
		}
	}
	for _, refs := range kinds {
		if len(refs) <= mostRefs {
			maps.Copy(all.Refs, refs)
		}
	}
	if !stashed {
		return all, nil
	}
	out, err := r.Run(ctx, "log", "--walk-reflogs", "-z", "--format=%H %gs", stashRef, "--")
	if err != nil { // a stash that an agent broke hides no branch
		all.Stashes, all.Unread = nil, fmt.Errorf("read the stashes: %w", err)
		return all, nil
	}
	for line := range strings.SplitSeq(string(out.Stdout), "\x00") {
		if commit, message, is := strings.Cut(line, " "); is {
			all.Stashes[commit] = message
		}
	}
	return all, nil
}

// LostSince tells what of others' branches, tags, notes and stashes is gone since they were noted, each with the
// command that brings it back. Own branches, and branches and notes of which git says that the earlier commit is part
// of the present one, it leaves out.
func (r Common) LostSince(ctx context.Context, was Others, own []string) ([]string, error) {
	now, err := r.Others(ctx)
	if err != nil || len(now.Refs) == 0 {
		return nil, err
	}
	var out []string
	for _, ref := range slices.Sorted(maps.Keys(was.Refs)) {
		before, present := was.Refs[ref], now.Refs[ref]
		branch, is := strings.CutPrefix(ref, git.OfBranches)
		if before == present || is && slices.Contains(own, branch) {
			continue
		}
		kept := false
		if present != "" && !strings.HasPrefix(ref, git.OfTags) {
			_, err := r.Run(ctx, "merge-base", "--is-ancestor", before, present)
			if kept = err == nil; !kept && git.ExitCode(err) != 1 {
				return out, fmt.Errorf("ask git what became of %q: %w", ref, err)
			}
		}
		if !kept {
			out = append(out, lostOf(ref, before, present))
		}
	}
	if now.Unread != nil {
		return out, now.Unread
	}
	for _, commit := range slices.Sorted(maps.Keys(was.Stashes)) {
		if _, there := now.Stashes[commit]; !there {
			message := printable.Line(was.Stashes[commit])
			out = append(out, fmt.Sprintf("the stash %q is gone: git stash store -m %s %.12s", message,
				git.Quote(message),
				commit))
		}
	}
	return out, nil
}

// lostOf tells of a ref that is gone, or that has gone another way, with the command that brings back what it had.
func lostOf(ref, before, present string) string {
	kind, name, _ := strings.Cut(ref, "/")
	now, back := "is gone", fmt.Sprintf("git update-ref %s %.12s", git.Quote("refs/"+ref), before)
	if present != "" {
		now = fmt.Sprintf("is without it at %.12s", present)
	}
	if kind+"/" == git.OfBranches {
		branch := git.Quote(name)
		if present != "" {
			branch = "NAME"
		}
		kind, back = "branch", fmt.Sprintf("git branch %s %.12s", branch, before)
	}
	return fmt.Sprintf("the %s %q was at %.12s, and %s: %s", strings.TrimSuffix(kind, "s"), name, before, now, back)
}
