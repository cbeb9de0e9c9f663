package cli

import (
	"context"
	"slices"
	"strings"

	"orange/internal/rules/task"
)

const proposalLong = `Orange looks at the repository's files (package-lock.json, go.mod, requirements.txt, .env,
.gitmodules and the like), and proposes what its worktrees need. At a terminal it asks; with --yes
it applies the proposal; otherwise it only prints it.`

// propose offers what the repository looks like its worktrees need, and answers the project as it is then. What could
// not be looked at does not undo the project.
func propose(ctx context.Context, p *input, h *Services, project task.Project, yes bool) (task.Project, string) {
	have, err := h.Home.Project(project.Name)
	var wants task.WorktreeSetup
	var seen []string
	if err == nil {
		wants, seen, err = h.Home.Propose(ctx, have)
	}
	if err != nil {
		p.talk("cannot find out what its worktrees need: %v\n", err)
		return project, ""
	}
	if len(seen) == 0 {
		return have, ""
	}
	flags := strings.Join(addedFlags(have.Worktree, wants), " ")
	if !yes && p.Terminal && !p.json {
		yes = p.agreed("found " + strings.Join(seen, ", ") + "; have its worktrees made ready with " + flags + "?")
	}
	if !yes {
		return have, "orange project update " + joinWords([]string{have.Name}) + " " + flags
	}
	ready := have
	ready.Worktree = wants
	if err := h.Home.UpdateProject(ctx, ready); err != nil {
		p.talk("cannot have its worktrees made ready: %v\n", err)
		return have, ""
	}
	return ready, ""
}

// addedFlags are the flags that make the one set-up of the other, quoted for a shell.
func addedFlags(have, wants task.WorktreeSetup) []string {
	var words []string
	list := func(flag string, have, wants []string) {
		if !slices.Equal(have, wants) {
			for _, one := range wants {
				words = append(words, flag, joinWords([]string{one}))
			}
		}
	}
	list("--copy", have.Copy, wants.Copy)
	var before, after []string
	for _, one := range have.Commands {
		before = append(before, joinWords(one))
	}
	for _, one := range wants.Commands {
		after = append(after, joinWords(one))
	}
	list("--setup", before, after)
	list("--setup-when", have.When, wants.When)
	if wants.Submodules && !have.Submodules {
		words = append(words, "--submodules")
	}
	return words
}
