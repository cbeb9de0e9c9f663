package workflow

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"orange/internal/rules/action"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// Warnings reports what a workflow says that loads and is most likely a slip, sorted by place.
// A workflow with warnings runs as it is.
func (d *Definition) Warnings() yaml.Problems {
	r := reader{&yaml.Reader{File: d.File}}
	r.warnStates(d)
	r.warnTwice(d)
	r.warnBy(d)
	r.warnUndecided(d)
	r.warnGates(d)
	r.warnUnbound(d)
	r.warnStarts(d)
	r.warnCounters(d)
	r.warnUnused(d)
	r.warnPrompts(d)
	for _, p := range d.Misnamed() {
		r.Problem(yaml.Pos{Line: p.Line, Col: p.Col}, p.Rule, "%s", p.Message)
	}
	return r.problems()
}

func (r reader) problems() yaml.Problems {
	var found yaml.Problems
	_ = errors.As(r.Err(), &found) // a reader has no other errors
	return found
}

// warnStates reports states whose agent cannot be started again.
func (r reader) warnStates(d *Definition) {
	for _, s := range d.States {
		if !s.Terminal && s.Role != "" && s.Role != task.RoleHuman && s.RespawnPrompt.Name == "" {
			r.Problem(s.Pos, "respawn",
				"found no respawn_prompt in %q, expected one: the %s there cannot be started again once it has died",
				s.Name, s.Role)
		}
	}
}

// warnTwice reports a workspace that is made ready twice at once.
func (r reader) warnTwice(d *Definition) {
	d.eachList(func(hooks []Hook) {
		acquired := false
		for _, h := range hooks {
			if h.Action == action.AcquireWorkspace && acquired {
				r.Problem(h.Pos, "workspace",
					"found acquire_workspace a second time in one list of hooks, expected it once")
			}
			acquired = acquired || h.Action == action.AcquireWorkspace
		}
	})
}

// warnBy reports transitions that anyone may ask for, out of a state where others say who may.
func (r reader) warnBy(d *Definition) {
	says := map[task.Status]Transition{}
	for _, t := range d.Transitions {
		if _, found := says[t.From]; !found && len(t.By) > 0 {
			says[t.From] = t
		}
	}
	for _, t := range d.Transitions {
		if other, found := says[t.From]; found && len(t.By) == 0 {
			r.Problem(t.Pos, "by", "found no by in a transition from %q to %q, expected who may ask, as the "+
				"one on line %d says it", t.From, t.To, other.Pos.Line)
		}
	}
}

// warnStarts reports agents that are started in a state of another role, and a role that is given one prompt
// with another harness or other permissions than elsewhere.
func (r reader) warnStarts(d *Definition) {
	said := &sayings{}
	note := func(to task.Status, hooks []Hook) {
		s, _ := d.State(to)
		for _, h := range hooks {
			if SpawnRole(h.Hook) != "" && h.Pos != (yaml.Pos{}) {
				said.add(fmt.Sprintf("a %s with the prompt %s", RoleIn(s, h.Hook), h.Prompt), h.Pos,
					saying{"harness: " + h.Harness, "permissions: " + h.Permissions})
			}
		}
	}
	for i := range d.Transitions {
		note(d.Transitions[i].To, d.Transitions[i].Hooks)
	}
	for _, b := range d.births() {
		note(b.To, b.Hooks)
	}
	said.tell(func(at yaml.Pos, what, found, expected string, line int) {
		r.Problem(at, "odd-start", "found %s started with %s, expected %s as on line %d", what, found, expected, line)
	})
	foreign := func(to task.Status, hooks []Hook) {
		s, _ := d.State(to)
		first := slices.IndexFunc(hooks, func(h Hook) bool { return SpawnRole(h.Hook) != "" })
		own := slices.ContainsFunc(hooks, func(h Hook) bool { return RoleIn(s, h.Hook) == s.Role })
		if first >= 0 && !own && s.Role != "" && hooks[first].Pos != (yaml.Pos{}) {
			r.Problem(hooks[first].Pos, "odd-start",
				"found a %s that is started in %q, expected a %s: that is the state's role",
				RoleIn(s, hooks[first].Hook), to, s.Role)
		}
	}
	for _, t := range d.Transitions {
		from, _ := d.State(t.From)
		if to, _ := d.State(t.To); from.Role != to.Role { // where one role stays at work, another may be called to help
			foreign(t.To, t.Hooks)
		}
	}
	for _, b := range d.births() {
		foreign(b.To, b.Hooks)
	}
}

// warnCounters reports counters that guards ask for and nothing changes.
func (r reader) warnCounters(d *Definition) {
	asked, changed := map[string]yaml.Pos{}, map[string]bool{task.CrashCount: true}
	var names []string
	d.eachWhen(func(guards []Guard) {
		for _, g := range guards {
			if _, known := asked[g.Field]; !known {
				asked[g.Field] = g.Pos
				names = append(names, g.Field)
			}
		}
	})
	changed[CountFailures] = slices.ContainsFunc(d.Transitions, func(t Transition) bool { return t.Failure })
	d.eachHook(func(h Hook) { changed[h.Field] = true })
	for _, name := range names {
		if !changed[name] {
			r.Problem(asked[name], "round",
				"found a guard that asks for %q, which nothing changes; expected a hook that does", name)
		}
	}
	r.warnRounds(d)
}

// warnRounds reports reviewers whose round is not counted, where that of others is: their windows are named by it.
func (r reader) warnRounds(d *Definition) {
	var uncounted []yaml.Pos
	counted := false
	var again []yaml.Pos // of hooks that begin the same round again
	for i := range d.Transitions {
		if t := &d.Transitions[i]; t.From == t.To && Asks(t.Gate, GitMoved) {
			for _, h := range t.Hooks {
				again = append(again, h.Pos)
			}
		}
	}
	d.eachList(func(hooks []Hook) {
		at := slices.IndexFunc(hooks, func(h Hook) bool { return SpawnRole(h.Hook) == task.RoleReviewer })
		switch {
		case at < 0:
		case slices.ContainsFunc(hooks, func(h Hook) bool {
			return h.Field == task.ReviewRound && h.Action != action.SetField
		}):
			counted = true
		default:
			uncounted = append(uncounted, hooks[at].Pos)
		}
	})
	for _, at := range uncounted {
		if counted && at != (yaml.Pos{}) && !slices.Contains(again, at) {
			r.Problem(at, "round", "found a reviewer that is started without increment_review_round, expected "+
				"the round to be counted as for other reviewers")
		}
	}
}

// eachList visits the hooks of every transition and birth, list by list.
func (d *Definition) eachList(visit func([]Hook)) {
	for i := range d.Transitions {
		visit(d.Transitions[i].Hooks)
	}
	for _, b := range d.births() {
		visit(b.Hooks)
	}
}

func (d *Definition) births() []Birth {
	if d.PlanFile == nil {
		return d.Births
	}
	return append(slices.Clip(d.Births), *d.PlanFile)
}

// Misnamed reports a name that is not the one of the file, without its ending: the workflow would be asked for
// by the one, and its tasks say the other. It is nil where the file has no such ending.
func (d *Definition) Misnamed() yaml.Problems {
	file := d.File[strings.LastIndexAny(d.File, `/\`)+1:]
	if name, is := strings.CutSuffix(file, ".yml"); is && name != d.Name {
		return yaml.Problems{{File: d.File, Line: d.named.Line, Col: d.named.Col, Rule: "name",
			Message: fmt.Sprintf("found %q as the name in the file %q, expected %q: that is what the workflow "+
				"is asked for by; write \"name: %s\", or leave the line out", d.Name, file, name, name)}}
	}
	return nil
}

// inBraces is how a text names a variable.
var inBraces = regexp.MustCompile(`\{(\w+)\}`)

// warnPrompts reports prompts without a text, and words in braces that stand for nothing.
func (r reader) warnPrompts(d *Definition) {
	known := append(Variables(), task.ReviewRound, task.CrashCount)
	for _, f := range d.Fields {
		known = append(known, f.Name)
	}
	for _, p := range d.Prompts {
		if strings.TrimSpace(p.Text) == "" {
			r.Problem(p.Pos, "empty-prompt", "found no text in the prompt %q, expected what the agent shall do", p.Name)
		}
		for _, n := range p.names {
			if !slices.Contains(known, n.Name) {
				r.Problem(n.Pos, "variable",
					"found {%s} in the prompt %q, which stands for nothing and stays as it is, %s", n.Name,
					p.Name, yaml.Expected(n.Name, known))
			}
		}
	}
}

// warnUnused reports prompts, checks, counters and roles that are in the file alone.
func (r reader) warnUnused(d *Definition) {
	used := map[string]bool{} // "prompt worker"
	var texts strings.Builder // where counters are named as variables
	d.eachHook(func(h Hook) {
		used["prompt "+h.Prompt], used["field "+h.Field], used["role "+h.Role] = true, true, true
		texts.WriteString(h.Message + strings.Join(h.Run, " "))
	})
	d.eachWhen(func(guards []Guard) {
		for _, g := range guards {
			used["field "+g.Field] = true
		}
	})
	d.EachGate(func(parts []Part) {
		for _, p := range Leaves(parts) {
			used["check "+p.Check] = true
		}
	})
	for _, c := range d.MergeChecks {
		used["check "+c.Name] = true
	}
	for _, s := range d.States {
		used["prompt "+s.RespawnPrompt.Name], used["role "+s.Role] = true, true
	}
	for _, t := range d.Transitions {
		for _, role := range t.By {
			used["role "+role] = true
		}
	}
	tell := func(kind, name string, at yaml.Pos) {
		if !used[kind+" "+name] {
			r.Problem(at, "unused", "found the %s %q, which nothing uses; use it, or take it out", kind, name)
		}
	}
	for _, p := range d.Prompts {
		texts.WriteString(p.Text)
		tell("prompt", p.Name, p.Pos)
	}
	for _, p := range d.Projections {
		texts.WriteString(p.Value.texts())
	}
	for _, variable := range inBraces.FindAllStringSubmatch(texts.String(), -1) {
		used["field "+variable[1]] = true
	}
	for _, c := range d.Checks {
		tell("check", c.Name, c.Pos)
	}
	for _, f := range d.Fields {
		tell("field", f.Name, f.Pos)
	}
	for _, role := range d.Roles {
		tell("role", role.Name, role.Pos)
	}
}

// texts are those of the value, one after the other.
func (v Value) texts() string {
	out := v.Text
	for _, p := range v.Pairs {
		out += " " + p.Value.texts()
	}
	return out
}
