package simulate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Breach is a broken property, with what it takes to see it again.
type Breach struct {
	Property string   `json:"property"`
	Message  string   `json:"message"`
	Run      int      `json:"run"`
	Last     []string `json:"last_steps"` // before it
}

func (r *run) breakf(property, format string, args ...any) {
	if r.breach != nil {
		return
	}
	r.logf("BROKEN: "+format, args...)
	line := r.trace[len(r.trace)-1]
	_, message, _ := strings.Cut(line, "BROKEN: ")
	r.breach = &Breach{Property: property, Message: message, Run: r.number,
		Last: slices.Clone(r.trace[max(0, len(r.trace)-12):])}
}

// answers are what the engine answered to people and agents.
type answers struct {
	tokens  int
	granted map[string]history.Event // by the reason that was given
	denied  map[string]bool
}

// hookNumber is the number of a hook in the trace: those of the record go on from run to run.
func (r *run) hookNumber(hook int64) int64 {
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
	elsewhere := slices.ContainsFunc(c.Events, func(e history.Event) bool { // a person ended its pull request
		return e.Type == history.PRLanded || e.Type == history.PRDropped
	})
	for _, e := range c.Events {
		switch {
		case e.IsMove():
			r.moves++
			r.failedVisits = 0
			if r.movesAlone++; e.Actor == task.RoleHuman || elsewhere {
				r.movesAlone = 0
			}
			r.visited[e.From], r.visited[e.To] = true, true
			r.noteHandover(e.To)
			r.branch().Merged = r.branch().Merged && !t.Live // a task that goes on is changed
			r.logf("the task moves from %q to %q, by %s (%s)", e.From, e.To, e.Actor, e.Reason)
		case e.Type == history.AgentRespawned && e.Actor == task.RoleHuman, e.Type == history.HooksRetried:
			r.movesAlone = 0
			r.logf("the history notes %s", e.Type)
		case e.Type == history.Created:
			r.logf("the task is created in %q", e.Data[history.DataStatus])
		case e.Type != history.AgentSpawned && e.Type != history.ReviewStarted && e.Type != history.HookFailure:
			r.logf("the history notes %s: %s", e.Type, e.Reason)
		}
	}
	if most := cmp.Or(r.setup.Bound, maxAlone); r.movesAlone > most {
		r.breakf(propBounded, "the task made %d moves without a person, at most %d were expected", r.movesAlone, most)
	}
}

// Begun checks a hook that is about to be performed.
func (r *run) Begun(_ ProcessView, hook int64) { r.audit.Begun(r.id, hook) }

// Deleted is of no interest: each run has one task.
func (r *run) Deleted(string) {}

func (r *run) noteAnswer(token string, out record.Outcome, err error) {
	switch {
	case isRefusal(err):
		r.denied[token] = true
		text, _, _ := strings.Cut(err.Error(), "\n")
		r.logf("it is refused: %s", text)
	case errors.Is(err, errEnded):
		r.logf("no one gets an answer")
	case err != nil:
		r.logf("the answer is an error: %v", err)
	case out.Moved:
		r.granted[token] = out.Event
	}
}

// checkOver checks a task that is over and has no pending hook: its last move has done everything.
func (r *run) checkOver(s record.Snapshot) {
	if r.id == "" || s.Task.Live || len(s.Owed) > 0 || r.isPlanned(runnerStarts) {
		return
	}
	if a := r.anyone(); a != nil {
		r.breakf(propNobodyLeft, "the task is over (%q), and %s lives", s.Task.Status, a.name)
	}
	if s.Task.Workspace != "" {
		r.breakf(propWorkspace, "the task is over (%q), and its workspace was not given back", s.Task.Status)
	}
}

// checkDeadEnd checks whether a move other than giving up leads on from where a task rests: a transition, a rule about
// its agent's end, its time, or a redo. Where a workflow has no other end, none of its ends is giving up.
func (r *run) checkDeadEnd(s record.Snapshot) {
	state, _ := r.Workflow.State(s.Task.Status)
	ways := []task.Status{state.Timeout.Then, state.Refused.Then}
	for i := range r.Workflow.Transitions {
		if edge := &r.Workflow.Transitions[i]; decide.Leads(edge, s.Task) {
			ways = append(ways, edge.To)
		}
	}
	for i := range r.Workflow.Exit.Rules {
		if rule := &r.Workflow.Exit.Rules[i]; rule.Status == s.Task.Status {
			ways = append(ways, rule.LeadsTo()...)
		}
	}
	for _, again := range r.Workflow.Redo {
		ways = append(ways, task.Status(again.Name))
	}
	well := func(state workflow.State) bool { return decide.Marks(r.Workflow, state.Name).Well }
	leads := func(to task.Status) bool {
		marks := decide.Marks(r.Workflow, to)
		ends := marks.Well || !slices.ContainsFunc(r.Workflow.States, well)
		return to == workflow.Previous || to != "" && to != s.Task.Status && (!marks.Terminal || ends)
	}
	if !slices.ContainsFunc(ways, leads) {
		r.breakf(propNoDeadEnd, "the task rests in %q, and nothing leads on from there", s.Task.Status)
	}
}

// check is what must be true when everything is done.
func (r *run) check(ctx context.Context, s record.Snapshot, events []history.Event) error {
	r.checkOver(s)
	if err := r.audit.Check(ctx, s, events); err != nil {
		return err
	}
	r.checkMoves(events)
	for _, seat := range r.seatsOfDead(ctx) {
		r.breakf(propDeaths, "the %s of hook %d has a seat, and does not live: its death had no consequence",
			seat.Role, r.hookNumber(seat.Hook))
	}
	_, err := r.audit.Replay(ctx, s.Task, nil)
	return err
}

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
			r.breakf(propAnswers, "the move of %s was made %d times", token, count[token])
		case granted && !hashes[event.Hash]:
			r.breakf(propAnswers, "%s was granted, and the history does not have it", token)
		case r.denied[token] && count[token] > 0:
			r.breakf(propAnswers, "%s was refused, and made", token)
		}
	}
}
