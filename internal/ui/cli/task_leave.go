package cli

import (
	"context"

	"github.com/spf13/cobra"

	"orange/internal/rules/task"
	"orange/internal/work/worktree"
)

// leave is how a person lets a task go.
type leave struct {
	reason, to string
	yes        bool
}

func taskLeave(p *Program) *cobra.Command {
	var l leave
	c := &cobra.Command{
		Use: "leave [ID]", Short: "Give a task up here, because it goes on at another machine", Args: between(0, 1),
		Long: `Give a task up here, because it goes on at another machine. Orange ends its agents, keeps work that
is on no branch under refs/orange/rescue/, gives the workspace back, moves the folder to
tasks/.left/, where "orange doctor --rebuild" does not look, and forgets the task. It merges,
cancels and removes nothing: the branch stays, and so do the ignored files of the workspace.

With --push-to, a remote of the project or an address, Orange first pushes what is in the worktree
and on the branch to refs/orange/fleet/ID/lost/EPOCH there, as far as the last snapshot there lacks
it. If that fails, the task and its worktree stay here, and the same command tries it again. New
files that look like secrets, and those of more than 50 MB, are not pushed; they are kept here.`,
		Example: "  orange task leave 4Fz --yes --reason \"it goes on at the big machine\"",
		RunE: p.onTask(nil, func(ctx context.Context, h *Services, id string, actor task.Actor) error {
			if err := p.sureOf(id, actor, l.yes, "Let go of",
				" Its agents are ended; its branch and its work are kept.", "nothing was done"); err != nil {
				return err
			}
			return letGo(ctx, &p.printer, h, id, actor, l)
		}),
	}
	c.Flags().StringVar(&l.reason, "reason", "", "why, for the history")
	c.Flags().BoolVar(&l.yes, "yes", false, "do not ask")
	c.Flags().StringVar(&l.to, "push-to", "", "push the work here first: a remote of the project or an address")
	return c
}

func letGo(ctx context.Context, p *printer, h *Services, id string, actor task.Actor, l leave) error {
	report, err := h.Queries.Report(ctx, id, actor)
	if err != nil {
		return err
	}
	pushed := ""
	if l.to != "" {
		if err := h.Commands.BeginToLeave(ctx, id, l.reason, actor); err != nil {
			return err
		}
		if pushed, err = h.Snapshots.ShipLost(ctx, id, l.to); err != nil {
			return task.Notef(worktree.ErrNotPushed, "task %s has not left: %v; its agents are ended, its worktree "+
				"and its branch stay here; the same command tries it again", id, err)
		}
	}
	folder, refs, err := h.Commands.Leave(ctx, id, l.reason, actor)
	if err != nil {
		return err
	}
	branch := report.Task.Branch
	if p.json {
		said := map[string]any{"left": id, "folder": folder, "branch": branch, "refs": orEmpty(refs)}
		if l.to != "" {
			said["pushed"] = pushed
		}
		return p.printJSON(said)
	}
	p.say("task %s has left this home; its folder is now %s", id, folder)
	p.say("  kept: branch %s", branch)
	for _, ref := range refs {
		p.say("  kept: %s", ref)
	}
	if pushed != "" {
		p.say("  pushed: %s", pushed)
	}
	return nil
}
