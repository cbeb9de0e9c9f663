package replay_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// stroll is a task under one workflow to which anything may happen, and a minimal record.
type stroll struct {
	t        *testing.T
	def      *workflow.Definition
	dice     *rand.Rand
	now      time.Time
	s        record.Snapshot
	events   []history.Event
	lines    []string
	texts    map[string]string
	moves    int
	starts   int // of agents
	last     *document.Document
	books    []*workflow.Definition // earlier workflows of the task, without the present one
	promised bool                   // its project has a promise
}

func shippedAndStrained(t *testing.T) []*workflow.Definition {
	t.Helper()
	var out []*workflow.Definition
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		def := shippedWorkflow(t, name)
		for i := range def.States { // they have no timeouts of their own
			if def.States[i].Timeout.After == 0 && !def.States[i].Terminal {
				def.States[i].Timeout = workflow.Timeout{After: 100, Then: def.States[len(def.States)-1-i].Name}
			}
		}
		for i := range def.States {
			if s := &def.States[i]; len(s.SendBack) == 0 && !s.Terminal {
				s.SendBack = []workflow.SendBack{{On: workflow.SendBackEvents(), Then: s.Timeout.Then}}
			}
		}
		for i := range def.Transitions { // nor do all of them count, or let themselves be overridden
			def.Transitions[i].Override = i%3 == 0
			def.Transitions[i].Failure = i%5 == 0
		}
		out = append(out, def)
	}
	return out
}

// commit records a change that was decided from the inputs.
func (w *stroll) commit(in replay.Inputs, ev decide.Evidence, c record.Change) {
	w.t.Helper()
	c, err := in.Keep(w.def, w.s, ev, c)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range slices.Concat(c.Spent, c.Seen) {
		text, found := ev.Text(e)
		if !found {
			w.t.Fatalf("the text of %v cannot be kept: it is not there", e)
		}
		w.texts[e.Digest] = text
	}
	w.record(c.Task, c.Events)
	for _, e := range c.Spent {
		w.s.Spent = slices.DeleteFunc(w.s.Spent, func(s task.Spent) bool { return s.Evidence == e })
		w.s.Spent = append(w.s.Spent, task.Spent{Evidence: e, Seq: w.s.Task.Seq})
	}
	if c.Entered {
		w.s.Entry, w.s.Start = c.Entry, nil
		w.moves++
	}
	if c.Lease == record.LeaseReserve {
		w.s.Task.Workspace = "garden--1"
	}
	w.s.Task.EnteredAt = w.s.Task.EnteredAt.Truncate(time.Millisecond) // as a record has it
	w.agrees()
}

// record writes a task with what happened to it.
func (w *stroll) record(one task.Task, events []history.Event) {
	w.t.Helper()
	w.s.Task = one
	for _, e := range events {
		sealed, err := history.Seal(e, len(w.events)+1, w.s.Task.Hash)
		if err != nil {
			w.t.Fatal(err)
		}
		line, err := json.Marshal(sealed)
		if err != nil {
			w.t.Fatal(err)
		}
		w.events, w.lines = append(w.events, sealed), append(w.lines, string(line))
		w.s.Task.Seq, w.s.Task.Hash = sealed.Seq, sealed.Hash
	}
}

// agrees checks that the history says what the record has, as it must after every step.
func (w *stroll) agrees() {
	w.t.Helper()
	if differs, err := history.Disagree(w.s.Task, w.events); err != nil || len(differs) > 0 {
		w.t.Fatalf("the record and its history disagree: %v %q", err, differs)
	}
	traces, err := replay.Trace(w.events)
	if err != nil || len(traces.Stripped) > 0 || !slices.Equal(traces.Entry, w.s.Entry) ||
		!slices.Equal(traces.Start, w.s.Start) {
		w.t.Fatalf("the history has %+v of a status that began with %v: %v", traces, w.s.Entry, err)
	}
	for _, e := range w.events {
		if (len(e.Hooks) > 0) != (traces.Hooks[e.Seq] != "") {
			w.t.Fatalf("event %d has set going %v, and its digest is %q", e.Seq, e.Hooks, traces.Hooks[e.Seq])
		}
	}
}

// start starts an agent, of the present status or of another; that is not a decision.
func (w *stroll) start() {
	state, _ := w.def.State(w.s.Task.Status)
	role := state.Role
	if w.dice.IntN(4) == 0 {
		role = task.RoleWorker
	}
	ev := w.evidence()
	found := task.Start{Subject: ev.Subject, Evidence: ev.VerdictsNow(w.def, w.s.Task.Status)}
	one, verdicts, is := decide.Began(w.def, w.s.Task, role, found)
	if !is || found.Subject == (task.Subject{}) {
		return
	}
	event := history.Event{Time: w.now, Type: history.AgentSpawned, Actor: task.ActorEngine, Subject: one.Subject,
		Evidence: verdicts, Data: map[string]string{"role": role}}
	w.record(one, []history.Event{event})
	w.s.Start = verdicts
	w.starts++
	w.agrees()
}

// outdated ends an agent after it has passed a commit which is not the tip any more; otherwise that would be too
// rare.
func (w *stroll) outdated() {
	one, ev := w.s.Task, w.evidence()
	for _, rule := range w.def.Exit.Rules {
		if rule.Status != one.Status || rule.HasArtifact == nil || rule.HasArtifact.Verdict != "PASS" {
			continue
		}
		w.last = document.Read(
			[]byte(fmt.Sprintf("---\nid: x\n---\n%s\nVerdict: PASS\nrun %d\n", rule.HasArtifact.Section,
				w.dice.IntN(100))))
		ev.Document, ev.Trouble = w.last, ""
		for _, p := range leaves(w.def) {
			switch p.Git {
			case workflow.GitUnmoved:
				ev.Facts[p.Key()] = decide.Fact{Source: p.Git, Found: "another commit", Moved: true}
			case workflow.GitMoved:
				ev.Facts[p.Key()] = decide.Fact{Source: p.Git, Holds: true, Text: "text\n",
					Digest: document.Digest("text\n")}
			}
		}
	}
	state, _ := w.def.State(one.Status)
	death := task.Death{Role: state.Role, Hook: 7, Ending: task.Ending{Known: true}}
	w.commit((replay.Inputs{Ask: replay.AskDeath}).Of(death), ev, decide.Exit(w.def, one, ev, death, w.now))
}

// subject is any work that evidence can be about.
func (w *stroll) subject() task.Subject {
	switch w.dice.IntN(8) {
	case 0:
		return task.Subject{}
	case 1:
		return task.Subject{Trouble: "the ref is \xff\xfe"}
	case 2:
		return task.Subject{Commit: "first", Branch: "renamed \xff\xfe"}
	}
	return task.Subject{Commit: []string{"first", "second", "third"}[w.dice.IntN(3)], Tree: []string{
		"", "lying"}[w.dice.IntN(2)]}
}

// evidence is anything that a document can contain and that can be seen elsewhere, for every part of the workflow,
// about any work.
func (w *stroll) evidence() decide.Evidence {
	ev := w.read()
	ev.Spent, ev.Entry, ev.Start, ev.Facts, ev.Subject = w.s.Spent, w.s.Entry, w.s.Start, w.facts(), w.subject()
	ev.History = slices.Clone(w.events)
	return ev
}

// read is anything that a document can contain.
func (w *stroll) read() decide.Evidence {
	if w.dice.IntN(20) == 0 {
		return decide.Evidence{Trouble: "TASK.md is a pipe"}
	}
	if w.last != nil && w.dice.IntN(3) > 0 { // nothing was written since
		return decide.Evidence{Document: w.last}
	}
	var body strings.Builder
	bodies := []string{
		"", "APPROACH: dig %d\nTOUCHING: the gate\n", "DONE: all of it, %d\n", "Verdict: PASS\n%d\n",
		"Verdict: PASS\nReviewed: first, run %d\n", "**Verdict: FAIL** (%d)\n", "```\nVerdict: PASS\nDONE: %d\n```\n",
		"<!-- DONE: %d -->\n", "- DONE:\n  - it \xff\xfe %d\n", "SUMMARY: %d\n\nSTATUS: PASS \t\r\n", "nothing %d",
	}
	for _, name := range append(sections(w.def), "Notes", "Notes", "Odd \xff\xfe") {
		if w.dice.IntN(3) > 0 {
			text := bodies[w.dice.IntN(len(bodies))]
			if strings.Contains(text, "%d") {
				text = fmt.Sprintf(text, w.dice.IntN(4))
			}
			fmt.Fprintf(&body, "\n## %s\n\n%s", name, text)
			if w.dice.IntN(6) == 0 {
				fmt.Fprintf(&body, "\n## %s\nDONE: twice\nVerdict: PASS\n", name)
			}
		}
	}
	if w.dice.IntN(8) == 0 {
		body.WriteString("\n```\n## Plan\nnever closed")
	}
	w.last = document.Read([]byte("---\nid: x\n---\n" + body.String()))
	return decide.Evidence{Document: w.last}
}

func leaves(def *workflow.Definition) []workflow.Part {
	var out []workflow.Part
	for _, edge := range def.Transitions {
		out = append(out, workflow.Leaves(edge.Gate)...)
	}
	for _, rule := range def.Exit.Rules {
		if rule.HasArtifact != nil {
			out = append(out, workflow.Leaves([]workflow.Part{*rule.HasArtifact})...)
		}
	}
	return out
}

func sections(def *workflow.Definition) []string {
	var out []string
	for _, p := range leaves(def) {
		if name := strings.TrimSpace(strings.TrimLeft(p.Section, "# ")); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (w *stroll) facts() map[string]decide.Fact {
	out := map[string]decide.Fact{}
	for _, p := range leaves(w.def) {
		if p.Section != "" || out[p.Key()].Source != "" {
			continue
		}
		text := fmt.Sprintf("text %d\n", w.dice.IntN(5))
		f := decide.Fact{Source: p.File + p.Glob + p.Check + p.Git, Holds: w.dice.IntN(3) > 0, Text: text,
			Digest: document.Digest(text), Where: "somewhere:1:2", Want: "mend it"}
		if !f.Holds {
			f.Found = []string{"no such file", "no JSON: \xff", "it failed"}[w.dice.IntN(3)]
		}
		if w.dice.IntN(6) == 0 {
			f = decide.Fact{Source: f.Source, Found: "no such file", Want: "write it"}
		}
		f.Unread = !f.Holds && p.File != "" && w.dice.IntN(4) == 0
		f.Moved = !f.Holds && p.Git == workflow.GitUnmoved && w.dice.IntN(3) > 0
		out[p.Key()] = f
	}
	return out
}

func (w *stroll) actor() task.Actor {
	switch w.dice.IntN(6) {
	case 0:
		return task.Actor{Rule: true}
	case 1:
		return task.Actor{Role: task.RoleHuman, As: task.RoleReviewer, Person: "Ada"}
	case 2:
		return task.Actor{Role: task.RoleWorker}
	case 3:
		return task.Actor{Role: task.RoleReviewer}
	}
	return task.Actor{Role: task.RoleHuman}
}

func (w *stroll) born() {
	birth := w.def.Births[w.dice.IntN(len(w.def.Births))].To
	actor := task.Actor{Role: task.RoleHuman}
	one := task.Task{ID: "abc", Project: "garden", Branch: "b", Summary: "mend \xff\xfe the gate"}
	if w.def.PlanFile != nil && w.dice.IntN(4) == 0 {
		c, err := decide.CreateFromPlan(w.def, one, actor, w.now)
		if err != nil {
			w.t.Fatal(err)
		}
		w.commit(replay.Inputs{Ask: replay.AskPlan}.By(actor), decide.Evidence{}, c)
		return
	}
	c, err := decide.Create(w.def, one, birth, actor, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.promised {
		guarantee.Pin(&c.Events[0], []string{"a person", "git committed"})
	}
	w.commit(replay.Inputs{Ask: replay.AskCreate, To: birth}.By(actor), decide.Evidence{}, c)
}

// step has one thing happen. A refused request is in no history.
func (w *stroll) step() {
	w.now = w.now.Add(time.Duration(w.dice.Int64N(int64(40 * time.Second))))
	actor, one := w.actor(), w.s.Task
	var ev decide.Evidence
	what := w.dice.IntN(17)
	switch what {
	case 15:
		w.start()
		return
	case 16:
		w.outdated()
		return
	}
	if what < 2 || what == 3 || what > 5 {
		ev = w.evidence()
	}
	state, _ := w.def.State(one.Status)
	switch what {
	case 0:
		death := task.Death{Role: state.Role, Hook: 7, Ending: task.Ending{
			Known: w.dice.IntN(4) > 0, Status: w.dice.IntN(4) / 3}, LastWords: "\xff\xfe out of paper"}
		if w.dice.IntN(6) == 0 {
			death.Ending = task.Ending{Unstarted: "no such program \xff"}
		}
		w.commit((replay.Inputs{Ask: replay.AskDeath}).Of(death), ev, decide.Exit(w.def, one, ev, death, w.now))
	case 1:
		own := task.Timeouts{}
		in := replay.Inputs{Ask: replay.AskTimeout, NoRoom: w.dice.IntN(4) == 0}.By(task.Actor{Rule: true})
		if limit := 50 * time.Second; w.dice.IntN(2) == 0 {
			own[one.Status], in.Limit = limit, &limit
		}
		c, _ := decide.Timer(w.def, own, one, w.now)
		if _, wanted := decide.Escalation(w.def, c); wanted && in.NoRoom {
			c = decide.Escalate(w.def, c, task.Task{}, decide.Evidence{NoRoom: true}, w.now)
		} else if wanted {
			c = decide.Escalate(w.def, c, one, ev, w.now)
		}
		w.commit(in, ev, c)
	case 2:
		missing := len(w.events)%3 == 0
		if c, err := decide.Respawn(w.def, one, false, missing, actor, w.now); err == nil {
			w.commit(replay.Inputs{Ask: replay.AskRespawn, Missing: missing}.By(actor), decide.Evidence{}, c)
		}
	case 3:
		to := task.Status("nowhere")
		if len(w.def.Redo) > 0 {
			to = task.Status(w.def.Redo[w.dice.IntN(len(w.def.Redo))].Name)
		}
		if c, err := decide.Redo(w.def, one, to, ev, w.events, actor, "anew \xff\xfe", w.now); err == nil {
			w.commit(replay.Inputs{Ask: replay.AskRedo, To: to}.By(actor), ev, c)
		}
	case 4:
		if c, due := decide.ForgetCrashes(one, nil, w.events, w.now); due { // hooks were performed
			w.commit(replay.Inputs{Ask: replay.AskSettled}, decide.Evidence{}, c)
			return
		}
		if c, due := decide.Free(one, nil, w.now); due && w.dice.IntN(3) == 0 {
			w.commit(replay.Inputs{Ask: replay.AskFree}, decide.Evidence{}, c)
			return
		}
		if w.dice.IntN(3) == 0 {
			c, err := decide.Retry(w.def, record.Snapshot{Task: one, Owed: []task.OwedHook{
				{Hook: task.Hook{Action: "push_branch"}, State: task.HookFailed},
				{Hook: task.Hook{Action: "notify"}, State: task.HookFailed}}},
				actor.Role == task.RoleHuman && w.dice.IntN(2) == 0, actor, w.now)
			if err != nil {
				w.t.Fatal(err)
			}
			w.commit(replay.Inputs{Ask: replay.AskRetry}.By(actor), decide.Evidence{}, c)
			return
		}
		other := *w.def // the same rules, by another name
		other.Version, other.Digest = w.def.Version+1, w.def.Digest+"'"
		human := task.Actor{Role: task.RoleHuman}
		if c, err := decide.Migrate(&other, one, nil, nil, ev, human, w.now); err == nil {
			w.books, w.def = append(w.books, w.def), &other
			w.commit(replay.Inputs{Ask: replay.AskMigrate}.By(human), ev, c)
		}
	case 5:
		w.commit(replay.Inputs{Ask: replay.AskQueue, To: "working"}.By(actor), decide.Evidence{},
			decide.Queue(w.def, one, "working", actor, w.now))
	case 14:
		w.pullRequest(actor, ev)
	default:
		open := decide.MayAsk(w.def, one, task.Actor{Rule: true})
		if len(open) == 0 {
			return
		}
		req := task.Request{Task: one.ID, To: open[w.dice.IntN(len(open))], Actor: actor,
			Reason: "be\xff\xfecause", Override: w.dice.IntN(3) == 0}
		if d, err := decide.Transition(w.def, one, ev, req, w.now); err == nil && d.Moved {
			w.commit(replay.Inputs{Ask: replay.AskMove, To: req.To, Override: req.Override}.By(actor), ev, d.Change)
		}
	}
}

// pullRequest has the monitor, or a caller that wants to merge here, see the end of a pull request.
func (w *stroll) pullRequest(actor task.Actor, ev decide.Evidence) {
	pr := record.PullRequest{URL: "https://forge.invalid/pull/1", State: record.PRMerged, Commit: "c0", Merge: "c1"}
	if w.dice.IntN(3) == 0 {
		pr.State, pr.Merge = record.PRClosed, ""
	}
	if w.dice.IntN(2) == 0 {
		w.setback(ev)
		return
	}
	if w.dice.IntN(3) == 0 {
		noted := w.dice.IntN(2) == 0
		c := decide.NoteMerged(w.def, w.s.Task, pr, noted, w.events, actor, w.now)
		w.commit(replay.Inputs{Ask: replay.AskLanded}.By(actor).About(pr, noted), decide.Evidence{}, c)
		return
	}
	in := replay.Inputs{
		Ask: replay.AskPREnded, Against: []string{"", "", "", "the branch has more \xff"}[w.dice.IntN(4)]}.About(
		pr, false)
	if to, said := decide.PRMove(w.def, pr); said {
		ev = ev.Merged(w.def, w.s.Task, to, pr)
	}
	w.commit(in, ev, decide.PREnded(w.def, w.s.Task, ev, pr, in.Against, w.now))
}

// setback has a merge fail, or a pull request be red.
func (w *stroll) setback(ev decide.Evidence) {
	back := decide.Setback{On: workflow.SendBackEvents()[w.dice.IntN(3)], Reason: "it is red \xff", Text: "mend it",
		Commit: w.s.Task.Subject.Commit, Facts: []string{fmt.Sprintf("run %d \u00e9", w.dice.IntN(3))}}
	ev.Subject = w.s.Task.Subject
	against := []string{"", "", "", "no workspace \xff"}[w.dice.IntN(4)]
	if c, due := back.Change(w.def, w.s.Task, ev, w.events, against, w.now); due {
		in := replay.Inputs{Ask: replay.AskBack, Against: against}.By(task.Actor{Rule: true}).After(back)
		w.commit(in, ev, c)
	}
}

func (w *stroll) library() replay.Library {
	return replay.Library{
		Rules: func(digest string) (*workflow.Definition, error) {
			for _, def := range append(w.books, w.def) {
				if def.Digest == digest {
					return def, nil
				}
			}
			return nil, task.Notef(task.ErrNotFound, "no workflow %q", digest)
		},
		Texts: func(digest string) (string, bool, error) { text, kept := w.texts[digest]; return text, kept, nil },
	}
}

func newStroll(t *testing.T, def *workflow.Definition, seed uint64) *stroll {
	t.Helper()
	w := &stroll{t: t, def: def, dice: rand.New(rand.NewPCG(seed, 5)),
		now: time.Date(2024, 5, 6, 7, 8, 9, 123_456_789, time.UTC), texts: map[string]string{}, promised: seed%10 > 5}
	w.born()
	for range 40 {
		w.step()
	}
	return w
}

func TestAReplay_makesEveryDecisionAgainToTheByte(t *testing.T) {
	t.Parallel()
	seeds := uint64(200)
	if os.Getenv("ORANGE_TEST_LONG") != "" {
		seeds = 5000
	}
	all := shippedAndStrained(t)
	decisions, moves, asks := 0, 0, map[string]int{}
	starts, about, anew := 0, 0, map[string]int{} // begun again because the tip had moved, by what did it
	for seed := range seeds {
		w := newStroll(t, all[seed%uint64(len(all))], seed)
		got, err := replay.Replay(w.s.Task, w.lines, w.library(), nil)
		if err != nil || got.Equal != got.Decisions || len(got.Untold) > 0 || got.OtherEdition > 0 ||
			got.Skipped != w.starts || got.Decisions < 1 {
			t.Fatalf("seed %d, %s: %v\n%+v", seed, w.def.Name, err, got)
		}
		under, err := replay.Replay(w.s.Task, w.lines, w.library(), w.def)
		if err != nil || under.Equal != under.Decisions || len(under.Untold) > 0 {
			t.Fatalf("seed %d, %s, under its own workflow as another one: %v\n%+v", seed, w.def.Name, err, under)
		}
		if told, _, err := history.Fold(w.events); err != nil || told.Subject != w.s.Task.Subject {
			t.Fatalf("seed %d, %s: the history is about %+v, the record about %+v (%v)", seed, w.def.Name,
				told.Subject, w.s.Task.Subject, err)
		}
		decisions, moves = decisions+got.Decisions, moves+w.moves
		starts += w.starts
		death := ""
		for _, e := range w.events {
			if e.IsMove() && e.Subject.Commit != "" {
				about++
			}
			if e.From == e.To && slices.ContainsFunc(e.Evidence, func(e task.Evidence) bool {
				return e.Source == "moved"
			}) {
				anew[strings.TrimSpace(e.Type+death)]++
			}
			if death = ""; e.Type == history.AgentStopped {
				death = " by a death"
			}
			var in replay.Inputs
			if json.Unmarshal(e.Inputs, &in) == nil {
				asks[in.Ask]++
			}
		}
	}
	t.Logf("%d tasks, %d decisions made again, %d moves, %d about a commit, begun anew %v, %d starts: %v", seeds,
		decisions, moves, about, anew, starts, asks)
	if len(asks) < 12 || asks[replay.AskBack] == 0 || about == 0 || starts == 0 || anew[history.StatusChanged] == 0 ||
		anew[history.AutoAdvanced+" by a death"] == 0 {
		t.Errorf("only these were asked: %v; %d moves were about a commit, these began a status anew: %v, and "+
			"%d agents were started", asks, about, anew, starts)
	}
}
