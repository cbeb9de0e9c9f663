package decide_test

import (
	"slices"

	"orange/internal/rules/task"
)

// law is one row of a document's table, written by hand and looked up literally: the simple twin of the judge. It
// shares nothing with the workflow files, so that both would have to be wrong in the same way.
type law struct {
	from, to  task.Status
	by        []string
	needs     need
	low, high int  // the book's counter must be in between, both included
	added     bool // not a row of the document
}

// need is what a row wants of the document.
type need int

const (
	nothing need = iota
	aPlan
	aNewHandoff
	aNewPass
	aNewFail
	anyNewHandoff  // there, and not empty
	aPassSomewhere // the first line with a verdict says PASS
	aFailSomewhere
	theFiles // of the task's folder, which speak for this move and no other
)

// What a row also wants of git.
const (
	committed need = 1 << (8 + iota)
	unmoved
	movedTip
	ofGit = committed | unmoved | movedTip
)

const anyRound = 1 << 20

var (
	onlyHuman     = []string{"human"}
	workerHuman   = []string{"worker", "human"}
	reviewerHuman = []string{"reviewer", "human"}
	testerHuman   = []string{"tester", "human"}
)

var document001 = []law{
	{"pending", "planning", onlyHuman, nothing, 0, anyRound, false},
	{"pending", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"planning", "working", workerHuman, aPlan, 0, anyRound, false},
	{"planning", "clarification", workerHuman, nothing, 0, anyRound, false},
	{"planning", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"clarification", "planning", workerHuman, nothing, 0, anyRound, false},
	{"clarification", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"working", "agent-review", workerHuman, aNewHandoff | committed, 0, anyRound, false},
	{"working", "clarification", workerHuman, nothing, 0, anyRound, false},
	{"working", "stuck", workerHuman, nothing, 0, anyRound, false},
	{"working", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"agent-review", "reviewing", reviewerHuman, aNewPass | unmoved, 0, anyRound, false},
	{"agent-review", "working", reviewerHuman, aNewFail, 0, 1, false},
	{"agent-review", "stuck", reviewerHuman, aNewFail, 2, anyRound, false},
	{"agent-review", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"reviewing", "working", onlyHuman, nothing, 0, anyRound, false},
	{"reviewing", "done", onlyHuman, unmoved, 0, anyRound, false},
	{"reviewing", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"stuck", "reviewing", onlyHuman, committed, 0, anyRound, false},
	{"stuck", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"clarification", "working", workerHuman, aPlan, 0, anyRound, true},
	{"agent-review", "agent-review", reviewerHuman, movedTip, 0, anyRound, true},
	{"reviewing", "agent-review", onlyHuman, committed, 0, anyRound, true},
}

// document000 is the map of document 000, with its gates; document 002's file has the same edges, gates and guards.
var document000 = []law{
	{"pending", "working", onlyHuman, nothing, 0, anyRound, false},
	{"pending", "clarification", onlyHuman, nothing, 0, anyRound, false},
	{"pending", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"clarification", "working", workerHuman, nothing, 0, anyRound, false},
	{"clarification", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"working", "agent-review", workerHuman, anyNewHandoff, 0, anyRound, false},
	{"working", "clarification", workerHuman, nothing, 0, anyRound, false},
	{"working", "stuck", workerHuman, nothing, 0, anyRound, false},
	{"working", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"agent-review", "reviewing", reviewerHuman, aPassSomewhere, 0, anyRound, false},
	{"agent-review", "working", reviewerHuman, aFailSomewhere, 0, 1, false},
	{"agent-review", "stuck", reviewerHuman, aFailSomewhere, 2, anyRound, false},
	{"agent-review", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"reviewing", "done", onlyHuman, nothing, 0, anyRound, false},
	{"reviewing", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"stuck", "working", onlyHuman, nothing, 0, anyRound, false},
	{"stuck", "agent-review", onlyHuman, nothing, 0, anyRound, false},
	{"stuck", "cancelled", onlyHuman, nothing, 0, anyRound, false},
}

// document002Minimal is the shorter example of document 002.
var document002Minimal = []law{
	{"pending", "working", onlyHuman, nothing, 0, anyRound, false},
	{"working", "reviewing", workerHuman, anyNewHandoff, 0, anyRound, false},
	{"reviewing", "done", onlyHuman, nothing, 0, anyRound, false},
	{"pending", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"working", "cancelled", onlyHuman, nothing, 0, anyRound, false},
	{"reviewing", "cancelled", onlyHuman, nothing, 0, anyRound, false},
}

// mostAnew is how often agents begin a review again in one cycle because the branch has moved; a person may do so
// without limit.
const mostAnew = 3

// mostReturns is how often agents send a task of document 004 back before a person looks; the document has no
// such bound.
const mostReturns = 9

// document004 has the arrows of its diagram, in their order. Giving a task up is not one of its phases, and is added.
var document004 = []law{
	{"planning", "plan_review", workerHuman, theFiles, 0, anyRound, false},
	{"planning", "planning", onlyHuman, nothing, 0, anyRound, false},
	{"plan_review", "codegen", reviewerHuman, theFiles, 0, anyRound, false},
	{"plan_review", "planning", reviewerHuman, theFiles, 0, mostReturns, false},
	{"codegen", "review", workerHuman, theFiles | committed, 0, anyRound, false},
	{"codegen", "planning", workerHuman, theFiles, 0, mostReturns, false},
	{"codegen", "plan_review", workerHuman, theFiles, 0, mostReturns, false},
	{"codegen", "codegen", onlyHuman, nothing, 0, anyRound, false},
	{"review", "test", reviewerHuman, theFiles | unmoved, 0, anyRound, false},
	{"review", "codegen", reviewerHuman, theFiles, 0, mostReturns, false},
	{"review", "planning", reviewerHuman, theFiles, 0, mostReturns, false},
	{"test", "accept", testerHuman, theFiles | unmoved, 0, anyRound, false},
	{"test", "codegen", testerHuman, theFiles, 0, mostReturns, false},
	{"accept", "done", onlyHuman, theFiles | unmoved, 0, anyRound, false},
	{"accept", "codegen", onlyHuman, theFiles, 0, anyRound, false},
	{"accept", "review", onlyHuman, theFiles | committed, 0, anyRound, false},
	{"accept", "planning", onlyHuman, theFiles, 0, anyRound, false},
	{"accept", "revert", onlyHuman, theFiles, 0, anyRound, false},
	{"revert", "done", workerHuman, theFiles, 0, anyRound, false},
	{"planning", "cancelled", onlyHuman, nothing, 0, anyRound, true},
	{"plan_review", "cancelled", onlyHuman, nothing, 0, anyRound, true},
	{"codegen", "cancelled", onlyHuman, nothing, 0, anyRound, true},
	{"review", "cancelled", onlyHuman, nothing, 0, anyRound, true},
	{"test", "cancelled", onlyHuman, nothing, 0, anyRound, true},
	{"accept", "cancelled", onlyHuman, nothing, 0, anyRound, true},
	{"revert", "cancelled", onlyHuman, nothing, 0, anyRound, true},
}

// book is one table of a document, and the workflow that keeps it.
type book struct {
	name, workflow string
	laws           []law
	counter        string
	counts         []int // that are tried
}

var books = []book{
	{"001", "default", document001, task.ReviewRound, fewRounds},
	{"000", "classic", document000, task.ReviewRound, fewRounds},
	{"002", "classic", document000, task.ReviewRound, fewRounds}, {"002/minimal", "minimal", document002Minimal,
		task.ReviewRound, fewRounds},
	{"004", "phases", document004, "returns", []int{0, mostReturns, mostReturns + 1, mostReturns + 2}},
}

var fewRounds = []int{0, 1, 2, 3, 4}

// papers is a document in the twin's own words, and its contents.
type papers struct {
	plan    string      // "", "bare" or "good"
	handoff string      // "", "bare", "good" or "spent"
	review  string      // "", "bare", "late", "fenced", "PASS" or "FAIL"
	old     string      // of the review: "", "spent" or "entry"
	files   task.Status // where the files in the task's folder lead
	moved   bool        // the tip of the branch is another commit than it was
	dirty   bool        // files differ from it
	again   int         // how often the review began again because of that
}

// accepts is the twin's verdict: true when one row says yes.
func accepts(laws []law, from, to task.Status, actor task.Actor, p papers, round int) bool {
	role := actor.Role
	if actor.As != "" {
		role = actor.As
	}
	for _, l := range laws {
		if l.from != from || l.to != to {
			continue
		}
		if l.needs&movedTip != 0 && p.again >= mostAnew && (actor.Rule || actor.Role != task.RoleHuman) {
			return false
		}
		return (actor.Rule || slices.Contains(l.by, role)) && round >= l.low && round <= l.high && p.meet(l.needs, to)
	}
	return false
}

func (p papers) meet(n need, to task.Status) bool {
	if n&committed != 0 && p.dirty || n&unmoved != 0 && (p.dirty || p.moved) || n&movedTip != 0 && !p.moved {
		return false
	}
	switch n &^ ofGit {
	case theFiles:
		return p.files == to
	case aPlan:
		return p.plan == "good"
	case aNewHandoff:
		return p.handoff == "good"
	case aNewPass:
		return p.review == "PASS" && p.old == ""
	case aNewFail:
		return p.review == "FAIL" && p.old == ""
	case anyNewHandoff:
		return p.handoff == "good" || p.handoff == "bare"
	case aPassSomewhere:
		return (p.review == "PASS" || p.review == "late") && p.old == ""
	case aFailSomewhere:
		return p.review == "FAIL" && p.old == ""
	case nothing:
	}
	return true
}

var planText = map[string]string{
	"": "", "bare": "## Plan\nAPPROACH:\n\n", "good": "## Plan\nAPPROACH: small steps\n\n",
}

var handoffText = map[string]string{
	"": "", "bare": "## Handoff\nall well\n\n", "good": "## Handoff\nDONE: the login\n\n",
	"spent": "## Handoff\nDONE: the login\n\n",
}

var reviewText = map[string]string{
	"": "", "bare": "## Review\nfine\n", "late": "## Review\nfine\nVerdict: PASS\n",
	"fenced": "## Review\n```\nVerdict: PASS\n```\n",
	"PASS":   "## Review\n**Verdict: PASS** (nits only)\n", "FAIL": "## Review\nverdict: fail\nline 3\n",
}

func (p papers) text() string {
	return planText[p.plan] + handoffText[p.handoff] + reviewText[p.review]
}
