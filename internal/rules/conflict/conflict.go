// Package conflict knows which branches of a project's live tasks cannot be merged with each other, or with the
// default branch, without a person's or an agent's help.
//
// It owns which branches are compared, which pairs git is asked about, and what of the answers is kept and for how
// long. It does not own how git is asked, nor where the answers are kept. What it knows is found out again at any time:
// it is no evidence, and nothing is decided by it.
package conflict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// BranchTip is the branch of a live task at one moment. The default branch has no task.
type BranchTip struct {
	Task string `json:"task,omitempty"`
	Name string `json:"branch"`
	Tip  string `json:"tip"`
}

// Tips is how the branches of a project are at one moment.
type Tips struct {
	// Local and Origin are where the default branch is, here and as it was last seen on origin; empty where it is not.
	Local    string      `json:"local,omitempty"`
	Origin   string      `json:"origin,omitempty"`
	Default  BranchTip   `json:"default"`          // at the one of both that work is compared with
	Branches []BranchTip `json:"branches"`         // of live tasks, by task
	Beyond   []BranchTip `json:"beyond,omitempty"` // of others, which are not compared
}

// Candidate is two branches whose merge git is asked to try.
type Candidate struct {
	First, Second BranchTip
}

// tips name the answer of a pair: it is the same whichever comes first, and for whichever tasks.
func (p Candidate) tips() string {
	return min(p.First.Tip, p.Second.Tip) + " " + max(p.First.Tip, p.Second.Tip)
}

func (p Candidate) has(task string) bool { return p.First.Task == task || p.Second.Task == task }

// answer is what the merge of two commits came to. It is the same forever.
type answer struct {
	Files   []string `json:"files,omitempty"`   // those in conflict: the first few
	More    int      `json:"more,omitempty"`    // how many others there are
	Trouble string   `json:"trouble,omitempty"` // why there is no answer; it is asked for again
}

// changed are the paths that a branch has changed since it left the default branch.
type changed struct {
	Base    string   `json:"base"` // the tip of the default branch then
	Paths   []string `json:"paths,omitempty"`
	Wide    bool     `json:"wide,omitempty"`    // there are too many to keep: it may meet any other branch
	Trouble string   `json:"trouble,omitempty"` // why they could not be read
}

// found is a conflict of two branches, at the tips that they had, or that git cannot tell whether they have one.
type found struct {
	First  BranchTip `json:"first"`
	Second BranchTip `json:"second"`
	At     time.Time `json:"at"` // when both had these tips
}

func (f found) pair() Candidate { return Candidate{f.First, f.Second} }

// Known is what is known of one project. The zero value knows nothing.
type Known struct {
	Edition int                `json:"edition"`
	Last    Tips               `json:"last"`              // the last look at all branches
	Looked  time.Time          `json:"looked"`            // when that was; zero before the first
	Left    map[string]int     `json:"left,omitempty"`    // by task: the pairs that there was no time to ask about
	Trouble string             `json:"trouble,omitempty"` // why the last look saw nothing
	Changed map[string]changed `json:"changed,omitempty"` // by tip
	Answers map[string]answer  `json:"answers,omitempty"` // by the two tips
	Found   []found            `json:"found,omitempty"`
}

// Conflict is why a task's branch and another one cannot be merged without help.
type Conflict struct {
	Branch string    `json:"branch"`
	Task   string    `json:"task"` // empty for the default branch
	Files  []string  `json:"files"`
	More   int       `json:"more,omitempty"` // files that are not named
	At     time.Time `json:"at"`             // when both branches were as they were compared
}

// Overview is what is known of the conflicts of tasks.
type Overview struct {
	Of map[string][]Conflict // by task; that of a task that was compared and has none is empty, and not nil
	// Unknown says by task why something is not known, or old; what is about all tasks is under no task.
	Unknown map[string]string
}

// Why says why not all conflicts of a task are known, or some are old; empty where they are known.
func (o Overview) Why(id string) string { return cmp.Or(o.Unknown[id], o.Unknown[""]) }

// Edition is that of the file that Known is kept in. Another one is unreadable.
const Edition = 2

// MostBranches is how many branches of a project are compared.
const MostBranches = 200

const (
	widest      = 300  // paths of one branch that are kept
	mostFiles   = 10   // files of one conflict that are named
	mostAnswers = 4000 // pairs whose answers are kept
)

// stays is how long a look may be old, while nothing has moved, before what it found gets a new date.
const stays = 2 * time.Minute

// Settled reports whether there is nothing to ask: every branch is where it was at the last look, and no question
// was left open.
func (k *Known) Settled(now Tips, at time.Time) bool {
	same := now.Local == k.Last.Local && now.Origin == k.Last.Origin && now.Default.Name == k.Last.Default.Name &&
		slices.Equal(now.Branches, k.Last.Branches) && slices.Equal(now.Beyond, k.Last.Beyond)
	if !same || k.Looked.IsZero() || len(k.Left) > 0 || k.Trouble != "" {
		return false
	}
	if at.Sub(k.Looked) < stays && !at.Before(k.Looked) {
		return true
	}
	// what was found gets a new date, and what could not be looked at may be otherwise now
	return len(k.Found) == 0 && !slices.ContainsFunc(now.Branches, func(b BranchTip) bool {
		return k.Changed[b.Tip].Trouble != ""
	})
}

// Choose takes the branches that are compared: of all, in their order, so many that have work of their own. Those that
// bring nothing to the default branch are among them and count for nothing, and so does that of the task that is named.
func (k *Known) Choose(now Tips, all []BranchTip, only string) Tips {
	chosen := map[string]bool{}
	for _, b := range all {
		c, read := k.Changed[b.Tip]
		free := b.Tip == now.Default.Tip || read && c.Base == now.Default.Tip && c.Trouble == "" && !c.any()
		switch {
		case free || b.Task == only || chosen[b.Tip]:
		case len(chosen) == MostBranches:
			now.Beyond = append(now.Beyond, b)
			continue
		default:
			chosen[b.Tip] = true
		}
		now.Branches = append(now.Branches, b)
	}
	byTask := func(a, b BranchTip) int { return strings.Compare(a.Task, b.Task) }
	slices.SortFunc(now.Branches, byTask)
	slices.SortFunc(now.Beyond, byTask)
	return now
}

// keeps reports whether two branches are where they were when they were compared, and one of them is not compared now.
func (now Tips) keeps(f found) bool {
	there := func(b BranchTip) bool {
		return b == now.Default || slices.Contains(now.Branches, b) || slices.Contains(now.Beyond, b)
	}
	out := func(b BranchTip) bool { return slices.Contains(now.Beyond, b) }
	return (out(f.First) || out(f.Second)) && there(f.First) && there(f.Second)
}

// Unread are the tips whose changed paths have to be read.
func (k *Known) Unread(now Tips) []string {
	var tips []string
	for _, b := range now.Branches {
		if b.Tip == now.Default.Tip {
			continue
		}
		if had, known := k.Changed[b.Tip]; !known || had.Base != now.Default.Tip || had.Trouble != "" {
			tips = append(tips, b.Tip)
		}
	}
	slices.Sort(tips)
	return slices.Compact(tips)
}

// Learn takes in the paths that a branch has changed since it left the default branch, or why they cannot be read.
func (k *Known) Learn(now Tips, tip string, paths []string, trouble error) {
	c := changed{Base: now.Default.Tip, Paths: paths, Wide: len(paths) > widest}
	if c.Wide {
		c.Paths = nil
	}
	if trouble != nil {
		c = changed{Base: c.Base, Trouble: trouble.Error()}
	}
	if k.Changed == nil {
		k.Changed = map[string]changed{}
	}
	k.Changed[tip] = c
}

// Pairs are the branches that may conflict, those of one task alone where it is named: each with the default branch,
// and two of them where the paths that they changed meet.
func (k *Known) Pairs(now Tips, only string) []Candidate {
	var out []Candidate
	add := func(p Candidate) {
		if p.First.Tip != p.Second.Tip && (only == "" || p.has(only)) {
			out = append(out, p)
		}
	}
	meeting := k.meeting(now)
	for i, b := range now.Branches {
		if c := k.of(now, b); c.Trouble != "" || !c.any() {
			continue // it brings nothing, or people hear of its trouble
		}
		add(Candidate{b, now.Default})
		for _, other := range meeting[i] {
			add(Candidate{b, now.Branches[other]})
		}
	}
	return out
}

// meeting are, for each branch, the later ones that have changed a path that it has changed, or one below or above such
// a path. Without renames: a file that was moved has both of its paths.
func (k *Known) meeting(now Tips) [][]int {
	branches := now.Branches
	changers := map[string][]int{}
	for i, b := range branches {
		for _, path := range k.of(now, b).Paths {
			changers[path] = append(changers[path], i)
		}
	}
	met := make([]map[int]bool, len(branches))
	meet := func(i, j int) {
		if i, j = min(i, j), max(i, j); i != j {
			if met[i] == nil {
				met[i] = map[int]bool{}
			}
			met[i][j] = true
		}
	}
	for i, b := range branches {
		c := k.of(now, b)
		for j := range branches {
			if c.Wide && k.of(now, branches[j]).any() {
				meet(i, j)
			}
		}
		for _, path := range c.Paths {
			for ; path != ""; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
				for _, j := range changers[path] {
					meet(i, j)
				}
			}
		}
	}
	out := make([][]int, len(branches))
	for i, all := range met {
		for j := range all {
			out[i] = append(out[i], j)
		}
		slices.Sort(out[i])
	}
	return out
}

// of is what a branch has changed; nothing where it is at the default branch.
func (k *Known) of(now Tips, b BranchTip) changed {
	if b.Tip == now.Default.Tip {
		return changed{}
	}
	return k.Changed[b.Tip]
}

func (c changed) any() bool { return c.Wide || len(c.Paths) > 0 }

// Open are those of the pairs that have no answer yet, each pair of tips once.
func (k *Known) Open(pairs []Candidate) []Candidate {
	var out []Candidate
	asked := map[string]bool{}
	for _, p := range pairs {
		if a, answered := k.Answers[p.tips()]; (!answered || a.Trouble != "") && !asked[p.tips()] {
			asked[p.tips()] = true
			out = append(out, p)
		}
	}
	return out
}

// Answer takes in which files of a pair are in conflict, or why git cannot say.
func (k *Known) Answer(p Candidate, files []string, trouble error) {
	if k.Answers == nil {
		k.Answers = map[string]answer{}
	}
	a := answer{Files: files}
	if len(files) > mostFiles {
		a = answer{Files: slices.Clone(files[:mostFiles]), More: len(files) - mostFiles}
	}
	if trouble != nil {
		a = answer{Trouble: trouble.Error()}
	}
	k.Answers[p.tips()] = a
}

// Conclude ends a look at all pairs, or at those of one task where it is named: what was found takes the place of what
// was found before. What is not compared now stays known until one of its branches moves. Answers about tips that no
// branch has any more are forgotten.
func (k *Known) Conclude(now Tips, pairs []Candidate, only string, at time.Time) {
	at = at.Truncate(time.Second).UTC()
	k.Found = slices.DeleteFunc(k.Found, func(f found) bool {
		return (only == "" || f.pair().has(only)) && !now.keeps(f)
	})
	if only == "" || k.Left == nil {
		k.Left = map[string]int{}
	}
	delete(k.Left, only)
	for _, p := range pairs {
		one, asked := k.Answers[p.tips()]
		if !asked {
			k.leave(p, only)
		}
		if len(one.Files) > 0 || one.Trouble != "" {
			k.Found = append(k.Found, found{First: p.First, Second: p.Second, At: at})
		}
	}
	k.Edition, k.Trouble = Edition, ""
	if only == "" {
		k.Last, k.Looked = now, at
	} else {
		k.Last.Branches = slices.Concat(slices.DeleteFunc(k.Last.Branches, func(b BranchTip) bool {
			return b.Task == only
		}), slices.DeleteFunc(slices.Clone(now.Branches), func(b BranchTip) bool { return b.Task != only }))
		slices.SortFunc(k.Last.Branches, func(a, b BranchTip) int { return cmp.Compare(a.Task, b.Task) })
		k.Last.Beyond = slices.DeleteFunc(slices.Clone(k.Last.Beyond), func(b BranchTip) bool { return b.Task == only })
	}
	k.forget(now)
}

// leave notes a pair that there was no time to ask about, for its tasks or for the one that is named.
func (k *Known) leave(p Candidate, only string) {
	for _, b := range []BranchTip{p.First, p.Second} {
		if b.Task != "" && (only == "" || b.Task == only) {
			k.Left[b.Task]++
		}
	}
}

// Fail ends a look that saw nothing. What was found before stays, with its age.
func (k *Known) Fail(why error) {
	k.Edition, k.Trouble = Edition, why.Error()
}

// forget drops what is about tips that no branch has any more, and what there is too much of.
func (k *Known) forget(now Tips) {
	live := map[string]bool{now.Default.Tip: true}
	for _, b := range slices.Concat(now.Branches, now.Beyond) {
		live[b.Tip] = true
	}
	for _, f := range k.Found {
		live[f.First.Tip], live[f.Second.Tip] = true, true
	}
	for tip := range k.Changed {
		if !live[tip] {
			delete(k.Changed, tip)
		}
	}
	for tips := range k.Answers {
		if first, second, _ := strings.Cut(tips, " "); !live[first] || !live[second] {
			delete(k.Answers, tips)
		}
	}
	if len(k.Answers) <= mostAnswers {
		return
	}
	needed := map[string]answer{}
	for _, f := range k.Found {
		if len(needed) < mostAnswers {
			needed[f.pair().tips()] = k.Answers[f.pair().tips()]
		}
	}
	k.Answers = needed
}

// Doubtful reports whether what is known has to be compared with the tasks that are live now before it is shown.
func (k *Known) Doubtful() bool {
	return len(k.Found) > 0 || k.Trouble != "" || len(k.Left)+len(k.Last.Beyond) > 0
}

// Tell says what is known of the conflicts of live tasks. A conflict with a task that is not live any more is over; but
// that task's work may have gone into the default branch, so that until the next look it is not known what is left.
func (k *Known) Tell(live func(id string) bool) Overview {
	r := Overview{Of: map[string][]Conflict{}, Unknown: map[string]string{}}
	for _, b := range k.Last.Branches {
		r.Of[b.Task] = []Conflict{}
		if why := k.Changed[b.Tip].Trouble; why != "" {
			r.Unknown[b.Task] = why
		}
	}
	for _, b := range k.Last.Beyond {
		r.Unknown[b.Task] = fmt.Sprintf("Orange compares %d branches that have work: those that wait for a merge come "+
			"first, then those of the newest tasks, and this one is not among them", MostBranches)
	}
	for id, left := range k.Left {
		r.Unknown[id] = fmt.Sprintf("there was no time yet to compare it with %d other branches", left)
	}
	if k.Trouble != "" {
		r.Unknown[""] = k.Trouble
	}
	for _, f := range k.Found {
		one := k.Answers[f.pair().tips()]
		for _, side := range [][2]BranchTip{{f.First, f.Second}, {f.Second, f.First}} {
			mine, other := side[0], side[1]
			if mine.Task == "" || !live(mine.Task) {
				continue
			}
			if other.Task != "" && !live(other.Task) {
				r.Unknown[mine.Task] = fmt.Sprintf("it was in conflict with %q of task %s, which has ended since; "+
					"it was not compared with the default branch after that", other.Name, other.Task)
				continue
			}
			if one.Trouble != "" {
				r.Unknown[mine.Task] = fmt.Sprintf("%q cannot be compared with %q: %s", mine.Name, other.Name,
					one.Trouble)
				continue
			}
			r.Of[mine.Task] = append(r.Of[mine.Task], Conflict{Branch: other.Name, Task: other.Task,
				Files: one.Files, More: one.More, At: f.At})
		}
	}
	for _, all := range r.Of {
		// the default branch first: it is the one that does not go away
		slices.SortFunc(all, func(a, b Conflict) int {
			return cmp.Or(min(len(a.Task), 1)-min(len(b.Task), 1), cmp.Compare(a.Branch, b.Branch),
				cmp.Compare(a.Task, b.Task))
		})
	}
	return r
}
