package decide_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
)

// row003 is one row of document 003, or one that build adds, written by hand and looked up literally.
type row003 struct {
	from, to string // several, with blanks between them: each pair of the same place
	by       string
	needs    string // evidence: the names of letters, all of which must be there
	failures string // "<3", ">=3" or empty: with the one that the row counts
	attempts string // "<2", ">=2" or empty
	plan     int    // 1 only for tasks from a plan file, -1 only for others
	came     bool   // only for a task that came from the state of the same place in back
	back     string
	reason   bool
}

const (
	working003 = "assigned planning validated in_progress testing quality_review approved committing"
	next003    = "planning validated in_progress testing quality_review approved committing completed"
)

var document003 = []row003{
	// The nine forward transitions.
	{from: "pending", to: "assigned", by: "orchestrator human", plan: -1},
	{from: "pending", to: "assigned", by: "cto orchestrator human", plan: 1, needs: "codebase"},
	{from: "assigned", to: "planning", by: "solution-validator human"},
	{from: "planning", to: "validated", by: "solution-validator human", needs: "approach valid"},
	{from: "validated", to: "in_progress", by: "fullstack-developer human"},
	{from: "in_progress", to: "testing", by: "fullstack-developer human", needs: "handoff"},
	{from: "testing", to: "quality_review", by: "fullstack-developer human", needs: "checked"},
	{from: "quality_review", to: "approved", by: "quality-monitor human", needs: "passed unmoved"},
	{from: "approved", to: "committing", by: "git-manager human"},
	{from: "committing", to: "completed", by: "git-manager human", needs: "ahead clean as-reviewed"},
	// The six of failures. A developer who cannot go on is added to the first.
	{from: "planning", to: "planning", by: "solution-validator human", needs: "invalid", failures: "<3"},
	{from: "in_progress testing", to: "in_progress testing", by: "fullstack-developer human", needs: "blocked",
		failures: "<3"},
	{from: "quality_review", to: "in_progress", by: "quality-monitor human", needs: "failed", failures: "<3"},
	{from: "committing", to: "in_progress", by: "git-manager human", needs: "refused", failures: "<3"},
	{from: "planning", to: "cto_intervention", by: "solution-validator orchestrator human", needs: "invalid",
		failures: ">=3", attempts: "<2"},
	{from: "in_progress", to: "cto_intervention", by: "fullstack-developer orchestrator human", needs: "blocked",
		failures: ">=3", attempts: "<2"},
	{from: "testing", to: "cto_intervention", by: "fullstack-developer orchestrator human", needs: "blocked",
		failures: ">=3", attempts: "<2"},
	{from: "quality_review", to: "cto_intervention", by: "quality-monitor orchestrator human", needs: "failed",
		failures: ">=3", attempts: "<2"},
	{from: "committing", to: "cto_intervention", by: "git-manager orchestrator human", needs: "refused",
		failures: ">=3", attempts: "<2"},
	{from: "assigned", to: "cto_intervention", by: "orchestrator human", failures: ">=3", attempts: "<2"},
	{from: "validated", to: "cto_intervention", by: "orchestrator human", failures: ">=3", attempts: "<2"},
	{from: "approved", to: "cto_intervention", by: "orchestrator human", failures: ">=3", attempts: "<2"},
	{from: "cto_intervention", to: working003, by: "cto human", needs: "guidance", came: true, back: working003},
	{from: "cto_intervention", to: "human_escalation", by: "cto human", needs: "escalation", attempts: ">=2"},
	// The triggers of escalation, where the CTO was asked twice.
	{from: "planning", to: "human_escalation", by: "solution-validator orchestrator human", needs: "invalid",
		failures: ">=3", attempts: ">=2"},
	{from: "in_progress", to: "human_escalation", by: "fullstack-developer orchestrator human", needs: "blocked",
		failures: ">=3", attempts: ">=2"},
	{from: "testing", to: "human_escalation", by: "fullstack-developer orchestrator human", needs: "blocked",
		failures: ">=3", attempts: ">=2"},
	{from: "quality_review", to: "human_escalation", by: "quality-monitor orchestrator human", needs: "failed",
		failures: ">=3", attempts: ">=2"},
	{from: "committing", to: "human_escalation", by: "git-manager orchestrator human", needs: "refused",
		failures: ">=3", attempts: ">=2"},
	// Skip and abandon; a person's resolution.
	{from: "cto_intervention", to: "planning validated in_progress testing quality_review approved committing",
		by: "cto", needs: "guidance", reason: true,
		came: true, back: "assigned planning validated in_progress testing quality_review approved"},
	{from: "cto_intervention", to: "completed", by: "cto", needs: "guidance ahead clean", reason: true,
		came: true, back: "committing"},
	{from: "human_escalation", to: working003, by: "human", reason: true},
	{from: "human_escalation", to: "completed", by: "human", needs: "ahead clean", reason: true},
	{from: "pending " + working003 + " cto_intervention human_escalation", to: "abandoned", by: "human", reason: true},
}

// case003 is a request in the twin's own words.
type case003 struct {
	from, to, came     string
	role               string // "rule" for the workflow's own
	failures, attempts int
	plan               bool
	reason             bool
	papers             map[string]bool // the evidence that holds
}

func (r row003) accepts(c case003) bool {
	to, back, froms := strings.Fields(r.to), strings.Fields(r.back), strings.Fields(r.from)
	if !slices.Contains(froms, c.from) {
		return false
	}
	if r.to == r.from { // each to itself
		to = []string{c.from}
	}
	at := slices.Index(to, c.to)
	switch {
	case at < 0, r.came && back[at] != c.came:
		return false
	case c.role != "rule" && !slices.Contains(strings.Fields(r.by), c.role):
		return false
	case r.reason && !c.reason, r.plan == 1 && !c.plan, r.plan == -1 && c.plan:
		return false
	case r.failures == "<3" && c.failures+1 >= 3, r.failures == ">=3" && c.failures+1 < 3:
		return false
	case r.attempts == "<2" && c.attempts >= 2, r.attempts == ">=2" && c.attempts < 2:
		return false
	}
	for _, paper := range strings.Fields(r.needs) {
		if !c.papers[paper] {
			return false
		}
	}
	return true
}

// paper is a section of a task's document, as build asks for it.
type paper struct{ name, section, text, opposite string }

var papers003 = []paper{
	{"codebase", "Codebase Review", "login.go is there", ""},
	{"approach", "Approach", "small steps", ""},
	{"valid", "Validation", "Verdict: PASS", "invalid"},
	{"invalid", "Validation", "Verdict: FAIL", "valid"},
	{"handoff", "Handoff", "DONE: it", ""},
	{"checked", "Self-check", "make test: ok", ""},
	{"passed", "Review", "Verdict: PASS", "failed"},
	{"failed", "Review", "Verdict: FAIL", "passed"},
	{"refused", "Commit", "Verdict: FAIL", ""},
	{"blocked", "Blocked", "the service is down", ""},
	{"guidance", "Guidance", "look at the session", ""},
	{"escalation", "Escalation", "ISSUE: the login", ""},
}

// git003 is what build asks git for.
var git003 = []string{"ahead", "clean", "unmoved", "as-reviewed"}

// Ages of a section.
const (
	written003 = "written since"
	before003  = "there at entry"
	used003    = "moved the task"
)

// draw003 picks sections, some of them old, and returns which of them hold.
func draw003(rt *rapid.T, wanted []string) (decide.Evidence, map[string]bool) {
	holds := map[string]bool{}
	body := ""
	old := map[string]string{}
	for _, p := range papers003 {
		there := rapid.IntRange(0, 3).Draw(rt, p.name) == 0
		if slices.Contains(wanted, p.name) {
			there = rapid.IntRange(0, 5).Draw(rt, p.name+" wanted") > 0
		}
		if !there || holds[p.opposite] || old[p.section] != "" {
			continue
		}
		age := rapid.SampledFrom([]string{written003, written003, written003, written003, before003,
			used003}).Draw(rt, p.name+" age")
		body += "## " + p.section + "\n" + p.text + "\n\n"
		old[p.section] = age
		switch {
		case p.name == "approach", age == written003, age == before003 && (p.name == "handoff" || p.name == "codebase"):
			holds[p.name] = true
		}
	}
	ev := evidence(body)
	for _, p := range papers003 {
		switch old[p.section] {
		case before003:
			ev.Entry = append(ev.Entry, sectionEvidence(rt, ev.Document, p.section))
		case used003:
			ev.Spent = append(ev.Spent, spentSection(rt, ev.Document, p.section, 2))
		}
	}
	for _, what := range git003 {
		holds[what] = rapid.IntRange(0, 3).Draw(rt, what) > 0
		ev.Facts[gitKey(what)] = gitFact(what, holds[what])
	}
	return ev, holds
}

var roles003 = []string{
	"solution-validator", "fullstack-developer", "quality-monitor", "git-manager", "cto", "orchestrator", "human",
	"rule", "worker", "reviewer", "plan-manager",
}

func TestTheJudgeAgreesWithALiteralLookupInDocument003(t *testing.T) {
	t.Parallel()
	def := shippedWorkflow(t, "build")
	states := make([]string, len(def.States))
	for i := range def.States {
		states[i] = string(def.States[i].Name)
	}
	rapid.Check(t, func(rt *rapid.T) {
		c := case003{
			from: rapid.SampledFrom(states).Draw(rt, "from"), to: rapid.SampledFrom(states).Draw(rt, "to"),
			came: rapid.SampledFrom(states).Draw(rt, "came"), role: rapid.SampledFrom(roles003).Draw(rt, "role"),
			failures: rapid.IntRange(0, 3).Draw(rt, "failures"), attempts: rapid.IntRange(0, 2).Draw(rt, "attempts"),
			plan: rapid.Bool().Draw(rt, "plan"), reason: rapid.Bool().Draw(rt, "reason"),
		}
		var wanted []string
		if rapid.IntRange(0, 4).Draw(rt, "along a row") > 0 {
			wanted = c.along(rt, rapid.SampledFrom(document003).Draw(rt, "row"))
		}
		tk := newTask(task.Status(c.from))
		tk.Previous = task.Status(c.came)
		tk.Counters = tk.Counters.With(task.Failures(tk.Status), c.failures).With("cto_attempts", c.attempts).
			With("review_anew", rapid.IntRange(0, 1).Draw(rt, "review anew")).With("commit_anew",
			rapid.IntRange(0, 1).Draw(rt, "commit anew"))
		if c.plan {
			tk.Counters = tk.Counters.With("from_plan", 1)
		}
		var ev decide.Evidence
		ev, c.papers = draw003(rt, wanted)
		req := task.Request{Task: tk.ID, To: task.Status(c.to), Actor: actorFrom(c.role)}
		if c.reason {
			req.Reason = "so it is"
		}
		d, err := judge(def, tk, ev, req)
		want := slices.ContainsFunc(document003, func(r row003) bool { return r.accepts(c) })
		if found := err == nil && d.Moved; found != want {
			rt.Fatalf("found moved = %t for %+v (%v), want %t", found, c, err, want)
		}
	})
}

// along moves a case close to a row, so that many cases are accepted.
func (c *case003) along(rt *rapid.T, r row003) []string {
	froms, to := strings.Fields(r.from), strings.Fields(r.to)
	i := rapid.IntRange(0, len(to)-1).Draw(rt, "place of to")
	c.from, c.to = rapid.SampledFrom(froms).Draw(rt, "from of the row"), to[i]
	if r.from == r.to {
		c.from = c.to
	}
	if r.came && rapid.IntRange(0, 5).Draw(rt, "came from there") > 0 {
		c.came = strings.Fields(r.back)[i]
	}
	if rapid.IntRange(0, 3).Draw(rt, "role of the row") > 0 {
		c.role = rapid.SampledFrom(strings.Fields(r.by)).Draw(rt, "by")
	}
	return strings.Fields(r.needs)
}
