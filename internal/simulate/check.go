package simulate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"orange/internal/decide"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Breach is a property that was found broken, with how to see it again.
type Breach struct {
	Property string
	Message  string
	Run      int
	Last     []string // the last steps before it
}

func (r *run) breaks(property, format string, args ...any) {
	if r.breach != nil {
		return
	}
	r.tell("BROKEN: "+format, args...)
	line := r.trace[len(r.trace)-1]
	_, message, _ := strings.Cut(line, "BROKEN: ")
	r.breach = &Breach{Property: property, Message: message, Run: r.nth,
		Last: slices.Clone(r.trace[max(0, len(r.trace)-12):])}
}

// answers are what people and agents were told.
type answers struct {
	tokens   int
	refusals int
	granted  map[string]history.Event // by the reason that was given
	denied   map[string]bool
}

// number is what a hook is called in the trace: numbers of the record go on from run to run.
func (r *run) number(hook int64) int64 {
	if r.numbers[hook] == 0 {
		r.numbers[hook] = int64(len(r.numbers) + 1)
	}
	return r.numbers[hook]
}

// Committed checks a change that was made durable.
func (r *run) Committed(_ ProcessView, c record.Change, t task.Task, open []record.Seat) {
	if r.id == "" {
		r.id = t.ID
	}
	r.audit.Committed(c, t, open)
	for _, e := range c.Events {
		switch {
		case e.IsMove():
			r.moves++
			r.vain = 0
			if r.alone++; e.Actor == task.RoleHuman {
				r.alone = 0
			}
			r.visited[e.From], r.visited[e.To] = true, true
			r.handedOver(e.To)
			r.branch().Merged = r.branch().Merged && !t.Live // whoever goes on changes something
			r.tell("the task moves from %q to %q, by %s (%s)", e.From, e.To, e.Actor, e.Reason)
		case e.Type == history.AgentRespawned && e.Actor == task.RoleHuman, e.Type == history.HooksRetried:
			r.alone = 0
			r.tell("the history notes %s", e.Type)
		case e.Type == history.Created:
			r.tell("the task is created in %q", e.Data[history.DataStatus])
		case e.Type != history.AgentSpawned && e.Type != history.ReviewStarted && e.Type != history.HookFailure:
			r.tell("the history notes %s: %s", e.Type, e.Reason)
		}
	}
	if most := cmp.Or(r.setup.Bound, maxAlone); r.alone > most {
		r.breaks(propBounded, "the task made %d moves without a person, at most %d were expected", r.alone, most)
	}
}

// Begun checks a hook that is about to be performed.
func (r *run) Begun(_ ProcessView, hook int64) { r.audit.Begun(r.id, hook) }

// Deleted is of no interest: each run has one task.
func (r *run) Deleted(string) {}

// answered notes what somebody was told.
func (r *run) answered(token string, out record.Outcome, err error) {
	switch {
	case refused(err):
		r.denied[token] = true
		text, _, _ := strings.Cut(err.Error(), "\n")
		r.tell("it is refused: %s", text)
	case errors.Is(err, errEnded):
		r.tell("nobody hears an answer")
	case err != nil:
		r.tell("the answer is an error: %v", err)
	case out.Moved:
		r.granted[token] = out.Event
	}
}

// checkOver looks at a task that is over and owes nothing: its last move has done all that it does.
func (r *run) checkOver(s record.Snapshot) {
	if r.id == "" || s.Task.Live || len(s.Owed) > 0 || r.isPlanned(runnerComes) {
		return
	}
	if a := r.anyone(); a != nil {
		r.breaks(propNobodyLeft, "the task is over (%q), and %s lives", s.Task.Status, a.name)
	}
	if s.Task.Workspace != "" {
		r.breaks(propWorkspace, "the task is over (%q), and its workspace was not given back", s.Task.Status)
	}
}

// checkDeadEnd looks at a task that rests, whether anything leads on beside giving it up.
func (r *run) checkDeadEnd(s record.Snapshot) {
	for i := range r.Workflow.Transitions {
		edge := &r.Workflow.Transitions[i]
		if !decide.Leads(edge, s.Task) {
			continue
		}
		marks := decide.Marks(r.Workflow, edge.To)
		if edge.To == workflow.Previous || !marks.Terminal && edge.To != edge.From || marks.Well {
			return
		}
	}
	for _, again := range r.Workflow.Redo {
		if again.Name != string(s.Task.Status) {
			return
		}
	}
	r.breaks(propNoDeadEnd, "the task rests in %q, and nothing leads on from there", s.Task.Status)
}

// check is what must be true when everything is done.
func (r *run) check(ctx context.Context, s record.Snapshot, events []history.Event) error {
	r.checkOver(s)
	if err := r.audit.Check(ctx, s, events); err != nil {
		return err
	}
	r.checkMoves(events)
	for _, seat := range r.unseen(ctx) {
		r.breaks(propDeaths, "the %s of hook %d has a seat, and does not live: its death had no consequence",
			seat.Role, r.number(seat.Hook))
	}
	_, err := r.audit.Replay(ctx, s.Task, nil)
	return err
}

// checkMoves compares what people and agents were told with the history.
func (r *run) checkMoves(events []history.Event) {
	count := map[string]int{}
	hashes := map[string]bool{}
	for _, e := range events {
		hashes[e.Hash] = true
		if e.IsMove() && strings.HasPrefix(e.Reason, "request ") {
			count[e.Reason]++
		}
	}
	for n := range r.tokens {
		token := "request " + strconv.Itoa(n+1)
		event, granted := r.granted[token]
		switch {
		case count[token] > 1:
			r.breaks(propAnswers, "the move of %s was made %d times", token, count[token])
		case granted && !hashes[event.Hash]:
			r.breaks(propAnswers, "%s was granted, and the history does not have it", token)
		case r.denied[token] && count[token] > 0:
			r.breaks(propAnswers, "%s was refused, and made", token)
		}
	}
}
