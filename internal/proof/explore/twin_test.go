package explore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/proof/explore"
	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// twin explores a workflow in the simplest possible form: whole tasks, whole counters, every text of every section,
// without a cache or a reduction. It handles small workflows only.
type twin struct {
	def   *workflow.Definition
	seen  map[string]bool
	open  []spot
	ended bool // there were too many
	asked int
	made  map[bool][]decide.Evidence
}

// spot is a task with all that belongs to it.
type spot struct {
	task     task.Task
	alive    []string
	dead     []string // those that have died by themselves
	owed     []task.Hook
	settling bool
}

func (s spot) key() string {
	return fmt.Sprintf("%s %s %v %s | %v | %v | %+v | %v", s.task.Status, s.task.Previous, s.task.Counters,
		s.task.Workspace, s.alive, s.dead, s.owed, s.settling)
}

func (s spot) shown() string {
	text := fmt.Sprintf("%s workspace=%v owes=%v", s.task.Status, s.task.Workspace != "", len(s.owed) > 0)
	roles := slices.DeleteFunc([]string{task.RoleWorker, task.RoleReviewer}, func(r string) bool {
		return !slices.Contains(s.alive, r)
	})
	for _, r := range s.alive { // the workflow's own roles come after those that every workflow has, in its order
		if r != task.RoleWorker && r != task.RoleReviewer {
			roles = append(roles, r)
		}
	}
	slices.Sort(roles)
	return text + " " + strings.Join(roles, " ")
}

// twinMost is how many spots the twin visits, and twinAsks how often it asks about all of them together.
const (
	twinMost = 600
	twinAsks = 150_000
)

func (w *twin) add(s spot) {
	slices.Sort(s.alive)
	slices.Sort(s.dead)
	if w.seen[s.key()] || w.ended {
		return
	}
	w.seen[s.key()] = true
	w.open = append(w.open, s)
	w.ended = len(w.open) > twinMost
}

func without(list []string, role string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(r string) bool { return r == role })
}

// follow adds what a change leads to from a spot.
func (w *twin) follow(s spot, c record.Change, moved, crashed bool) {
	var owed []task.OwedHook
	for i, h := range s.owed {
		owed = append(owed, task.OwedHook{ID: int64(i + 1), Hook: h})
	}
	dropped := decide.Overtaken(owed, c)
	var hooks []task.Hook
	for _, h := range owed {
		if !slices.Contains(dropped, h.ID) && !slices.ContainsFunc(hooks, func(k task.Hook) bool {
			return k.Action == h.Action && k.Role == h.Role
		}) {
			hooks = append(hooks, h.Hook)
		}
	}
	for _, h := range c.Hooks {
		if class, _ := action.ClassOf(h.Action); class != action.ClassRecord {
			hooks = append(hooks, h)
		}
	}
	next := s
	next.task, next.owed = c.Task, nil
	next.settling = !crashed && (moved || s.settling)
	if c.Lease == record.LeaseReserve {
		next.task.Workspace = "w"
	}
	for i, h := range hooks {
		class, _ := action.ClassOf(h.Action)
		held := w.perform(next, hooks, i)
		if class == action.ClassStart && (h.Action != action.AcquireWorkspace || len(held.alive) > 0) {
			w.add(held) // where no agent lives, a workspace that is not ready is nothing but a start that fails
		}
	}
	w.add(w.settle(w.perform(next, hooks, len(hooks))))
}

func (w *twin) settle(s spot) spot {
	if s.settling {
		s.task.Counters = s.task.Counters.With(task.CrashCount, 0)
	}
	s.settling, s.owed = false, nil
	return s
}

func (w *twin) perform(s spot, hooks []task.Hook, failing int) spot {
	state, _ := w.def.State(s.task.Status)
	start := func(role string) {
		if s.task.Workspace != "" {
			s.alive, s.dead = append(without(s.alive, role), role), without(s.dead, role)
		}
	}
	for i, h := range hooks {
		if i == failing {
			s.owed = hooks[i:]
			return s
		}
		switch h.Action {
		case action.ReleaseWorkspace:
			s.task.Workspace = ""
		case action.KillSession:
			s.alive = nil
		case action.KillReviewer:
			s.alive = without(s.alive, task.RoleReviewer)
		case action.KillAgent:
			s.alive = without(s.alive, h.Role)
		case action.SpawnReviewer:
			start(task.RoleReviewer)
		case action.SpawnAgent:
			role := workflow.SpawnRole(h)
			if h.Role == "" && role == task.RoleWorker && state.Role != "" && state.Role != task.RoleReviewer {
				role = state.Role
			}
			start(role)
		case action.NotifyWorker:
			if len(without(s.alive, task.RoleReviewer)) == 0 && state.RespawnPrompt.Name != "" {
				start(task.RoleWorker)
			}
		}
	}
	return s
}

// evidences are all contents of the document and its surroundings that can occur.
func (w *twin) evidences(held bool) []decide.Evidence {
	if known, found := w.made[held]; found {
		return known
	}
	var sections []string
	facts := map[string]bool{}
	var keys []string
	visit := func(parts []workflow.Part) {
		for _, p := range workflow.Leaves(parts) {
			if p.Section != "" && !slices.Contains(sections, p.Section) {
				sections = append(sections, p.Section)
			}
			if p.Section == "" && !slices.Contains(keys, p.Key()) {
				keys = append(keys, p.Key())
				facts[p.Key()] = p.File != "" || p.Glob != "" || held
			}
		}
	}
	for i := range w.def.Transitions {
		visit(w.def.Transitions[i].Gate)
	}
	for _, r := range w.def.Exit.Rules {
		if r.HasArtifact != nil {
			visit([]workflow.Part{*r.HasArtifact})
		}
	}
	texts := []string{"", "Verdict: PASS\nDONE: x\n", "Verdict: FAIL\nDONE: x\n", "x\n"}
	var out []decide.Evidence
	var choose func(at int, text string, seen map[string]decide.Fact)
	choose = func(at int, text string, seen map[string]decide.Fact) {
		switch {
		case at < len(sections):
			for _, t := range texts {
				if t == "" {
					choose(at+1, text, seen)
				} else {
					choose(at+1, text+sections[at]+"\n"+t+"\n", seen)
				}
			}
		case at < len(sections)+len(keys):
			key := keys[at-len(sections)]
			for _, holds := range []bool{false, true} {
				next := map[string]decide.Fact{key: {Source: key, Holds: holds && facts[key]}}
				for k, f := range seen {
					next[k] = f
				}
				choose(at+1, text, next)
			}
		default:
			out = append(out, decide.Evidence{Document: document.Read([]byte(text)), Facts: seen})
		}
	}
	choose(0, "", map[string]decide.Fact{})
	w.made[held] = out
	return out
}

func (w *twin) visit(s spot) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	if len(s.owed) > 0 {
		w.add(w.settle(w.perform(s, s.owed, len(s.owed))))
	}
	events := []history.Event{{Type: history.Created, Data: map[string]string{"status": ""}}}
	for _, again := range w.def.Redo {
		events[0].Data["status"] = again.Name
		if c, err := decide.Redo(w.def, s.task, task.Status(again.Name), decide.Evidence{}, events, task.Actor{
			Role: task.RoleHuman}, "why", now); err == nil {
			w.follow(s, c, true, false)
		}
	}
	if !s.task.Live {
		return
	}
	actors := []task.Actor{{Role: task.RoleHuman}}
	for _, r := range append([]string{task.RoleWorker, task.RoleReviewer}, names(w.def)...) {
		actors = append(actors, task.Actor{Role: task.RoleHuman, As: r})
	}
	for _, r := range s.alive {
		actors = append(actors, task.Actor{Role: r})
	}
	state, _ := w.def.State(s.task.Status)
	overrides := []bool{false}
	if slices.ContainsFunc(w.def.Transitions, func(e workflow.Transition) bool { return e.Override }) {
		overrides = []bool{false, true}
	}
	if w.asked += len(w.evidences(s.task.Workspace != "")) * len(actors) * len(w.def.States) * len(
		overrides); w.asked > twinAsks {
		w.ended = true
		return
	}
	for _, ev := range w.evidences(s.task.Workspace != "") {
		for _, actor := range actors {
			for _, to := range w.def.States {
				for _, override := range overrides {
					d, err := decide.Transition(w.def, s.task, ev, task.Request{
						To: to.Name, Actor: actor, Reason: "why", Override: override}, now)
					if err == nil && d.Moved {
						w.follow(s, d.Change, true, false)
					}
				}
			}
		}
		late := now.Add(365 * 24 * time.Hour)
		if c, due := decide.Timer(w.def, nil, s.task, late); due {
			if c = decide.Escalate(w.def, c, s.task, ev, late); c.Entered {
				c.Task.EnteredAt, c.Task.UpdatedAt = now, now
				w.follow(s, c, true, false)
			}
		}
		w.pulls(s, ev, now)
		for _, role := range s.alive {
			if len(s.owed) > 0 {
				continue
			}
			for _, unstarted := range []string{"", "gone"} {
				c := decide.Exit(w.def, s.task, ev, task.Death{
					Role: role, Hook: 1, Ending: task.Ending{Unstarted: unstarted}}, now)
				next := s
				next.alive = without(s.alive, role)
				if next.dead = without(s.dead, role); unstarted == "" {
					next.dead = append(next.dead, role)
				}
				moved, crashed := false, false
				for _, e := range c.Events {
					moved, crashed = moved || e.IsMove(), crashed || e.Type == history.AgentCrashed
				}
				w.follow(next, c, moved, crashed)
			}
		}
	}
	lives := slices.Contains(s.alive, state.Role)
	if c, err := decide.Respawn(w.def, s.task, lives, false, task.Actor{Role: task.RoleHuman}, now); err == nil {
		w.follow(s, c, false, false)
	}
	if len(s.owed) == 0 && !lives && slices.Contains(s.dead, state.Role) && decide.Respawns(w.def, s.task) {
		if c, err := decide.Respawn(w.def, s.task, false, false, task.Actor{Rule: true}, now); err == nil {
			w.follow(s, c, false, false)
		}
	}
}

// pulls ends a pull request of the task.
func (w *twin) pulls(s spot, ev decide.Evidence, now time.Time) {
	for _, state := range []string{record.PRMerged, record.PRClosed} {
		pr := record.PullRequest{URL: "here", State: state}
		t := s.task
		t.PRURL, t.PRState = pr.URL, record.PROpen
		if to, said := decide.PRMove(w.def, pr); said {
			c := decide.PREnded(w.def, t, ev.Merged(w.def, t, to, pr), pr, "", now)
			if c.Task.PRURL, c.Task.PRState = "", ""; c.Entered {
				w.follow(s, c, true, false)
			}
		}
	}
}

func names(def *workflow.Definition) []string {
	var out []string
	for _, r := range def.Roles {
		out = append(out, r.Name)
	}
	return out
}

// twinOf is what the twin sees of a workflow; whole is false if the workflow is too large for it.
func twinOf(def *workflow.Definition) (seen map[string]bool, whole bool) {
	w := &twin{def: def, seen: map[string]bool{}, made: map[bool][]decide.Evidence{}}
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, b := range def.Births {
		if c, err := decide.Create(def, task.Task{ID: "1"}, b.To, task.Actor{Role: task.RoleHuman}, now); err == nil {
			w.follow(spot{}, c, true, false)
		}
	}
	if c, err := decide.CreateFromPlan(def, task.Task{ID: "1"}, task.Actor{Role: task.RoleHuman}, now); err == nil {
		w.follow(spot{}, c, true, false)
	}
	seen = map[string]bool{}
	for i := 0; i < len(w.open) && !w.ended; i++ {
		seen[normal(w.open[i].shown())] = true
		w.visit(w.open[i])
	}
	return seen, !w.ended
}

// normal sorts the living agents by name.
func normal(shown string) string {
	words := strings.Fields(shown)
	slices.Sort(words[3:])
	return strings.Join(words, " ")
}

func compare(t interface{ Errorf(string, ...any) }, def *workflow.Definition) (compared bool) {
	want, whole := twinOf(def)
	if !whole {
		return false
	}
	got := map[string]bool{}
	for text := range explore.Seen(def, explore.Most) {
		got[normal(text)] = true
	}
	for text := range want {
		if !got[text] {
			t.Errorf("%s: the explorer misses %q", def.Name, text)
		}
	}
	for text := range got {
		if !want[text] {
			t.Errorf("%s: the explorer alone sees %q", def.Name, text)
		}
	}
	return true
}

func TestAPlainTwinSeesTheSame(t *testing.T) {
	t.Parallel()
	all := append(files(t, "testdata/good/*.yml"), files(t, "testdata/bad/one-agent-*.yml")...)
	all = append(all, files(t, "testdata/bad/workspace-*.yml")...)
	if os.Getenv("ORANGE_TEST_LONG") != "" {
		all = append(all, files(t, "testdata/bad/*.yml")...)
	}
	for i, file := range all {
		// The short run compares every third workflow, make test-all each of them.
		if testing.Short() && i%3 != 0 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			def, err := parse(t, file)
			if err != nil {
				t.Skip("it does not load")
			}
			if !compare(t, def) {
				t.Skip("it is too large for the twin")
			}
		})
	}
}
