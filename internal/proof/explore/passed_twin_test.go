package explore_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/proof/explore"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// storyteller finds out what tasks have passed in the simplest possible form: it tells whole histories, in which the
// work has versions with numbers, and each version its own list of what it has passed. What a move needed it learns by
// asking decide again, without it.
type storyteller struct {
	*twin
	steps  map[string][]told // by spot
	spots  map[string]spot
	births []told
	things []string
	// An earlier version comes back that is neither of the two that the table follows. What it has passed makes one
	// more way that has the thing, and none around it: all that it can tell is that the thing is asked for at all.
	restores bool
}

// given is all evidence that there is at one time.
type given struct {
	sections map[string]string // texts by heading
	facts    map[string]bool   // by the name of a thing, or "unmoved"
}

// told is one step of a history.
type told struct {
	to       string // the spot
	moves    bool
	needs    []string // the things without which it would not have been made
	unmoved  bool     // it would not have been made had the work changed
	person   bool
	starts   bool // the agent of the state begins, and the state stays
	override bool
	merge    bool
	late     bool     // a birth in another state than the first
	refuses  []string // the things without whose refusal it would not have been made
	skips    []string // what it moves the task past by force
	answers  bool     // with an override a person makes it where no one answers for the work
	open     bool     // the engine asks at an end for someone who answers for the work
	forced   bool     // no gate was asked
	accepts  bool     // a verdict accepted the work
	carried  bool     // the evidence of the next state is about what that of the last one was about
}

// parts are all parts of the gates and rules of a workflow.
func (w *storyteller) parts() []workflow.Part {
	var out []workflow.Part
	for i := range w.def.Transitions {
		out = append(out, workflow.Leaves(w.def.Transitions[i].Gate)...)
	}
	for _, r := range w.def.Exit.Rules {
		if r.HasArtifact != nil {
			out = append(out, *r.HasArtifact)
		}
	}
	return out
}

// thingOf is what the table calls a part; empty for what it does not list.
func thingOf(p workflow.Part) string {
	switch {
	case p.Verdict == "PASS":
		return fmt.Sprintf("%q PASS", p.Section)
	case p.Check != "":
		return "check " + p.Check
	case p.Git != "" && p.Git != workflow.GitUnmoved:
		return "git " + p.Git
	}
	return ""
}

// all lists every evidence that there can be. Without a worktree there is none of git and of checks.
func (w *storyteller) all(held bool) []given {
	texts, facts := map[string][]string{}, map[string]bool{}
	for _, p := range w.parts() {
		switch {
		case p.Section != "" && p.Verdict != "":
			texts[p.Section] = []string{"", "Verdict: PASS", "Verdict: FAIL"}
		case p.Section != "" && texts[p.Section] == nil:
			texts[p.Section] = []string{"", "something"}
		case p.Git == workflow.GitUnmoved:
			facts["unmoved"] = true
		case p.Section == "":
			facts[thingOf(p)] = true
		}
	}
	out := []given{{map[string]string{}, map[string]bool{}}}
	for _, section := range slices.Sorted(maps.Keys(texts)) {
		var more []given
		for _, g := range out {
			for _, text := range texts[section] {
				next := maps.Clone(g.sections)
				next[section] = text
				more = append(more, given{next, g.facts})
			}
		}
		out = more
	}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		var more []given
		for _, g := range out {
			more = append(more, g)
			if held {
				next := maps.Clone(g.facts)
				next[name] = true
				more = append(more, given{g.sections, next})
			}
		}
		out = more
	}
	return out
}

// evidence is what decide is given.
func (w *storyteller) evidence(g given) decide.Evidence {
	text := ""
	for _, section := range slices.Sorted(maps.Keys(g.sections)) {
		if g.sections[section] != "" {
			text += section + "\n\n" + g.sections[section] + "\n\n"
		}
	}
	facts := map[string]decide.Fact{}
	for _, p := range w.parts() {
		if p.Section != "" {
			continue
		}
		name := thingOf(p)
		if p.Git == workflow.GitUnmoved {
			name = "unmoved"
		}
		fact := decide.Fact{Source: p.Key(), Holds: g.facts[name]}
		if fact.Holds {
			fact.Digest, fact.Text = "d", "t"
		}
		facts[p.Key()] = fact
	}
	return decide.Evidence{Document: document.Read([]byte(text)), Facts: facts,
		Subject: task.Subject{Commit: "present"}}
}

// without is the evidence with one thing taken away.
func (g given) without(thing string) (given, bool) {
	if section, is := strings.CutSuffix(thing, " PASS"); is {
		section = strings.Trim(section, `"`)
		if g.sections[section] != "Verdict: PASS" {
			return g, false
		}
		less := maps.Clone(g.sections)
		less[section] = ""
		return given{less, g.facts}, true
	}
	if !g.facts[thing] {
		return g, false
	}
	less := maps.Clone(g.facts)
	less[thing] = false
	return given{g.sections, less}, true
}

// note adds a step to where a change leads: to each place where its hooks are all performed, or one has failed.
func (w *storyteller) note(from string, s spot, c record.Change, crashed bool, step told) {
	step.carried = c.Task.Subject.Commit == "noted"
	step.open = c.Task.Subject.Unvouched && w.def.AsksVerdicts()
	if n := len(c.Events); n > 0 {
		last := c.Events[n-1].Data
		step.forced = last[history.DataCrash] != "" || last[guarantee.DataForced] != ""
		step.accepts = step.moves && !step.forced && !step.override && !step.merge &&
			w.def.Accepts(s.task.Status, c.Task.Status)
		step.skips = strings.Split(last[guarantee.DataSkipped], "\n")
	}
	w.open = nil
	seen := w.seen
	w.seen = map[string]bool{}
	w.follow(s, c, step.moves, crashed)
	w.seen = seen
	w.keep(from, step)
}

// keep notes a step to each of the spots that were just found.
func (w *storyteller) keep(from string, step told) {
	for _, next := range w.open {
		one := step
		one.to = next.key()
		before := w.spots[from]
		role, _ := w.def.State(next.task.Status)
		lives := slices.Contains(next.alive, role.Role)
		one.starts = step.starts || !step.moves && lives && !slices.Contains(before.alive, role.Role)
		one.starts = one.starts && lives && !step.moves
		if from == "" {
			w.births = append(w.births, one)
		} else {
			w.steps[from] = append(w.steps[from], one)
		}
		if _, known := w.spots[one.to]; !known {
			w.spots[one.to] = next
		}
	}
}

// asked notes what an ask leads to, with what it needed: without these the same is not granted.
func (w *storyteller) asked(from string, s spot, g given, step told, ask func(decide.Evidence) (record.Change, bool)) {
	c, moved := ask(w.evidence(g))
	if !moved {
		return
	}
	granted := func(less given) bool {
		other, moved := ask(w.evidence(less))
		return moved && other.Task.Status == c.Task.Status
	}
	if !step.override {
		for _, thing := range w.things {
			if less, had := g.without(thing); had && !granted(less) {
				step.needs = append(step.needs, thing)
			}
		}
		for _, thing := range w.things {
			section := strings.Trim(strings.TrimSuffix(thing, " PASS"), `"`)
			if g.sections[section] != "Verdict: FAIL" || thing == section {
				continue
			}
			less := maps.Clone(g.sections)
			if less[section] = ""; !granted(given{less, g.facts}) {
				step.refuses = append(step.refuses, thing)
			}
		}
		if less, had := g.without("unmoved"); had && !granted(less) {
			step.unmoved = true
		}
	}
	step.moves = true
	w.note(from, s, c, false, step)
}

func (w *storyteller) visitStory(from string, s spot) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	s.task.Subject = task.Subject{Commit: "noted"}
	if len(s.owed) > 0 {
		w.open, w.seen = nil, map[string]bool{}
		w.add(w.settle(w.perform(s, s.owed, len(s.owed))))
		w.keep(from, told{})
	}
	if !s.task.Live {
		return
	}
	for _, g := range w.all(s.task.Workspace != "") {
		w.requests(from, s, g, now)
		late := now.Add(365 * 24 * time.Hour)
		if level, due := decide.Timer(w.def, nil, s.task, late); due {
			w.asked(from, s, g, told{}, func(ev decide.Evidence) (record.Change, bool) {
				c := decide.Escalate(w.def, level, s.task, ev, late)
				c.Task.EnteredAt, c.Task.UpdatedAt = now, now
				return c, c.Entered
			})
		}
		w.deaths(from, s, g, now)
	}
	w.merges(from, s, now)
	state, _ := w.def.State(s.task.Status)
	lives := slices.Contains(s.alive, state.Role)
	if c, err := decide.Respawn(w.def, s.task, lives, false, task.Actor{Role: task.RoleHuman}, now); err == nil {
		w.note(from, s, c, false, told{starts: true})
	}
}

func (w *storyteller) requests(from string, s spot, g given, now time.Time) {
	actors := []task.Actor{{Role: task.RoleHuman}, {Role: task.RoleHuman, As: task.RoleWorker},
		{Role: task.RoleHuman, As: task.RoleReviewer}}
	for _, r := range s.alive {
		actors = append(actors, task.Actor{Role: r})
	}
	for _, actor := range actors {
		for _, to := range w.def.States {
			for _, override := range []bool{false, true} {
				declared := slices.ContainsFunc(w.def.Transitions, func(e workflow.Transition) bool {
					return e.From == s.task.Status && e.To == to.Name && e.Override
				})
				if override && (actor.Role != task.RoleHuman || actor.As != "" || !declared) {
					continue // the table is about declared ones
				}
				step := told{person: actor.Role == task.RoleHuman, override: override}
				step.answers = actor.Role == task.RoleHuman && w.answers(s.task, w.evidence(g), to.Name, now)
				w.asked(from, s, g, step, func(ev decide.Evidence) (record.Change, bool) {
					d, err := decide.Transition(w.def, s.task, ev, task.Request{To: to.Name, Actor: actor,
						Reason: "why", Override: override}, now)
					if err != nil || !d.Moved {
						return record.Change{}, false
					}
					last := d.Change.Events[len(d.Change.Events)-1]
					return d.Change, !override || last.Data[history.DataOverride] != ""
				})
			}
		}
	}
}

// answers reports whether a person answers for work by an override at a move, where no one else does.
func (w *storyteller) answers(t task.Task, ev decide.Evidence, to task.Status, now time.Time) bool {
	t.Subject.Unvouched = true
	_, err := decide.Transition(w.def, t, ev, task.Request{To: to, Actor: task.Actor{Role: task.RoleHuman},
		Reason: "why", Override: true}, now)
	return err == nil
}

func (w *storyteller) deaths(from string, s spot, g given, now time.Time) {
	for _, role := range s.alive {
		if len(s.owed) > 0 {
			continue
		}
		next := s
		next.alive, next.dead = without(s.alive, role), append(without(s.dead, role), role)
		exit := func(ev decide.Evidence, unstarted string) record.Change {
			return decide.Exit(w.def, s.task, ev, task.Death{Role: role, Hook: 1, Ending: task.Ending{
				Known: unstarted == "", Unstarted: unstarted}}, now)
		}
		byRule := func(c record.Change) bool {
			last := c.Events[len(c.Events)-1]
			return last.IsMove() && last.Data[history.DataCrash] == ""
		}
		c := exit(w.evidence(g), "")
		if byRule(c) {
			w.asked(from, next, g, told{}, func(ev decide.Evidence) (record.Change, bool) {
				c := exit(ev, "")
				return c, byRule(c)
			})
			continue
		}
		crashed := slices.ContainsFunc(c.Events, func(e history.Event) bool { return e.Type == history.AgentCrashed })
		w.note(from, next, c, crashed, told{moves: c.Events[len(c.Events)-1].IsMove()})
		next.dead = without(s.dead, role)
		w.note(from, next, exit(w.evidence(g), "gone"), false, told{})
	}
}

// merges end a pull request of the task.
func (w *storyteller) merges(from string, s spot, now time.Time) {
	for _, state := range []string{record.PRMerged, record.PRClosed} {
		pr := record.PullRequest{URL: "here", State: state}
		t := s.task
		t.PRURL, t.PRState = pr.URL, record.PROpen
		to, said := decide.PRMove(w.def, pr)
		for _, g := range w.all(true) {
			if !said || s.task.Workspace == "" && len(g.facts) > 0 {
				continue
			}
			step := told{merge: state == record.PRMerged}
			w.asked(from, s, g, step, func(ev decide.Evidence) (record.Change, bool) {
				c := decide.PREnded(w.def, t, ev.Merged(w.def, t, to, pr), pr, "", now)
				c.Task.PRURL, c.Task.PRState = "", ""
				return c, c.Entered
			})
		}
	}
}

// tell tells everything that can happen; whole is false where that is too much.
func (w *storyteller) tell(most int) (whole bool) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, b := range w.def.Births {
		if c, err := decide.Create(w.def, task.Task{ID: "1"}, b.To, task.Actor{Role: task.RoleHuman}, now); err == nil {
			w.note("", spot{}, c, false, told{moves: true, late: b.To != w.def.Initial})
		}
	}
	visited := map[string]bool{}
	for again := true; again; {
		again = false
		for _, key := range slices.Sorted(maps.Keys(w.spots)) {
			if !visited[key] {
				visited[key], again = true, true
				w.visitStory(key, w.spots[key])
			}
		}
		if len(w.spots) > most {
			return false
		}
	}
	for key, all := range w.steps { // each once
		slices.SortFunc(all, func(a, b told) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		w.steps[key] = slices.CompactFunc(all, func(a, b told) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
	}
	return true
}

// moment is where a history has come to: which version of the work is there, which one the evidence of the state is
// about, and which ones have passed the thing.
type moment struct {
	spot           string
	present, noted int
	passed         [3]bool
	skipped        bool // the task was moved past the thing by force
	open           bool // no person put the work up, and no verdict accepted it on the way here
	accepted       [3]bool
}

// next is the moment after a step, if it can be made then.
func (w *storyteller) next(m moment, step told, thing, besides string) (moment, bool) {
	well := step.moves && decide.Marks(w.def, w.spots[step.to].task.Status).Well
	if well && m.open && !m.accepted[m.noted] && !step.forced && !step.override && !step.merge &&
		(!step.answers || besides != guarantee.ByOverride) {
		return m, false
	}
	if step.unmoved && !step.merge && m.present != m.noted {
		return m, false
	}
	git := strings.HasPrefix(thing, "git ")
	verdict := strings.HasSuffix(thing, " PASS")
	switch {
	case thing == "a person" && step.person:
		m.passed[m.present] = true
	case slices.Contains(step.needs, thing) && verdict:
		m.passed[m.noted] = true
	case slices.Contains(step.needs, thing) && (!git || !step.merge):
		m.passed[m.present] = true
	}
	if slices.Contains(step.refuses, thing) {
		m.passed[m.noted] = false
	}
	if step.moves {
		switch {
		case step.accepts && step.carried:
			m.accepted[m.noted] = true
		case step.accepts:
			m.accepted[m.present] = true
		}
		m.open = step.open || step.carried && m.open && !step.accepts
	}
	m.spot = step.to
	if slices.Contains(step.skips, thing) {
		m.skipped, m.passed = true, [3]bool{}
	}
	good := decide.Marks(w.def, w.spots[step.to].task.Status).Good
	if good && step.moves && m.skipped && !m.passed[m.present] && !step.override && !step.merge {
		return m, false
	}
	state, _ := w.def.State(w.spots[step.to].task.Status)
	if step.moves && !step.carried || step.starts && state.Subject != workflow.SubjectCarried {
		m.noted = m.present
	}
	return m, true
}

// histories follows every history as far as anything new happens in it, and reports for each good end whether some came
// there that had passed the thing, and some that had not.
func (w *storyteller) histories(thing, besides string) (with, without map[task.Status]bool) {
	with, without = map[task.Status]bool{}, map[task.Status]bool{}
	seen := map[moment]bool{}
	var open []moment
	add := func(m moment) {
		if !seen[m] {
			seen[m], open = true, append(open, m)
		}
	}
	follows := func(s told) bool {
		return (!s.override || besides == guarantee.ByOverride) && (!s.merge || besides == guarantee.ByMerge) &&
			(!s.late || besides == guarantee.ByBirth)
	}
	for _, step := range w.births {
		if follows(step) {
			add(moment{spot: step.to})
		}
	}
	for n := 0; n < len(open); n++ {
		m := open[n]
		s := w.spots[m.spot]
		if decide.Marks(w.def, s.task.Status).Good {
			into := without
			if m.passed[m.present] {
				into = with
			}
			into[s.task.Status] = true
		}
		for _, step := range w.steps[m.spot] {
			if next, can := w.next(m, step, thing, besides); can && follows(step) {
				add(next)
			}
		}
		if slices.Contains(s.alive, task.RoleWorker) { // it may write anything
			for version := range m.passed {
				changed := m
				changed.present = version
				other := version != m.present && version != m.noted
				if !other || w.restores {
					add(changed)
				}
				if other {
					changed.passed[version], changed.accepted[version] = false, false // a version that never was
					add(changed)
				}
			}
		}
	}
	return with, without
}

// row is what is so of a thing at an end, in words.
func (w *storyteller) row(thing string, end task.Status) string {
	// What no gate asks for alone is asked for wherever it is one of several things.
	row, asked := "", !slices.ContainsFunc(w.def.Transitions, func(e workflow.Transition) bool {
		return slices.ContainsFunc(workflow.Certain(e.Gate), func(p workflow.Part) bool { return thingOf(p) == thing })
	})
	for _, besides := range []string{"", guarantee.ByMerge, guarantee.ByBirth, guarantee.ByOverride} {
		byName := besides == guarantee.ByBirth || besides == guarantee.ByOverride
		with, without := w.histories(thing, besides)
		asked = asked || !byName && with[end]
		if without[end] && asked && !strings.Contains(row, "AROUND") {
			row += "AROUND by " + besides
		}
		if besides == guarantee.ByMerge && asked && row == "" {
			row = "always "
		}
	}
	return row
}

// rowOf is the same of a table.
func rowOf(table []guarantee.GoodEnd, thing string, end task.Status) string {
	row := ""
	for _, p := range table {
		if p.End != end {
			continue
		}
		if slices.Contains(p.Always, thing) {
			row = "always "
		}
		for _, a := range p.Around {
			if a.What == thing {
				row += "AROUND by " + a.By
			}
		}
	}
	return row
}

// randomWorkflow is a small workflow with moves, gates and hooks of any kind; most of them have findings.
func randomWorkflow(r *rand.Rand) string {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	n := 2 + r.IntN(2)
	var names []string
	merges := pick("", ", merge: done")
	text := pick("", "", "override: strict\n") +
		"name: random\nversion: 1\nmoves: {cancel: dropped" + merges + "}\nstates:\n  todo: {}\n"
	roles := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("s%d", i)
		names = append(names, name)
		roles[name] = pick("worker", "worker", "reviewer", "")
		keys := []string{}
		if roles[name] != "" {
			keys = append(keys, "role: "+roles[name], "respawn_prompt: go")
		}
		if at := r.IntN(3); at > 0 {
			keys = append(keys, "subject: "+[]string{"", "carried", "worktree"}[at])
		}
		if r.IntN(5) == 0 {
			keys = append(keys, "timeout: {after: 1h, then: done}")
		}
		text += fmt.Sprintf("  %s: {%s}\n", name, strings.Join(keys, ", "))
	}
	text += "  done: {terminal: true, success: true}\n  dropped: {terminal: true}\nchecks: {tests: {run: [make]}}\n"
	review, other := `{section: "## Review", verdict: PASS}`, pick("{check: tests}", "{git: committed}",
		`{section: "## Owner", verdict: PASS}`)
	const unmoved = ", {git: unmoved}]}"
	gate := func() string {
		return pick("", review, review, other, `{section: "## Review", verdict: FAIL}`, "{git: unmoved}",
			"{all: ["+review+unmoved, "{all: ["+other+unmoved, "{any: ["+review+", "+other+"]}",
			"{all: ["+review+", "+other+"]}")
	}
	start := func(to string) string {
		switch roles[to] {
		case "worker":
			return pick("{action: spawn_agent, prompt: go}", "{action: notify_worker}", "")
		case "reviewer":
			return pick("{action: spawn_reviewer, prompt: go}", "{action: spawn_reviewer, prompt: go}", "")
		}
		return ""
	}
	move := func(from, to string) string {
		keys := []string{"from: " + from, "to: " + to,
			"by: " + pick("human", "[worker]", "[reviewer, human]", "[worker, human]")}
		g := gate()
		if to == "done" {
			g = pick(review, other, "{all: ["+review+unmoved, "{all: ["+other+unmoved, "{git: unmoved}")
		}
		if g != "" {
			keys = append(keys, "gate: "+g)
			if r.IntN(5) == 0 {
				keys = append(keys, "override: allowed")
			}
		}
		ends := pick("", "{action: kill_session}", "{action: kill_session}", "{action: kill_reviewer}")
		hooks := []string{ends, start(to)}
		if to == "done" {
			hooks = []string{"{action: kill_session}", "{action: release_workspace}"}
		}
		hooks = slices.DeleteFunc(hooks, func(h string) bool { return h == "" })
		return fmt.Sprintf("  - {%s, hooks: [%s]}\n", strings.Join(keys, ", "), strings.Join(hooks, ", "))
	}
	text += "transitions:\n  - {from: todo, to: s0, by: human, hooks: [{action: acquire_workspace}, " +
		"{action: spawn_agent, prompt: go}]}\n"
	targets := append(slices.Clone(names), "done")
	for i, from := range names {
		text += move(from, targets[i+1])
		if to := targets[r.IntN(len(targets))]; to != targets[i+1] && to != from {
			text += move(from, to)
		}
	}
	text += "  - {from: \"*\", to: dropped, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}\n"
	var rules []string
	for _, name := range names {
		if roles[name] != "" && r.IntN(3) == 0 {
			rules = append(rules, fmt.Sprintf("    - {status: %s, no_artifact: true, action: crash, stuck_after: 1, "+
				"then: %s}\n", name, targets[r.IntN(len(targets))]))
		}
	}
	if len(rules) > 0 {
		text += "exit_monitoring:\n  rules:\n" + strings.Join(rules, "")
	}
	return text + "prompts: {go: Go.}\n"
}

// What is not followed, because it can lead to no finding, leads to none.
func TestWhatNeedsNoLook_makesNoDifference(t *testing.T) {
	t.Parallel()
	most, compared := 300, 0
	if os.Getenv("ORANGE_TEST_LONG") != "" {
		most = 2000
	}
	for seed := uint64(1); compared < most; seed++ {
		text := randomWorkflow(rand.New(rand.NewPCG(seed, 2)))
		def, err := workflow.Parse("random.yml", []byte(text), usual(t))
		if err != nil {
			continue
		}
		compared++
		if different := explore.Compare(def, explore.Most); different != nil {
			t.Errorf("seed %d: %q\n%s", seed, different, text)
			return
		}
	}
}

// The table and the storyteller agree on 500 workflows that no one has thought of.
func TestTheTable_isWhatWholeHistoriesTell(t *testing.T) {
	t.Parallel()
	most, compared, drawn := 60, 0, 0
	switch {
	case os.Getenv("ORANGE_TEST_LONG") != "":
		most = 500
	case testing.Short():
		most = 15
	}
	kinds := map[string]int{}
	for seed := uint64(1); compared < most; seed++ {
		if drawn++; drawn > 40*most {
			t.Fatalf("of %d workflows only %d could be compared", drawn, compared)
		}
		text := randomWorkflow(rand.New(rand.NewPCG(seed, 1)))
		def, err := workflow.Parse("random.yml", []byte(text), usual(t))
		if err != nil {
			continue
		}
		w := &storyteller{restores: true, twin: &twin{def: def, seen: map[string]bool{}}, steps: map[string][]told{},
			spots: map[string]spot{}}
		for _, p := range w.parts() {
			if name := thingOf(p); name != "" && !slices.Contains(w.things, name) {
				w.things = append(w.things, name)
			}
		}
		ofPlan := func(name string) bool {
			is, _ := guarantee.Plan(def, name)
			return is
		}
		if slices.ContainsFunc(w.things, ofPlan) || !w.tell(120) {
			continue
		}
		compared++
		table := explore.Check(def, explore.Most).Passed
		for _, thing := range append(w.things, "a person") {
			got, want := rowOf(table, thing, "done"), w.row(thing, "done")
			kinds[want]++
			if got != want {
				w.restores = !w.restores
				want = w.row(thing, "done")
				w.restores = !w.restores
			}
			if got != want {
				t.Errorf("seed %d, %s: the table says %q, the histories %q\n%s\n%s", seed, thing, got, want, text,
					strings.Join(guarantee.Tell(table), "\n"))
				return
			}
		}
	}
	t.Logf("compared %d of %d: %v", compared, drawn, kinds)
}
