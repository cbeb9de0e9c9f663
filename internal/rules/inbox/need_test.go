package inbox_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/document"
	"orange/internal/rules/inbox"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/workflows"
)

// People read of a task's need in the same few words everywhere.
func TestWords_areWhatATaskNeedsInShort(t *testing.T) {
	t.Parallel()
	def := defaultRules(t)
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.FixedZone("there", 3600))
	asks := "# A\n\n## Questions\n\n1. **Which currency?**\n2. And which\n"
	for name, c := range map[string]struct {
		status, previous task.Status
		note, agent      string
		seen             inbox.Sight
		text             string
		conflicts        []string
		apart            bool
		moved, by        string // why it was moved, "-" where no one said; who handed its work in
		want, all        string
	}{
		"questions": {status: "clarification", previous: "planning", text: asks,
			want: "asks 2 questions: Which currency?", all: "1. **Which currency?**\n2. And which"},
		"a question": {status: "clarification", text: "## Questions\n\n1. Which currency?\n",
			want: "asks: Which currency?"},
		"no question": {status: "clarification", previous: "planning", text: "## Plan\nx\n",
			want: "waits in clarification"},
		"a question with a number": {status: "clarification", text: "## Questions\n\n12 or 13?\n",
			want: "asks: 12 or 13?"},
		"in brackets": {status: "clarification", text: "## Questions\n\n1) Which one?\n", want: "asks: Which one?"},
		"further in": {status: "clarification", text: "## Questions\n\n- a\n  - b\n", want: "asks 2 questions: a",
			all: "- a\n  - b"},
		"an empty one": {status: "clarification", text: "## Questions\n\n<!-- none -->\n",
			want: "waits in clarification"},
		"a dash": {status: "clarification", text: "## Questions\n- a\x1b[2Jb\n", want: `asks: a\x1b[2Jb`},
		"plain": {status: "clarification", text: "## Questions\n\n### Money\n\nWhich one?\n",
			want: "asks: Which one?", all: "### Money\n\nWhich one?"},
		"a long one": {status: "clarification", text: "## Questions\n" + strings.Repeat("long", 30) + "\n?\n",
			want: "asks: " + strings.Repeat("long", 30), all: strings.Repeat("long", 30) + "\n?"},
		"an old question": {status: "stuck", previous: "working", text: asks, want: "waits in stuck"},
		"stuck for a reason": {status: "stuck", previous: "working", moved: "the build server is down",
			want: "waits in stuck: the build server is down"},
		"stuck for none": {status: "stuck", previous: "working", moved: "-",
			want: "waits in stuck: no reason was given"},
		"put up": {status: "reviewing", previous: "stuck", moved: "-", by: "Eye <eye@b>",
			want: "handed in by Eye, not reviewed"},
		"put up for a reason": {status: "reviewing", previous: "stuck", moved: "look at line 3",
			want: "waits in reviewing: look at line 3"},
		"no reason needed": {status: "reviewing", previous: "stuck", moved: "-", want: "waits in reviewing"},
		"passed":           {status: "reviewing", previous: "agent-review", text: asks, want: "review passed"},
		"failed":           {status: "stuck", previous: "agent-review", text: asks, want: "review failed"},
		"not reviewed":     {status: "reviewing", previous: "stuck", want: "waits in reviewing"},
		"a conflict": {status: "reviewing", previous: "agent-review", conflicts: []string{"feat/b"},
			want: "review passed, conflict with feat/b"},
		"two conflicts": {status: "reviewing", conflicts: []string{"feat/b", "c"},
			want: "conflict with feat/b and 1 more"},
		"conflicts": {status: "reviewing", conflicts: []string{"feat/b", "c", "d"},
			want: "conflict with feat/b and 2 more"},
		"not compared": {status: "reviewing", previous: "agent-review", apart: true,
			want: "review passed, not compared"},
		"nor anything else": {status: "reviewing", previous: "stuck", apart: true,
			want: "waits in reviewing, not compared"},
		"known as it was": {status: "reviewing", conflicts: []string{"feat/b"}, apart: true,
			want: "conflict with feat/b"},
		"a hook where a person decides": {status: "reviewing", note: "hook push_branch: no remote",
			want: "hook push_branch failed: no remote"},
		"a hook": {status: "working", note: "hook push_branch: no remote", want: "hook push_branch failed: no remote"},
		"memory": {status: "working", note: `hook acquire_workspace: the set-up of the workspace failed: "make" ` +
			"ran out of memory: it used more than 4096 MB", want: "out of memory: hook acquire_workspace",
			all: `hook acquire_workspace: the set-up of the workspace failed: "make" ` +
				"ran out of memory: it used more than 4096 MB"},
		"a crash": {status: "working", note: "crash 1: it left no x; start it again", want: "crash 1: it left no x",
			all: "crash 1: it left no x; start it again"},
		"last words": {status: "working", note: "crash 1: the worker ended; start it again; its last words: no login",
			want: "crash 1: no login", all: "crash 1: the worker ended; start it again; its last words: no login"},
		"a last word": {status: "working", note: `worker has ended in "working"; its last words: no login`,
			want: `worker has ended in "working": no login`,
			all:  `worker has ended in "working"; its last words: no login`},
		"moved by refusals": {status: "reviewing", previous: "agent-review", note: "refused 5 times: x",
			want: "refused 5 times: x"},
		"refused often": {status: "working", note: "refused 5 times: agent-review: Handoff: as before",
			want: "refused 5 times: agent-review: Handoff: as before"},
		"died": {status: "working", agent: record.AgentDead, want: "worker has died"},
		"a dialog": {status: "working", seen: inbox.Sight{Kind: record.NeedsAnswer},
			want: "its program shows a dialog"},
		"a dialog's question": {status: "working", seen: inbox.Sight{Kind: record.NeedsAnswer, Asks: "Allow this?"},
			want: "its program shows a dialog: Allow this?"},
		"at a limit's": {status: "working", seen: inbox.Sight{Kind: record.NeedsAnswer,
			Rest: record.Rest{Line: "Usage limit reached"}},
			want: "its program shows a dialog: Usage limit reached"},
		"unread":   {status: "stuck", moved: "?", want: "waits in stuck"},
		"at rest":  {status: "working", seen: inbox.Sight{Kind: record.NeedsWord}, want: "rests at its prompt"},
		"at first": {status: "working", seen: inbox.Sight{Kind: record.NeedsStart}, want: "waits at its first screen"},
		"refused": {status: "working", seen: inbox.Sight{Kind: record.NeedsModel, Rest: record.Rest{Line: "no key"}},
			want: "model refuses: no key"},
		"today": {status: "working", seen: inbox.Sight{Kind: record.NeedsLimit,
			Rest: record.Rest{Until: now.Add(140 * time.Minute)}}, want: "limit until 14:20"},
		"a full minute": {status: "working", seen: inbox.Sight{Kind: record.NeedsLimit,
			Rest: record.Rest{Until: now.Add(140*time.Minute - time.Second)}}, want: "limit until 14:20"},
		"tomorrow": {status: "working", note: limitMark(now.Add(24 * time.Hour)),
			want: "limit until 03-05 12:00"},
		"no time": {status: "working", seen: inbox.Sight{Kind: record.NeedsLimit, Rest: record.Rest{Line: "5 calls"}},
			want: "limit: 5 calls"},
		"long": {status: "working", note: strings.Repeat("long ", 30),
			want: strings.TrimSpace(strings.Repeat("long ", 30))},
		"at work": {status: "working", agent: record.AgentAlive},
		"revived": {status: "agent-review", agent: record.AgentDead},
		"marked": {status: "done", previous: "reviewing", note: "hook push_branch: no remote",
			want: "hook push_branch failed: no remote"},
		"new":  {status: "pending"},
		"over": {status: "done", previous: "reviewing"},
	} {
		one := task.Task{ID: "one", Status: c.status, Previous: c.previous, Attention: c.note,
			Live: c.status != "done"}
		var clues inbox.Clues
		if c.text != "" {
			clues.Document = document.Read([]byte(c.text))
		}
		one.Subject.By = c.by
		if c.moved != "" {
			clues.Moved = func() (string, bool) { return strings.Trim(c.moved, "-?"), c.moved != "?" }
		}
		need := inbox.NeedOf(def, one, c.agent, c.seen)
		need.Conflicts, need.Apart = c.conflicts, c.apart
		got := inbox.InWords(def, one, need, clues, now)
		if got.Reason != c.want || got.Text != c.all || (got.Reason == "") != (need.Kind == "") {
			t.Errorf("%s: %q and %q, want %q and %q", name, got.Reason, got.Text, c.want, c.all)
		}
	}
}

func TestWords_ofWorkThatNoOneReviewedSayWhoHandedItIn(t *testing.T) {
	t.Parallel()
	def := defaultRules(t)
	one := task.Task{ID: "one", Status: "reviewing", Previous: "stuck", Live: true,
		Subject: task.Subject{Commit: "c1", By: "Ann <ann@localhost>"}}
	need := inbox.InWords(def, one, inbox.NeedOf(def, one, "", inbox.Sight{}), inbox.Clues{}, time.Now())
	if want := "handed in by Ann, not reviewed"; need.Reason != want {
		t.Errorf("it says %q, want %q", need.Reason, want)
	}
}

func TestARestAtALimit_hasTheRoleOfItsAgent(t *testing.T) {
	t.Parallel()
	one := task.Task{ID: "one", Status: "agent-review", Live: true}
	need := inbox.NeedOf(defaultRules(t), one, "", inbox.Sight{Kind: record.NeedsLimit, Rest: record.Rest{Line: "x"}})
	if need.Rest == nil || need.Rest.Role != "reviewer" || need.Rest.Line != "x" {
		t.Errorf("the rest is %+v", need.Rest)
	}
}

func TestATaskWithoutItsWorktree_isStartedAgain(t *testing.T) {
	t.Parallel()
	one := task.Task{ID: "one", Status: "working", Live: true}
	need := inbox.WithoutWorktree(defaultRules(t), one, "its branch is gone")
	told := inbox.InWords(defaultRules(t), one, need, inbox.Clues{}, time.Now())
	if told.Reason != "its branch is gone" || !slices.Equal(need.Commands, []string{"orange task respawn one"}) {
		t.Errorf("it says %q, and to do is %q", told.Reason, need.Commands)
	}
}

func TestATaskWithoutItsDocument_saysWhatIsThereInstead(t *testing.T) {
	t.Parallel()
	one := task.Task{ID: "one", Status: "working", Live: true}
	for there, want := range map[bool]string{false: "put it back", true: "move away what is there"} {
		need := inbox.WithoutDocument(defaultRules(t), one, there, errors.New("it is no text"))
		told := inbox.InWords(defaultRules(t), one, need, inbox.Clues{}, time.Now())
		words := told.Reason
		if words != "TASK.md cannot be read" || told.Text != need.String() || !strings.HasPrefix(need.Want, want) ||
			!strings.Contains(need.Found, "it is no text") || !slices.Equal(need.Commands, []string{"orange doctor"}) {
			t.Errorf("there %t: %q, %+v", there, words, need)
		}
	}
}

// The task that has waited for longest comes first.
func TestFirst_isByAge(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	old, young := record.Need{Since: at}, record.Need{Since: at.Add(time.Second)}
	if inbox.First(old, young, "b", "a") >= 0 || inbox.First(old, old, "a", "b") >= 0 ||
		inbox.First(young, old, "a", "b") <= 0 {
		t.Error("the order is not by age, then by id")
	}
}

// limitMark is the mark of a task whose worker ended at a limit.
func limitMark(until time.Time) string {
	var t task.Task
	t.MarkLimit("worker", task.Limit{Provider: "acme", Until: until})
	return t.Attention
}

func defaultRules(t *testing.T) *workflow.Definition {
	t.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		t.Fatal(err)
	}
	text, err := workflows.Files.ReadFile("default.yml")
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Parse("default.yml", text, usual)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// Defect: a task that an agent had handed in was "not reviewed" in its history and "waits in ready" in the list, where
// its workflow asks for no verdicts.
func TestInWords_describesHandedInWorkAlikeInEveryWorkflow(t *testing.T) {
	t.Parallel()
	def := &workflow.Definition{Initial: "new", States: []workflow.State{{Name: "new"}, {Name: "ready"}}}
	one := task.Task{ID: "one", Status: "ready", Live: true, Subject: task.Subject{By: "Eye"}}
	need := inbox.InWords(def, one, inbox.NeedOf(def, one, "", inbox.Sight{}), inbox.Clues{}, time.Now())
	if need.Reason != one.Subject.UnreviewedText() {
		t.Errorf("people read %q, and elsewhere %q", need.Reason, one.Subject.UnreviewedText())
	}
}
