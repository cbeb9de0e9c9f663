package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/rules/gitconfig"
	"orange/internal/rules/task"
)

// changedSettings are, for each project, the settings that all its worktrees share and that neither Orange nor a person
// changed. It says of which project they cannot be looked at.
func changedSettings(ctx context.Context, p *printer, h *Services,
	projects []task.Project) map[string][]string {
	found := map[string][]string{}
	for _, one := range projects {
		changes, err := h.Pool.SharedChanges(ctx, one)
		if err != nil {
			p.warn("%v", err)
		}
		if len(changes) > 0 {
			found[one.Name] = inText(changes)
		}
	}
	return found
}

func sayShared(p *printer, projects []task.Project, changed map[string][]string) {
	for _, one := range projects {
		if len(changed[one.Name]) == 0 {
			continue
		}
		p.say("%s needs you: settings of git that all its worktrees share have changed, and Orange did not change them",
			one.Name)
		for _, c := range changed[one.Name] {
			p.say("  %s", c)
		}
		name := joinWords([]string{one.Name})
		p.say("  put them back: orange project restore --project %s; or keep them: orange project accept --project %s",
			name, name)
	}
}

// inText are changes as people may read them: a value can be a secret.
func inText(changes []gitconfig.Change) []string {
	var text []string
	for _, c := range changes {
		text = append(text, c.String())
	}
	return text
}

// sharedLong says what the two commands are about.
const sharedLong = `All worktrees of a repository share its configuration, hooks and rules, and an agent can write them.
Orange notes what leads git elsewhere (identity, hooks, filters, addresses, signing) before a task
gets a worktree, and tells what has changed since: "orange project list", "orange doctor".
A merge goes by what was noted, or is refused where that cannot be.`

func projectRestore(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "restore [KEY...]", Short: "Put back shared settings that have changed", Args: cobra.ArbitraryArgs,
		Long:    "Put back shared settings of git that have changed: all, or those that are named.\n\n" + sharedLong,
		Example: "  orange project restore --project coffee\n  orange project restore user.name hooks/pre-push",
		RunE: p.runForPerson("put back settings", func(ctx context.Context, h *Services, keys []string) error {
			return changeShared(ctx, &p.finder, h, "put back", func(project task.Project) ([]gitconfig.Change, error) {
				return h.Pool.RestoreShared(ctx, project, keys)
			})
		}),
	}
}

func projectAccept(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "accept [KEY...]", Short: "Keep shared settings that have changed", Args: cobra.ArbitraryArgs,
		Long: "Keep shared settings of git that have changed, all or those that are named: they are what is noted\n" +
			"from then on.\n\n" + sharedLong,
		Example: "  orange project accept --project coffee\n  orange project accept core.hookspath",
		RunE: p.runForPerson("keep settings", func(ctx context.Context, h *Services, keys []string) error {
			return changeShared(ctx, &p.finder, h, "kept", func(project task.Project) ([]gitconfig.Change, error) {
				return h.Pool.AcceptShared(ctx, project, keys)
			})
		}),
	}
}

// changeShared does something about the changed settings of a project, and says of which.
func changeShared(ctx context.Context, p *finder, h *Services, done string,
	do func(task.Project) ([]gitconfig.Change, error)) error {
	project, err := p.projectOf(ctx, h)
	if err != nil {
		return err
	}
	changes, err := do(project)
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(map[string]any{"project": project.Name, "changes": orEmpty(inText(changes))})
	}
	if len(changes) == 0 {
		p.say("no shared setting of %s has changed", project.Name)
	}
	for _, c := range changes {
		p.say("%s: %s", done, c)
	}
	return nil
}
