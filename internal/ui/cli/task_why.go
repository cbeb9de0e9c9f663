package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/rules/decide"
	"orange/internal/rules/inbox"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

// explainer says why a task is where it is, and whose act is next.
type explainer struct {
	*finder
	open func(context.Context) (*Services, error)

	as    string // the role whose moves are shown
	whole bool   // every move, where a person is needed too
}

func taskWhy(p *Program) *cobra.Command {
	x := &explainer{finder: &p.finder, open: p.open}
	var forAgent, stopHook bool
	c := &cobra.Command{
		Use: "why [ID]", Short: "Say why a task waits, and list every move: open, or what is missing",
		Args: between(0, 1),
		Long: `Say why a task needs you, with all that its agent asks, and what to type. With --all, and where no
person is needed, list every move out of the task's status: who may ask for it, and whether it is
open now. For a move that is closed, list every condition that is unmet: what was found, where, and
what would satisfy it. Then show who or what the task waits for. The code that judges requests gives
this answer, on the evidence as it is now. Nothing is changed and no check is run: a check without a
result for the present commit is shown as such.

--as shows the moves of one role alone.

--for-agent tells an agent in a few lines that it has to act next, what is missing and how to ask,
or who has to act next, and that the agent may end its turn.

--stop-hook is the same for a hook that an agent program runs before an agent ends its turn. Where
the agent has to continue, it prints a JSON object with "decision": "block" and the text as
"reason", else nothing. After it has kept an agent three times without a new commit or a new text,
the agent may end its turn; so it may if this command fails.

With either flag Orange first takes over a TASK.md that a program has put in the place of the link
in the workspace, as "orange task show" does.

Last it prints what a task has passed at each good end of the workflow, and what leads around it.

With --json: {"task": {...}, "about": text, "ways": [...], "waits": [...], "passed": [{"end",
"always": [text], "around": [{"what", "way", "line", "by"}]}]}. A task that needs you has
"needs_you": {"kind", "reason", "text", "waits", "found", "to_do", "commands", "actions", "since"};
"actions" are the dashboard's names of what the commands do, as in docs/keys.md.
A way is {"to", "by": [roles], "open", "guards": [{"guard", "value", "holds"}], "details":
[{"condition", "found", "where", "want"}], "reason": whether it takes a reason, "override": whether
a person may take it in spite of the details, "hooks": what is done then, "line": of the workflow
file}; what the task waits for has the form of a detail.

The command also names the branches that the task's branch conflicts with: those of other live
tasks, and the default branch. If a branch has moved, git tries the merge again. With --json the
task has "conflicts": [{"branch", "task", "files", "at"}]; "task" is empty for the default branch.`,
		Example: "  orange task why\n  orange task why 4Fz --as worker\n  orange task why 4Fz --json",
		RunE: p.runFound(func(ctx context.Context, h *Services, id string) error {
			if forAgent {
				return x.turn(ctx, h, id)
			}
			return x.explain(ctx, h, id)
		}),
	}
	c.Flags().StringVar(&x.as, "as", "", "the role whose moves are shown")
	c.Flags().BoolVar(&x.whole, "all", false, "every move, and what it lacks, where a person is needed too")
	c.Flags().BoolVar(&forAgent, "for-agent", false, "tell an agent whether it has to act next")
	c.Flags().BoolVar(&stopHook, "stop-hook", false, "the same for a hook of an agent program, in JSON")
	why := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if stopHook {
			return x.endOfTurn(c.Context(), args)
		}
		return why(c, args)
	}
	return c
}

// explain says why a task waits: in short where a person is needed and does not ask for the whole, or for the moves of
// one role.
func (x *explainer) explain(ctx context.Context, h *Services, id string) error {
	e, err := h.Queries.Why(ctx, id)
	if err != nil {
		return err
	}
	if x.as != "" {
		e = e.For(x.as)
	}
	conflicts := conflictsNow(ctx, h, e.Task)
	if e.Need.Kind != "" && x.as == "" && !x.whole && !x.json {
		x.whyInShort(e, conflictLines(conflicts, id))
		return nil
	}
	if e.Passed, err = h.Workflows.PassedBy(ctx, e.Task.Workflow); err != nil {
		return err
	}
	if !x.json {
		x.why(e, conflictLines(conflicts, id))
		return nil
	}
	one := view(e.Task, "").conflicting(conflicts).waiting(e.Before)
	if e.Need.Kind != "" {
		one.NeedsYou = &e.Need
	}
	return x.printJSON(map[string]any{"task": one, "about": e.About,
		"ways": orEmpty(e.Ways), "waits": orEmpty(e.Waits), "passed": orEmpty(e.Passed)})
}

// whyInShort tells a person why a task needs them, and what is open to them now.
func (x *explainer) whyInShort(e decide.Explanation, conflicts []string) {
	x.about(e)
	x.whyNeeded(e)
	if !e.Task.Live {
		return
	}
	if len(conflicts) > 0 {
		x.say("conflicts with %s", strings.Join(conflicts, "; "))
	}
	var open []string
	for _, one := range inbox.Ways(e, task.RoleHuman) {
		if one.Open() {
			open = append(open, string(one.To))
		}
	}
	x.say("open now: %s; every move, and what it lacks: orange task why %s --all",
		cmp.Or(strings.Join(open, ", "), "nothing"), e.Task.ID)
}

// about says where a task is, and what that status means.
func (x *explainer) about(e decide.Explanation) {
	if e.Task.Live {
		x.say("%s is %s  %s", e.Task.ID, e.Task.Status, e.About)
		return
	}
	x.say("%s is %s, over since %s  %s", e.Task.ID, e.Task.Status, x.clock(e.Task.EnteredAt, time.DateTime), e.About)
}

// whyNeeded tells why a task needs a person, without the command that the person has just typed.
func (x *explainer) whyNeeded(e decide.Explanation) {
	e.Need.Commands = slices.DeleteFunc(slices.Clone(e.Need.Commands), func(line string) bool {
		return line == "orange task why "+e.Task.ID
	})
	x.need(e.Need)
}

// why tells an explanation to people. Of a task that is over there is no more to say than what is still to be done of
// it.
func (x *explainer) why(e decide.Explanation, conflicts []string) {
	x.about(e)
	if e.Need.Reason != "" {
		x.whyNeeded(e)
	}
	x.waits(e)
	if !e.Task.Live {
		return
	}
	if len(conflicts) > 0 {
		x.say("")
		x.say("conflicts with")
	}
	for _, line := range conflicts {
		x.say("  %s", line)
	}
	x.say("")
	switch {
	case len(e.Ways) == 0 && x.as != "":
		x.say("no move leads out of here that the role %q may ask for", x.as)
	case len(e.Ways) == 0:
		x.say("no move leads out of here")
	}
	for i, w := range e.Ways {
		if i == 0 || w.To != e.Ways[i-1].To {
			x.say("-> %s", w.To)
		}
		x.option(w)
	}
	if lines := passedLines(e.Passed); len(lines) > 0 {
		x.say("")
		x.say("%s", strings.Join(lines, "\n"))
	}
}

// waits says who or what a task waits for, without what the need above says already. Rules that have nothing to say are
// only counted.
func (x *explainer) waits(e decide.Explanation) {
	if up := e.Task.Subject.UnreviewedText(); up != "" && !strings.Contains(e.Need.Reason, up) {
		x.say("its work was %s", up)
	}
	idle, told := 0, 0
	for _, d := range e.Waits {
		switch {
		case d.Idle:
			idle++
		case inbox.Tells(e.Need, e.Task, d):
		default:
			if told++; told == 1 {
				x.say("")
				x.say("waits for")
			}
			x.detail("  ", d)
		}
	}
	if idle == 0 || told == 0 {
		return
	}
	x.say("  %s", map[bool]string{true: "1 other rule has nothing to do now",
		false: strconv.Itoa(idle) + " other rules have nothing to do now"}[idle == 1])
}

func (x *explainer) option(w decide.Option) {
	extra := ""
	if w.Reason {
		extra += "; takes a reason"
	}
	if w.Command != "" && !w.Open {
		extra += "; a person may override: " + w.Command
	}
	x.say("   %s for %s%s", w.State(), w.Who(), extra)
	for _, g := range w.Guards {
		x.say("     %v", g)
	}
	for _, d := range w.OtherDetails() {
		x.detail("     ", d)
	}
}

func detailText(indent string, d rejection.Detail) string {
	where := ""
	if d.Where != "" {
		where = " (" + d.Where + ")"
	}
	return fmt.Sprintf("%s%s: %s%s\n%s  %s\n", indent, d.Condition, strings.TrimPrefix(d.Found, "that "), where,
		indent, d.Want)
}
