package simulate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"orange/internal/action"
	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// What must be true of every task at every step. The first five are proved of a workflow too, and are called as
// they are there.
const (
	propNoDeadEnd  = "no-dead-end"
	propBounded    = "bounded"
	propOneAgent   = "one-agent"
	propNobodyLeft = "nobody-left"
	propWorkspace  = "workspace"
	propHistory    = "history" // it is whole, and says what is on record
	propReplay     = "replay"  // every decision made again comes out the same, to the byte
	propHooks      = "hooks"   // what is owed is performed, and settled once
	propDeaths     = "deaths"  // one death has one consequence
	propAnswers    = "answers" // what was granted is in the history, and what was refused is not
	propMirrors    = "mirrors" // the files show what is on record
	propMerges     = "merges"  // what is merged was passed, put up by a person, or is answered for by one
	propErrors     = "errors"  // nothing fails that nobody has disturbed
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

// twin is a second record of what happened, which knows no version and no rule.
type twin struct {
	numbers   map[int64]int // of hooks, as the trace has them
	performed map[int64]int
	settled   map[int64]int
	moves     int
	seen      int64 // the version that was committed last
	tokens    int
	refusals  int
	granted   map[string]history.Event // by the reason that was given
	denied    map[string]bool
}

func newTwin() twin {
	return twin{
		numbers: map[int64]int{}, performed: map[int64]int{}, settled: map[int64]int{},
		granted: map[string]history.Event{}, denied: map[string]bool{}, seen: 0,
	}
}

// number is what a hook is called in the trace: numbers of the record go on from run to run.
func (r *run) number(hook int64) int {
	if r.numbers[hook] == 0 {
		r.numbers[hook] = len(r.numbers) + 1
	}
	return r.numbers[hook]
}

// Committed checks a change that was made durable.
func (r *run) Committed(_ ProcessView, c record.Change, t task.Task, _ []record.Seat) {
	if r.id == "" {
		r.id = t.ID
	}
	if c.Expect != r.seen || t.Version != r.seen+1 {
		r.breaks(
			propHistory, "a change that was decided on version %d was made on version %d: what was between is lost", c.Expect, r.seen)
	}
	r.seen = t.Version
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
	for _, one := range c.Settled {
		if one.State != task.HookDone && one.State != task.HookSuperseded {
			continue
		}
		if r.settled[one.ID]++; r.settled[one.ID] > 1 {
			r.breaks(propHooks, "hook %d is settled a second time", r.number(one.ID))
		}
		if one.State == task.HookDone && r.performed[one.ID] == 0 {
			r.breaks(propHooks, "hook %d is done, and nobody has performed it", r.number(one.ID))
		}
	}
	if c.DeadHook != 0 && len(c.Events) > 0 {
		r.died(c.DeadHook)
	}
}

// died looks at a death that had a consequence.
func (r *run) died(hook int64) {
	a := r.Started(hook)
	if a == nil {
		return // its hook was dropped before anybody was started
	}
	a.deaths++
	switch {
	case a.Alive:
		r.breaks(propDeaths, "the death of %s had a consequence, and it lives", a.name)
	case a.deaths > 1:
		r.breaks(propDeaths, "the death of %s had a second consequence", a.name)
	}
}

// Begun checks a hook that is about to be performed.
func (r *run) Begun(_ ProcessView, hook int64) {
	if r.settled[hook] > 0 {
		r.breaks(propHooks, "hook %d is begun after it was settled", r.number(hook))
	}
}

// Deleted is of no interest: each run has one task.
func (r *run) Deleted(string) {}

// performs looks whether a hook is performed in its turn.
func (r *run) performs(job record.Job) {
	if class, _ := action.ClassOf(job.Hook.Action); class == action.ClassApart {
		return
	}
	s, err := r.load(context.Background())
	r.failed(err)
	for _, other := range s.Owed {
		if class, _ := action.ClassOf(other.Action); other.ID < job.Hook.ID && class != action.ClassApart {
			r.breaks(propHooks, "hook %d (%s) is performed before hook %d (%s), which is owed",
				r.number(job.Hook.ID), job.Hook.Action, r.number(other.ID), other.Action)
		}
	}
}

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

// check is what must be true when everything is seen to.
func (r *run) check(ctx context.Context, s record.Snapshot, events []history.Event) error {
	lines, err := r.Record.Lines(ctx, r.id)
	if err != nil {
		return err
	}
	r.checkOver(s)
	r.checkHistory(s.Task, events)
	if err := r.checkHooks(ctx, s, events); err != nil {
		return err
	}
	r.checkMoves(events)
	r.checkMirrors(s.Task, lines)
	for _, seat := range r.unseen(ctx) {
		r.breaks(propDeaths, "the %s of hook %d has a seat, and does not live: nobody has dealt with its death",
			seat.Role, r.number(seat.Hook))
	}
	replayed, err := decide.Replay(s.Task, lines, decide.Library{
		Rules: func(string) (*workflow.Definition, error) { return r.Workflow, nil },
		Texts: func(digest string) (string, bool, error) {
			text, there := r.folder().kept[digest]
			return text, there, nil
		},
	}, nil)
	switch {
	case err != nil:
		r.breaks(propReplay, "the history cannot be replayed: %v", err)
	case replayed.Equal != replayed.Decisions || len(replayed.Untold) > 0:
		r.breaks(
			propReplay, "of %d decisions %d come out the same when they are made again, and %d cannot be made: %+v",
			replayed.Decisions, replayed.Equal, len(replayed.Untold),
			slices.Concat(replayed.Different, replayed.Untold))
	}
	return nil
}

func (r *run) checkHistory(t task.Task, events []history.Event) {
	if err := history.VerifyChain(events); err != nil {
		r.breaks(propHistory, "%v", err)
	}
	differs, err := history.Disagree(t, events)
	switch {
	case err != nil:
		r.breaks(propHistory, "%v", err)
	case len(differs) > 0:
		r.breaks(propHistory, "the record and the history disagree: %s", strings.Join(differs, "; "))
	}
	for _, e := range events {
		names, err := decide.Kept(e)
		if err != nil {
			r.breaks(propHistory, "%v", err)
		}
		for _, one := range names {
			if text, kept := r.folder().kept[one.Digest]; !kept || document.Digest(text) != one.Digest {
				r.breaks(propHistory, "the %s of event %d is not kept", one.Source, e.Seq)
			}
		}
	}
}

// checkHooks looks whether every hook that an event set going is on record, and done.
func (r *run) checkHooks(ctx context.Context, s record.Snapshot, events []history.Event) error {
	for _, h := range s.Owed {
		r.breaks(propHooks, "hook %d (%s) is still owed when everything else is done: %s", r.number(h.ID),
			h.Action, h.Error)
	}
	for _, e := range events {
		if len(e.Hooks) == 0 {
			continue
		}
		hooks, err := r.Record.Hooks(ctx, r.id, e.Seq)
		if err != nil {
			return err
		}
		var have []string
		for _, h := range hooks {
			have = append(have, h.Action)
			if class, _ := action.ClassOf(h.Action); h.State == task.HookSuperseded && class != action.ClassStart {
				r.breaks(propHooks, "hook %d (%s) was dropped, and it is not one that may be", r.number(h.ID), h.Action)
			}
		}
		if !slices.Equal(have, e.Hooks) {
			r.breaks(propHooks, "event %d has set going %v, and owes %v", e.Seq, e.Hooks, have)
		}
	}
	return nil
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
		token := "request " + itoa(n+1)
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

func (r *run) checkMirrors(t task.Task, lines []string) {
	d := document.Read(r.folder().text())
	for _, want := range document.Fields(t) {
		if found, _ := d.Front.Get(want.Key); found != want.Text {
			r.breaks(propMirrors, "TASK.md says %s: %q, and the record %q", want.Key, found, want.Text)
		}
	}
	if r.folder().mirror != strings.Join(lines, "\n") {
		r.breaks(propMirrors, "history.jsonl is not the record's")
	}
}
