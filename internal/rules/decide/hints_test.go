package decide_test

import (
	"strings"
	"testing"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// A caller who is refused because the work is not what was judged learns how to have it judged as it is now: by the
// caller's own command, else by a person's.
func TestARefusalNamesTheWayOnWhereTheWorkHasChanged(t *testing.T) {
	t.Parallel()
	const refused = "to do: commit"
	rows := []struct {
		name, workflow string
		status, to     task.Status
		actor          task.Actor
		moved, dirty   bool
		unnoted        bool // no event notes what was judged
		set            func(*task.Task)
		want           string // behind what git wants
	}{
		{name: "a reviewer", workflow: "default", status: "agent-review", to: "reviewing", actor: task.Actor{
			Role: task.RoleReviewer}, moved: true,
			want: "what is there now is judged again with: orange task update T1 --status agent-review"},
		{name: "a person in the place of one", workflow: "default", status: "agent-review", to: "reviewing",
			actor: task.Actor{Role: task.RoleHuman, As: task.RoleReviewer}, moved: true,
			want: "what is there now is judged again with: orange task update T1 --status agent-review --as reviewer"},
		{name: "a reviewer of many", workflow: "default", status: "agent-review", to: "reviewing",
			actor: task.Actor{Role: task.RoleReviewer}, moved: true,
			set:  func(t *task.Task) { t.Counters = t.Counters.With("rereviews", 3) },
			want: "a person has what is there now judged again with: orange task update T1 --status agent-review"},
		{name: "a reviewer whose tests left something", workflow: "default", status: "agent-review",
			to: "reviewing", actor: task.Actor{Role: task.RoleReviewer}, dirty: true},
		{name: "a second FAIL", workflow: "default", status: "agent-review", to: "reviewing", actor: task.Actor{
			Role: task.RoleReviewer}, dirty: true,
			set: func(t *task.Task) { t.Counters = t.Counters.With(task.ReviewRound, 2) }},
		{name: "a person who merges", workflow: "default", status: "reviewing", to: "done", actor: human(), moved: true,
			want: "what is there now is judged again with: orange task update T1 --status agent-review"},
		{name: "a person who merges what nobody committed", workflow: "default", status: "reviewing", to: "done",
			actor: human(), dirty: true},
		{name: "a worker who asks for what is not its own", workflow: "default", status: "agent-review",
			to: "reviewing", actor: task.Actor{Role: task.RoleWorker}, moved: true,
			want: "a person has what is there now judged again with: orange task update T1 --status agent-review"},
		{name: "where nobody reviews", workflow: judgedMinimal, status: "reviewing", to: "done", actor: human(),
			moved: true},
		{name: "a code reviewer", workflow: "phases", status: "review", to: "test", actor: task.Actor{
			Role: task.RoleReviewer}, moved: true,
			want: "a person has what is there now judged again with: orange task redo T1 review --reason TEXT"},
		{name: "a tester", workflow: "phases", status: "test", to: "accept", actor: task.Actor{
			Role: task.RoleWorker}, moved: true,
			want: "a person has what is there now judged again with: orange task redo T1 review --reason TEXT"},
		{name: "a tester who left something", workflow: "phases", status: "test", to: "accept", actor: task.Actor{
			Role: task.RoleWorker}, dirty: true},
		{name: "a person in the place of a tester", workflow: "phases", status: "test", to: "accept",
			actor: human(), moved: true,
			want: "what is there now is judged again with: orange task redo T1 review --reason TEXT"},
		{name: "a person who accepts", workflow: "phases", status: "accept", to: "done", actor: human(), moved: true,
			want: "what is there now is judged again with: orange task update T1 --status review, " +
				"once there is accept/decision.json (verdict: rejected or deferred, and back_to: review)"},
		{name: "a monitor", workflow: "build", status: "quality_review", to: "approved", actor: task.Actor{
			Role: "quality-monitor"}, moved: true,
			want: "a person ends the agent and has another one judge what is there now: orange task respawn T1"},
		{name: "a monitor whose FAIL is the third", workflow: "build", status: "quality_review", to: "approved",
			actor: task.Actor{Role: "quality-monitor"}, moved: true,
			set:  func(t *task.Task) { t.Counters = t.Counters.With(task.Failures("quality_review"), 2) },
			want: "a person ends the agent and has another one judge what is there now: orange task respawn T1"},
		{name: "a person in the place of a monitor", workflow: "build", status: "quality_review", to: "approved",
			actor: human(), moved: true,
			want: "end the agent and have another one judge what is there now: orange task respawn T1"},
		{name: "a reviewer of what nobody noted", workflow: "default", status: "agent-review", to: "reviewing",
			actor: task.Actor{Role: task.RoleReviewer}, unnoted: true},
		{name: "a person who merges what nobody noted", workflow: "default", status: "reviewing", to: "done",
			actor: human(), unnoted: true,
			want: "what is there now is judged again with: orange task update T1 --status agent-review"},
		{name: "a rule", workflow: "default", status: "agent-review", to: "reviewing", actor: task.Actor{
			Role: task.RoleReviewer, Rule: true}, moved: true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			def, one := hintedWorkflow(t, row.workflow), newTask(row.status)
			if row.set != nil {
				row.set(&one)
			}
			ev := withGit(evidence(aPassText), row.moved, row.dirty)
			if row.unnoted {
				fact := gitFact(workflow.GitUnmoved, false)
				fact.Other, fact.Anew = true, true
				ev.Facts[gitKey(workflow.GitUnmoved)] = fact
			}
			for key, fact := range factsFor(def, row.status, row.to) {
				if _, git := ev.Facts[key]; !git {
					ev.Facts[key] = fact
				}
			}
			_, err := decide.Transition(def, one, ev, task.Request{Task: "T1", To: row.to, Actor: row.actor}, noon)
			want := refused
			if row.want != "" {
				want += "; " + row.want
			}
			if got := refusal(t, err).Error() + "\n"; !strings.Contains(got, want+"\n") {
				t.Errorf("found\n%swant\n%s", got, want)
			}
		})
	}
}

func TestARefusalNamesNoJudgeWhereThereIsNone(t *testing.T) {
	t.Parallel()
	def := tiny([]workflow.Transition{{From: "busy", To: "help", Gate: []workflow.Part{{Git: workflow.GitUnmoved}}}})
	def.States[1].RespawnPrompt = workflow.Named{Name: "anew"}
	def.Redo = []workflow.Named{{Name: "busy"}}
	_, err := decide.Transition(def, newTask("busy"), withGit(evidence(""), true, false), task.Request{
		Task: "T1", To: "help", Actor: human()}, noon)
	if got := refusal(t, err).Details; len(got) != 1 || got[0].Want != "commit" {
		t.Errorf("found %+v", got)
	}
}

// What to think of the work is its judge's.
func TestARefusalAdvisesNoOtherVerdict(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "build")
	ev := evidence("")
	for _, word := range []string{workflow.GitAhead, workflow.GitClean} {
		ev.Facts[gitKey(word)] = gitFact(word, true)
	}
	other := gitFact(workflow.GitAsReviewed, false)
	other.Other, other.Anew = true, true
	ev.Facts[gitKey(workflow.GitAsReviewed)] = other
	_, err := decide.Transition(def, newTask("committing"), ev, task.Request{
		Task: "T1", To: "completed", Actor: task.Actor{Role: "git-manager"}}, noon)
	if got := refusal(t, err).Error(); !strings.Contains(got, "to do: commit\n") || strings.Contains(got, "FAIL") {
		t.Errorf("found\n%s", got)
	}
}

// If nothing supports a move, and when a person asks why, the answer includes the hints too.
func TestNextAndWhyNameTheWayOnToo(t *testing.T) {
	t.Parallel()
	def, one := shippedWorkflow(t, "phases"), newTask("test")
	ev := withGit(evidence(""), true, false)
	for key, fact := range factsFor(def, "test", "accept") {
		if _, git := ev.Facts[key]; !git {
			ev.Facts[key] = fact
		}
	}
	const want = "orange task redo T1 review --reason TEXT"
	_, _, err := decide.Next(def, one, ev, task.Actor{Role: "tester"}, "", noon)
	if no := refusal(t, err); !strings.Contains(no.Error(), want) {
		t.Errorf("next says\n%v", no)
	}
	var told string
	for _, w := range decide.Why(def, one, ev) {
		for _, d := range w.Details {
			told += d.Want + "\n"
		}
	}
	if !strings.Contains(told, want) {
		t.Errorf("why says\n%s", told)
	}
}

// judgedMinimal is minimal with a gate before its merge.
const judgedMinimal = "minimal that judges"

func hintedWorkflow(t *testing.T, name string) *workflow.Definition {
	t.Helper()
	if name != judgedMinimal {
		return shippedWorkflow(t, name)
	}
	const merge = "  - from: reviewing\n    to: done\n    by: human\n"
	text := strings.Replace(string(read(t, "../../../workflows/minimal.yml")), merge, merge+
		"    override: allowed\n    gate:\n      git: unmoved\n", 1)
	return parse(t, "minimal.yml", []byte(text))
}
