package decide_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// evidenceAbout is evidence about a tip and the uncommitted work on it.
func evidenceAbout(body string, s task.Subject) decide.Evidence {
	ev := evidence(body)
	ev.Subject = s
	return ev
}

// lastMove is the last event of a change, which moves the task.
func lastMove(t *testing.T, c record.Change) history.Event {
	t.Helper()
	if len(c.Events) == 0 || !c.Events[len(c.Events)-1].IsMove() {
		t.Fatalf("found the events %+v, want a move as the last", c.Events)
	}
	return c.Events[len(c.Events)-1]
}

func TestSubject_everyMoveNotesTheTipOfItsMoment(t *testing.T) {
	t.Parallel()
	def := defaultWorkflow(t)
	second := task.Subject{Commit: "second", Branch: "renamed"}
	is := func(what string, c record.Change, want task.Subject) {
		t.Helper()
		if move := lastMove(t, c); c.Task.Subject != want || move.Subject != want {
			t.Errorf("%s: the task is about %+v and the move about %+v, want %+v", what, c.Task.Subject,
				move.Subject, want)
		}
	}
	one := newTask("working")
	one.Subject = task.Subject{Commit: "first", Reviewed: true, By: "Ada"}
	for to, body := range map[task.Status]string{"agent-review": aHandoffText, "clarification": "", "cancelled": ""} {
		d, err := decide.Transition(def, one, evidenceAbout(body, second), task.Request{
			Task: "T1", To: to, Actor: human()}, noon)
		if err != nil {
			t.Fatal(err)
		}
		is("to "+string(to), d.Change, second)
	}
	is("a death with evidence", decide.Exit(def, one, evidenceAbout(aHandoffText, second), deathOf("worker"),
		noon), second)
	one.Counters = one.Counters.With(task.CrashCount, 1)
	is("too many crashes", decide.Exit(def, one, evidenceAbout("", second), deathOf("worker"), noon), second)

	late := tiny([]workflow.Transition{{From: "busy", To: "help"}})
	late.States[1].Timeout = workflow.Timeout{After: 10, Then: "help"}
	one = newTask("busy")
	one.EnteredAt, one.Overdue = noon.Add(-15e9), task.LateAlert
	c, due := decide.Timer(late, nil, one, noon)
	if !due {
		t.Fatal("nothing follows from a status that took too long")
	}
	is("a timeout", decide.Escalate(late, c, one, evidenceAbout("", second), noon), second)

	late.Redo = []workflow.Named{{Name: "todo"}}
	been := []history.Event{{Type: history.StatusChanged, To: "todo"}}
	c, err := decide.Redo(late, one, "todo", evidenceAbout("", second), been, human(), "anew", noon)
	if err != nil {
		t.Fatal(err)
	}
	is("a redo", c, second)
}

// The event notes that, and only what needs the tip is unmet.
func TestSubject_withAnUnreadableTipLetsATaskBeGivenUp(t *testing.T) {
	t.Parallel()
	def, unread := defaultWorkflow(t), task.Subject{Trouble: "the ref is a folder"}
	for _, status := range []task.Status{"planning", "clarification", "working", "agent-review", "reviewing", "stuck"} {
		ev := decide.Evidence{Document: docOf(""), Subject: unread, Facts: map[string]decide.Fact{}}
		for _, word := range []string{workflow.GitCommitted, workflow.GitUnmoved, workflow.GitMoved} {
			ev.Facts[gitKey(word)] = decide.Fact{Source: "git " + word, Found: "a tip that cannot be read"}
		}
		d, err := decide.Transition(def, newTask(status), ev, task.Request{
			Task: "T1", To: "cancelled", Actor: human()}, noon)
		if err != nil || d.Change.Task.Subject != unread || d.Change.Events[0].Subject != unread {
			t.Errorf("%s: found %+v (%v)", status, d.Change.Task.Subject, err)
		}
	}
}

func TestSubject_ofATaskFromAnOlderProgramIsNone(t *testing.T) {
	t.Parallel()
	d, err := decide.Transition(defaultWorkflow(t), newTask("working"), evidence(aHandoffText), task.Request{
		Task: "T1", To: "agent-review", Actor: human()}, noon)
	if err != nil || d.Change.Task.Subject != (task.Subject{}) {
		t.Fatalf("found %+v (%v), want none", d.Change.Task.Subject, err)
	}
	line, err := json.Marshal(d.Change.Events[0])
	if err != nil || strings.Contains(string(line), `"subject"`) {
		t.Errorf("found %s (%v), want no word of a subject", line, err)
	}
}

// quality_review -> approved -> committing keeps what was judged; every other edge there notes what is in the
// worktree, and who asked for the move.
func TestBuild_carriesOnlyTheJudgedTreeToTheCommit(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "build")
	judged := task.Subject{Commit: "first", Tree: "judged", Tracked: "known"}
	lying := task.Subject{Commit: "first", Tree: "lying", Tracked: "lying"}
	var body strings.Builder
	for _, p := range papers003 {
		if p.opposite == "" || p.name == "passed" {
			body.WriteString("## " + p.section + "\n" + p.text + "\n\n")
		}
	}
	ways := 0
	for _, edge := range def.Transitions {
		if edge.To != "approved" && edge.To != "committing" {
			continue
		}
		ways++
		one := newTask(edge.From)
		one.Subject = judged
		if len(edge.CameFrom) > 0 {
			one.Previous = edge.CameFrom[0]
		}
		actor := task.Actor{Role: task.RoleHuman, Person: "Ada"}
		want := lying
		switch {
		case edge.From == "quality_review":
			want = judged
			want.Reviewed = true
		case edge.From == "approved":
			want = judged
		case !slices.Contains(edge.By, task.RoleHuman):
			actor = task.Actor{Role: edge.By[0]}
			want.By = edge.By[0]
		default:
			want.By = "Ada"
		}
		ev := evidenceAbout(body.String(), lying)
		d, err := decide.Transition(def, one, ev, task.Request{Task: "T1", To: edge.To, Actor: actor,
			Reason: "so it is"}, noon)
		if err != nil || d.Change.Task.Subject != want {
			t.Errorf("%s -> %s by %s: found %+v (%v), want %+v", edge.From, edge.To, actor.Name(),
				d.Change.Task.Subject, err, want)
		}
	}
	if ways < 8 {
		t.Errorf("found %d ways to approved and committing", ways)
	}
	back := newTask("committing") // if nothing carries over, the work is what it is now
	back.Subject = judged
	d, err := decide.Transition(def, back, evidenceAbout("## Commit\nVerdict: FAIL\n", lying), task.Request{
		Task: "T1", To: "in_progress", Actor: human()}, noon)
	if err != nil || d.Change.Task.Subject != lying {
		t.Errorf("committing -> in_progress: found %+v (%v), want %+v", d.Change.Task.Subject, err, lying)
	}
	one := newTask("approved") // what a verdict carried there goes on as reviewed
	one.Subject = judged
	one.Subject.Reviewed = true
	d, err = decide.Transition(def, one, evidenceAbout("", lying), task.Request{
		Task: "T1", To: "committing", Actor: human()}, noon)
	if err != nil || d.Change.Task.Subject != one.Subject {
		t.Errorf("found %+v (%v), want %+v", d.Change.Task.Subject, err, one.Subject)
	}
}

// An override of a verdict's edge passes nothing, and carries nothing over.
func TestSubject_isReviewedOnlyByAVerdictOnTheUnmovedWork(t *testing.T) {
	t.Parallel()
	verdict := func(word string) []workflow.Part {
		return []workflow.Part{{Section: "## Review", Verdict: word, VerdictIn: workflow.VerdictFirstLine}}
	}
	unmoved := workflow.Part{Git: workflow.GitUnmoved}
	for _, c := range []struct {
		name     string
		gate     []workflow.Part
		body     string
		override bool
		want     bool
	}{
		{"a passing verdict on the present commit", append(verdict("PASS"), unmoved), aPassText, false, true},
		{"one that asks for no commit", verdict("PASS"), aPassText, false, false},
		{"a failing one", append(verdict("FAIL"), unmoved), aFailText, false, false},
		{"no verdict", []workflow.Part{unmoved}, "", false, false},
		{"a file that judges", []workflow.Part{{File: "review.json", Judges: true}, unmoved}, "", false, true},
		{"a file that does not", []workflow.Part{{File: "review.json"}, unmoved}, "", false, false},
		{"a verdict beside other parts", []workflow.Part{{All: append(verdict("PASS"), unmoved)}}, aPassText,
			false, true},
		{
			"a verdict or a file", []workflow.Part{
				{Any: append(verdict("PASS"), workflow.Part{File: "review.json"})}, unmoved}, aPassText, false, false},
		{"one on the present commit or whatever there is",
			append(verdict("PASS"), workflow.Part{Any: []workflow.Part{unmoved, {File: "review.json"}}}),
			aPassText, false, false},
		{"an override", append(verdict("PASS"), unmoved), aPassText, true, false},
	} {
		for _, carried := range []bool{false, true} {
			def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: c.gate, Override: true}})
			want := task.Subject{Commit: "second", Reviewed: c.want}
			if carried {
				def.States[1].Subject, def.States[2].Subject = workflow.SubjectWorktree, workflow.SubjectCarried
				passed := c.body == aPassText && !c.override && !strings.Contains(c.name, "or a file")
				switch {
				case c.want:
					want = task.Subject{Commit: "first", Reviewed: true}
				case !passed: // else a verdict put it there, whatever commit that was about
					want.By = "human"
				}
			}
			ev := evidenceAbout(c.body, task.Subject{Commit: "second"})
			file := workflow.Part{File: "review.json"}
			ev.Facts[file.Key()] = decide.Fact{Holds: true, Source: "review.json", Digest: "1"}
			one := newTask("busy")
			one.Subject = task.Subject{Commit: "first"}
			d, err := decide.Transition(def, one, ev, task.Request{Task: "T1", To: "help", Actor: human(),
				Reason: "so", Override: c.override}, noon)
			if err != nil || d.Change.Task.Subject != want {
				t.Errorf("%s, carried %v: found %+v (%v), want %+v", c.name, carried, d.Change.Task.Subject, err, want)
			}
		}
	}
}

func TestSubject_namesTheActorWhoHandsInWorkWithoutAVerdict(t *testing.T) {
	t.Parallel()
	ada := task.Actor{Role: task.RoleHuman, Person: "Ada <ada@example.com>"}
	for _, name := range []string{"default", "classic", "minimal"} {
		def := shippedWorkflow(t, name)
		for _, birth := range def.Births {
			c, err := decide.Create(def, task.Task{ID: "T1"}, birth.To, ada, noon)
			want := task.Subject{}
			if birth.To == "reviewing" {
				want.By = ada.Person
			}
			if err != nil || c.Task.Subject != want || c.Events[0].Subject != want {
				t.Errorf("%s, created in %s: found %+v and %+v (%v), want %+v", name, birth.To, c.Task.Subject,
					c.Events[0].Subject, err, want)
			}
		}
	}
	def := defaultWorkflow(t)
	to := func(from, to task.Status, body string, actor task.Actor) task.Subject {
		t.Helper()
		d, err := decide.Transition(def, newTask(from), evidenceAbout(body, task.Subject{Commit: "c"}),
			task.Request{Task: "T1", To: to, Actor: actor}, noon)
		if err != nil {
			t.Fatal(err)
		}
		return d.Change.Task.Subject
	}
	for _, c := range []struct {
		what        string
		found, want task.Subject
	}{
		{"moved from stuck", to("stuck", "reviewing", "", ada), task.Subject{Commit: "c", By: ada.Person}},
		{"by somebody whose name nobody knows", to("stuck", "reviewing", "", human()), task.Subject{
			Commit: "c", By: "human"}},
		{"by a verdict", to("agent-review", "reviewing", aPassText, ada), task.Subject{Commit: "c", Reviewed: true}},
		{"to a review", to("working", "agent-review", aHandoffText, ada), task.Subject{Commit: "c"}},
		{"to its merge", to("reviewing", "done", "", ada), task.Subject{Commit: "c"}},
	} {
		if c.found != c.want {
			t.Errorf("%s: found %+v, want %+v", c.what, c.found, c.want)
		}
	}
	phases := shippedWorkflow(t, "phases")
	been := []history.Event{{Type: history.StatusChanged, To: "accept"}}
	c, err := decide.Redo(phases, newTask("accept"), "accept", evidenceAbout("", task.Subject{Commit: "c"}), been,
		ada, "anew", noon)
	if want := (task.Subject{Commit: "c", By: ada.Person}); err != nil || c.Task.Subject != want ||
		c.Events[0].Subject != want {
		t.Errorf("a redo: found %+v (%v), want %+v", c.Task.Subject, err, want)
	}
	crashes := tiny([]workflow.Transition{{From: "help", To: "lost"}}, workflow.Rule{
		Status: "busy", Action: workflow.ActionCrash, StuckAfter: 1, Then: "help"})
	crashes.Moves = []workflow.Move{{Command: workflow.MoveMerge, To: "lost"}}
	c = decide.Exit(crashes, newTask("busy"), evidenceAbout("", task.Subject{Commit: "c"}), deathOf("worker"), noon)
	if want := (task.Subject{Commit: "c", By: task.ActorEngine, Unvouched: true}); c.Task.Subject != want ||
		lastMove(t, c).Subject != want {
		t.Errorf("too many crashes: found %+v, want %+v", c.Task.Subject, want)
	}
}

func TestAwaitsMerge_holdsInStatesBeforeAMergeOrCommit(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]task.Status{
		"default": {"reviewing"}, "classic": {"reviewing"}, "minimal": {"reviewing"}, "build": {
			"approved", "committing"}, "phases": {"accept", "revert"},
	} {
		def := shippedWorkflow(t, name)
		var found []task.Status
		for _, s := range def.States {
			if decide.AwaitsMerge(def, s.Name) {
				found = append(found, s.Name)
			}
		}
		if !slices.Equal(found, want) {
			t.Errorf("%s: found %v, want %v", name, found, want)
		}
	}
}

// The edges to a good end that do not compare the work with what was reviewed, where other edges do.
func TestAGoodEndWithoutAComparisonToTheReviewSaysSo(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"build":  {"cto_intervention->completed", "human_escalation->completed"},
		"phases": {"revert->done"},
	}
	for name, def := range shippedWorkflows(t) {
		var found []string
		for i := range def.Transitions {
			edge := &def.Transitions[i]
			one := newTask(edge.From)
			if len(edge.CameFrom) > 0 {
				one.Previous = edge.CameFrom[0]
			}
			free := *def // what it takes to make the move is not the question here
			free.Transitions = slices.Clone(def.Transitions)
			for j := range free.Transitions {
				free.Transitions[j].When, free.Transitions[j].By = nil, nil
			}
			ev := evidenceAbout("", task.Subject{Commit: "c"})
			for _, p := range workflow.Leaves(edge.Gate) {
				ev.Facts[p.Key()] = decide.Fact{Holds: true, Source: "x"}
			}
			free.Transitions[i].Gate = slices.DeleteFunc(slices.Clone(edge.Gate), func(p workflow.Part) bool {
				return p.Section != ""
			})
			d, err := decide.Transition(&free, one, ev, task.Request{Task: "T1", To: edge.To, Actor: human(),
				Reason: "so"}, noon)
			if err != nil || !d.Moved {
				t.Fatalf("%s: %s -> %s is not made: %v", name, edge.From, edge.To, err)
			}
			if d.Change.Events[0].Data[history.DataUnreviewed] != "" {
				found = append(found, string(edge.From)+"->"+string(edge.To))
			}
		}
		slices.Sort(found)
		if found = slices.Compact(found); !slices.Equal(found, want[name]) {
			t.Errorf("%s: found %q, want %q", name, found, want[name])
		}
	}
}

func TestAMoveReportsNoComparisonOnlyWhereAnotherWayCompares(t *testing.T) {
	t.Parallel()
	unmoved := []workflow.Part{{Git: workflow.GitUnmoved}}
	direct := workflow.Transition{From: "busy", To: "lost"}
	for _, c := range []struct {
		name  string
		other workflow.Transition
		moves []workflow.Move
		want  bool
	}{
		{"another way to it compares", workflow.Transition{From: "help", To: "lost", Gate: unmoved}, nil, true},
		{"no way to it does", workflow.Transition{From: "help", To: "lost"}, nil, false},
		{"a way to somewhere else does", workflow.Transition{From: "todo", To: "help", Gate: unmoved}, nil, false},
		{"the task is given up", workflow.Transition{From: "help", To: "lost", Gate: unmoved}, []workflow.Move{
			{Command: workflow.MoveCancel, To: "lost"}}, false},
	} {
		def := tiny([]workflow.Transition{direct, c.other})
		def.Moves = c.moves
		d, err := decide.Transition(def, newTask("busy"), evidence(""), task.Request{
			Task: "T1", To: "lost", Actor: human()}, noon)
		if got := d.Change.Events[0].Data[history.DataUnreviewed] != ""; err != nil || got != c.want {
			t.Errorf("%s: it says so: %v (%v)", c.name, got, err)
		}
	}
}

func TestWantsTree_whereTheWorktreeIsJudgedOrHandedIn(t *testing.T) {
	t.Parallel()
	build, plain := shippedWorkflow(t, "build"), defaultWorkflow(t)
	for _, c := range []struct {
		def      *workflow.Definition
		from, to task.Status
		want     bool
	}{
		{build, "testing", "quality_review", true},
		{build, "cto_intervention", "quality_review", true},
		{build, "cto_intervention", "approved", true},
		{build, "human_escalation", "committing", true},
		{build, "approved", "committing", false}, // it goes along
		{build, "quality_review", "approved", false},
		{build, "in_progress", "testing", false},
		{build, "committing", "completed", false},
		{plain, "working", "agent-review", false},
		{plain, "agent-review", "reviewing", false},
	} {
		if got := decide.WantsTree(c.def, newTask(c.from), c.to); got != c.want {
			t.Errorf("%s, %s -> %s: %v", c.def.Name, c.from, c.to, got)
		}
	}
}

// A status that can be entered without the verdict has to know what is in the worktree.
func TestWantsTree_whereAReviewLeadsOnWithoutItsPass(t *testing.T) {
	t.Parallel()
	passed := workflow.Transition{From: "busy", To: "help", Gate: []workflow.Part{
		{File: "review.json", Judges: true}, {Git: workflow.GitUnmoved}}}
	overridden, bare := passed, workflow.Transition{From: "busy", To: "help"}
	overridden.Override = true
	refused := workflow.Transition{From: "busy", To: "help", Gate: []workflow.Part{
		{Section: "## Review", Verdict: "FAIL"}, {Git: workflow.GitUnmoved}}}
	for name, c := range map[string]struct {
		edges []workflow.Transition
		want  bool
	}{
		"its verdict alone": {[]workflow.Transition{passed}, false}, "it may be overridden": {
			[]workflow.Transition{overridden}, true},
		"another way beside it":  {[]workflow.Transition{passed, bare}, true},
		"a verdict that refuses": {[]workflow.Transition{passed, refused}, true},
	} {
		def := tiny(c.edges)
		def.Strict = true
		def.States[1].Subject, def.States[2].Subject = workflow.SubjectWorktree, workflow.SubjectCarried
		if got := decide.WantsTree(def, newTask("busy"), "help"); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	plain := tiny([]workflow.Transition{passed}) // its states judge nothing of the worktree: nothing carries over
	plain.States[2].Subject = workflow.SubjectCarried
	if !decide.WantsTree(plain, newTask("busy"), "help") {
		t.Error("nobody looks at what lies there")
	}
}

// A state that was entered without a workspace gets what its evidence is about once the workspace is ready, and keeps
// who put the task there.
func TestDeathWantsTree_whereAnExitRuleNeedsTheWorktree(t *testing.T) {
	t.Parallel()
	build, plain := shippedWorkflow(t, "build"), defaultWorkflow(t)
	for _, c := range []struct {
		def  *workflow.Definition
		from task.Status
		want bool
	}{
		{build, "testing", true}, // to quality_review
		{build, "in_progress", false},
		{build, "quality_review", false},
		{plain, "working", false},
		{plain, "agent-review", false},
	} {
		if got := decide.DeathWantsTree(c.def, newTask(c.from)); got != c.want {
			t.Errorf("%s, %s: %v", c.def.Name, c.from, got)
		}
	}
	again := tiny([]workflow.Transition{{From: "busy", To: "busy", Gate: []workflow.Part{{Git: workflow.GitMoved}}}})
	again.States[1].Subject = workflow.SubjectWorktree
	if !decide.DeathWantsTree(again, newTask("busy")) {
		t.Error("the agent is started anew, and nobody looks at what lies there")
	}
	if again.Transitions = nil; decide.DeathWantsTree(again, newTask("busy")) {
		t.Error("nothing leads anywhere, and somebody looks at what lies there")
	}
	branched := tiny(nil, workflow.Rule{Status: "busy", ThenWhen: []workflow.Branch{{Then: "help"}}})
	if branched.States[2].Subject = workflow.SubjectWorktree; !decide.DeathWantsTree(branched, newTask("busy")) {
		t.Error("an arm of a rule leads to where the worktree is judged, and nobody looks")
	}
}

func TestPrepared_knowsWhatTheEvidenceIsAbout(t *testing.T) {
	t.Parallel()
	one := newTask("reviewing")
	one.Subject = task.Subject{By: "Ada", Reviewed: true}
	after, event := decide.Prepared(one, task.Subject{Commit: "first", Branch: "renamed"})
	want := task.Subject{Commit: "first", Branch: "renamed", By: "Ada", Reviewed: true}
	if after.Subject != want || event.Subject != want || event.Type != history.WorkspaceReady ||
		event.Data["workspace"] != "w1" || event.Data["branch"] != "fix-login" {
		t.Errorf("found %+v and %+v, want %+v", after.Subject, event, want)
	}
	if after.Status != one.Status || event.IsMove() {
		t.Errorf("it moved the task: %+v", event)
	}
}

// From then on, evidence is about what the agent of the status found; the start of another agent changes nothing.
func TestBegan_isAboutWhatTheStatussOwnAgentFound(t *testing.T) {
	t.Parallel()
	start := task.Start{Subject: task.Subject{Commit: "second", Tree: "lying"}, Evidence: []task.Evidence{
		{Source: "## review", Digest: "1"}}}
	before := task.Subject{Commit: "first", Tree: "judged", Reviewed: true}
	for _, c := range []struct {
		workflow string
		status   task.Status
		role     string
		want     task.Subject
		is       bool
	}{
		{"default", "agent-review", "reviewer", start.Subject, true},
		{"default", "agent-review", "worker", before, false},
		{"default", "reviewing", "worker", before, false},
		{"default", "reviewing", "", before, false},
		{"build", "quality_review", "quality-monitor", start.Subject, true},
		{"build", "approved", "git-manager", before, true}, // it carries what was judged before
		{"build", "committing", "git-manager", before, true},
	} {
		one := newTask(c.status)
		one.Subject = before
		after, verdicts, is := decide.Began(shippedWorkflow(t, c.workflow), one, c.role, start)
		if after.Subject != c.want || is != c.is || is != slices.Equal(verdicts, start.Evidence) {
			t.Errorf("%s, %s in %s: found %+v, %v, %v", c.workflow, c.role, c.status, after.Subject, verdicts, is)
		}
	}
}

// Its work is the same, whatever its status is now called.
func TestMigrate_leavesWhatTheEvidenceIsAbout(t *testing.T) {
	t.Parallel()
	one := newTask("working")
	one.Subject = task.Subject{Commit: "first", Reviewed: true, By: "Ada"}
	for _, to := range []task.Status{"busy", "working"} {
		def := tiny(nil)
		def.States[2].Name = "working"
		stands := map[task.Status]task.Status{"working": to}
		c, err := decide.Migrate(def, one, nil, stands, evidenceAbout("", task.Subject{Commit: "second"}),
			human(), noon)
		if err != nil || c.Task.Subject != one.Subject {
			t.Errorf("to %s: it is about %+v (%v)", to, c.Task.Subject, err)
		}
		if last := c.Events[len(c.Events)-1]; last.IsMove() != (to == "busy") || last.IsMove() &&
			last.Subject != one.Subject {
			t.Errorf("to %s: the history says %+v", to, last)
		}
	}
}

// The record has what the history says of it, whatever bytes it came with.
func TestSubject_onRecordIsWhatItsEventSays(t *testing.T) {
	t.Parallel()
	def, broken := defaultWorkflow(t), task.Subject{Commit: "c", Trouble: "cannot read \xff\xfe"}
	ada := task.Actor{Role: task.RoleHuman, Person: "Ada \xff"}
	changes := map[string]record.Change{"too many crashes": decide.Exit(def, func() task.Task {
		one := newTask("working")
		one.Counters = one.Counters.With(task.CrashCount, 1)
		return one
	}(), evidenceAbout("", broken), deathOf("worker"), noon)}
	d, err := decide.Transition(def, newTask("stuck"), evidenceAbout("", broken), task.Request{
		Task: "T1", To: "reviewing", Actor: ada}, noon)
	if err != nil {
		t.Fatal(err)
	}
	changes["a move"] = d.Change
	d, err = decide.Transition(def, newTask("agent-review"), evidenceAbout(aPassText, broken), task.Request{
		Task: "T1", To: "reviewing", Actor: ada}, noon)
	if err != nil {
		t.Fatal(err)
	}
	changes["a verdict"] = d.Change
	if changes["a birth"], err = decide.Create(def, task.Task{ID: "T1"}, "reviewing", ada, noon); err != nil {
		t.Fatal(err)
	}
	prepared, event := decide.Prepared(newTask("reviewing"), broken)
	changes["a workspace"] = record.Change{Task: prepared, Events: []history.Event{event}}
	began, _, _ := decide.Began(def, newTask("agent-review"), "reviewer", task.Start{Subject: broken})
	changes["a start"] = record.Change{
		Task: began, Events: []history.Event{{Type: history.ReviewStarted, Subject: broken}}}
	for what, c := range changes {
		last := c.Events[len(c.Events)-1]
		sealed, err := history.Seal(last, 1, "")
		if err != nil || sealed.Subject != c.Task.Subject {
			t.Errorf("%s: the history says %+v, the record %+v (%v)", what, sealed.Subject, c.Task.Subject, err)
		}
	}
}

// A branch that moves away and back between two reads must not apply the verdict on one commit to the other.
func TestAgrees_holdsWhereGitsAnswerFitsTheNotedTip(t *testing.T) {
	t.Parallel()
	one := newTask("busy")
	one.Subject = task.Subject{Commit: "first"}
	for _, c := range []struct {
		tip, word   string
		holds, want bool
	}{
		{"first", workflow.GitUnmoved, true, true},
		{"second", workflow.GitUnmoved, true, false},
		{"second", workflow.GitUnmoved, false, true},
		{"first", workflow.GitUnmoved, false, true}, // a file differs
		{"first", workflow.GitMoved, true, false},
		{"second", workflow.GitMoved, true, true},
		{"second", workflow.GitCommitted, true, true},
	} {
		part := workflow.Part{Git: c.word}
		ev := decide.Evidence{Subject: task.Subject{Commit: c.tip}, Facts: map[string]decide.Fact{
			part.Key(): {Holds: c.holds}}}
		if got := ev.Agrees(one); got != c.want {
			t.Errorf("the tip is %s, and git: %s is %v: found %v, want %v", c.tip, c.word, c.holds, got, c.want)
		}
	}
}
