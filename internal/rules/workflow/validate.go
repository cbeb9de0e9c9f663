package workflow

import (
	"slices"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// validate checks what the file says as a whole. The nine rules that every workflow has always had come first.
func (r reader) validate(d *Definition) {
	if len(d.States) == 0 {
		return // its absence is reported already, and every name below would be reported with it
	}
	r.checkTargets(d)           // 1, 2
	r.checkTerminal(d)          // 3
	r.checkPrompts(d)           // 4, 5
	r.checkExitTargets(d)       // 6
	r.checkAmbiguity(d)         // 7 (8, the guards' syntax, is reported while reading)
	r.checkExhaustive(d)        // 9
	r.checkRoles(d)             // and what the schema adds
	r.checkInitialAndMoves(d)   //
	r.checkHooks(d)             //
	r.checkExitRulesComplete(d) //
	r.checkCounters(d)          //
	r.checkGates(d)             //
	r.checkStates(d)            //
	r.checkEntries(d)           //
	r.checkProjections(d)       //
}

func (r reader) stateExists(d *Definition, name task.Status, at yaml.Pos, rule, what string) {
	if name == "" || r.Full() {
		return
	}
	if _, exists := d.State(name); !exists {
		r.Problem(at, rule, "found the unknown state %q as %s, %s", name, what,
			yaml.Expected(string(name), d.stateNames()))
	}
}

func (d *Definition) stateNames() []string {
	names := make([]string, len(d.States))
	for i := range d.States {
		names[i] = string(d.States[i].Name)
	}
	return names
}

func (d *Definition) promptNames() []string {
	names := make([]string, len(d.Prompts))
	for i := range d.Prompts {
		names[i] = d.Prompts[i].Name
	}
	return names
}

// Rule 1: targets exist. Rule 2: sources exist.
func (r reader) checkTargets(d *Definition) {
	for _, t := range d.Transitions {
		r.stateExists(d, t.To, t.to, "to-state", "the target of a transition")
		r.stateExists(d, t.From, t.from, "from-state", "the source of a transition")
		for i, s := range t.CameFrom {
			if i < len(t.cameFrom) {
				r.stateExists(d, s, t.cameFrom[i], "from-state", "came_from")
			}
		}
	}
}

// Rule 3: nothing leaves a terminal state.
func (r reader) checkTerminal(d *Definition) {
	for _, t := range d.Transitions {
		if s, exists := d.State(t.From); exists && s.Terminal {
			r.Problem(t.from, "terminal", "found a transition out of %q, expected none: the state is terminal", t.From)
		}
	}
}

func (r reader) promptExists(d *Definition, name string, at yaml.Pos, rule, what string) {
	if name == "" || r.Full() {
		return
	}
	if names := d.promptNames(); !slices.Contains(names, name) {
		r.Problem(at, rule, "found the unknown prompt %q in %s, %s", name, what, yaml.Expected(name, names))
	}
}

// Rule 4: the prompts of hooks exist. Rule 5: the prompts of respawns exist.
func (r reader) checkPrompts(d *Definition) {
	d.eachHook(func(h Hook) {
		r.promptExists(d, h.Prompt, h.prompt, "prompt", "a hook")
	})
	for _, s := range d.States {
		r.promptExists(d, s.RespawnPrompt.Name, s.RespawnPrompt.Pos, "respawn-prompt", "state "+string(s.Name))
	}
}

// Rule 6: the targets of exit rules exist.
func (r reader) checkExitTargets(d *Definition) {
	for _, rule := range d.Exit.Rules {
		r.stateExists(d, rule.Then, rule.then, "exit-target", "then of an exit rule")
		r.stateExists(d, rule.Status, rule.status, "exit-status", "the status of an exit rule")
		for _, b := range rule.ThenWhen {
			r.stateExists(d, b.Then, b.then, "exit-target", "then of an exit rule")
		}
	}
}

// Rule 7: of the transitions between one pair of states, never two can be taken at once.
func (r reader) checkAmbiguity(d *Definition) {
	type pair struct{ from, to task.Status }
	earlier := map[pair][]Transition{}
	for _, a := range d.Transitions {
		between := pair{a.From, a.To}
		for _, b := range earlier[between] {
			if r.Full() || unread(a.When, b.When) || !share(a.CameFrom, b.CameFrom) || !share(a.By, b.By) ||
				Exclude(a.Gate, b.Gate) {
				continue
			}
			if witness, found := Overlap(a.Counted(), b.Counted()); found {
				r.Problem(a.Pos, "ambiguous",
					"found a second transition from %q to %q that passes together with the one on line %d "+
						"(%s), expected guards or gates that exclude one another",
					a.From, a.To, b.Pos.Line, witness)
			}
		}
		if len(earlier[between]) == maxArms {
			r.Problem(a.Pos, "ambiguous", "found more than %d transitions from %q to %q, expected fewer", maxArms,
				a.From, a.To)
			continue
		}
		earlier[between] = append(earlier[between], a)
	}
}

// share reports whether two lists have a role or state in common. An empty list means every one.
func share[T comparable](a, b []T) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(one T) bool { return slices.Contains(b, one) })
}

// unread reports whether a guard could not be read: that is reported already, and nothing follows from it.
func unread(arms ...[]Guard) bool {
	return slices.ContainsFunc(slices.Concat(arms...), func(g Guard) bool { return g.Op == "" })
}

// Rule 9: the arms of then_when cover every case, and no two cover the same one.
func (r reader) checkExhaustive(d *Definition) {
	for _, rule := range d.Exit.Rules {
		if len(rule.ThenWhen) == 0 {
			continue
		}
		arms := make([][]Guard, len(rule.ThenWhen))
		for i, b := range rule.ThenWhen {
			arms[i] = d.armGuards(rule, b)
		}
		if unread(arms...) || r.Full() {
			continue
		}
		if len(arms) > maxArms || casesOf(maxCases, arms...) > maxCases {
			r.Problem(rule.Pos, "exhaustive", "found %d arms of then_when, which tell more cases apart than "+
				"can be looked at, expected fewer arms, counters or numbers",
				len(arms))
			continue
		}
		if witness, found := Uncovered(arms...); found {
			r.Problem(rule.Pos, "exhaustive",
				"found no arm of then_when for %s, expected every case to be covered", witness)
		}
		for i := range arms {
			for j := range arms[:i] {
				if witness, found := Overlap(arms[i], arms[j]); found {
					r.Problem(rule.ThenWhen[i].Pos, "exhaustive",
						"found an arm of then_when that holds together with the one on line %d (%s), expected "+
							"one arm for each case",
						rule.ThenWhen[j].Pos.Line, witness)
				}
			}
		}
	}
}

// armGuards are the guards of an arm as they speak of the counters before the move that it leads to.
func (d *Definition) armGuards(rule Rule, arm Branch) []Guard {
	edge, found := d.Edge(rule.Status, arm.Then)
	if !found || rule.Action == ActionCrash { // a crash's move is no transition of the file
		return arm.When
	}
	return countersOf(arm.When, edge.Failure)
}

// RoleNames are the roles that someone can have under the workflow.
func (d *Definition) RoleNames() []string {
	names := []string{task.RoleWorker, task.RoleReviewer, task.RoleHuman}
	for _, role := range d.Roles {
		names = append(names, role.Name)
	}
	return names
}

func (r reader) checkRoles(d *Definition) {
	names := d.RoleNames()
	known := func(name string, at yaml.Pos, what string) {
		if name != "" && !r.Full() && !slices.Contains(names, name) {
			r.Problem(at, "role", "found the unknown role %q in %s, %s", name, what, yaml.Expected(name, names))
		}
	}
	for _, role := range d.Roles {
		if role.Name == task.RoleHuman {
			r.Problem(role.Pos, "role", "found %q among the roles, expected only those that agents have", role.Name)
		}
	}
	for _, t := range d.Transitions {
		for i, role := range t.By {
			known(role, t.by[i], "by")
		}
		for _, n := range t.OtherThan {
			r.otherThan(d, n)
		}
	}
	for _, s := range d.States {
		known(s.Role, s.Pos, "state "+string(s.Name))
	}
}

// otherThan checks one word of other_than: Author, or a state that a person may move a task out of.
func (r reader) otherThan(d *Definition, n Named) {
	_, state := d.State(task.Status(n.Name))
	names := append(d.stateNames(), Author)
	byPerson := func(t Transition) bool {
		return string(t.From) == n.Name && (len(t.By) == 0 || slices.Contains(t.By, task.RoleHuman))
	}
	switch {
	case r.Full():
	case n.Name == Author && state:
		r.Problem(n.Pos, "by", "found %q in other_than, which is who started the task, and a state of that name; "+
			"expected another name for the state", n.Name)
	case n.Name == Author:
	case !state:
		r.Problem(n.Pos, "by", "found %q in other_than, %s", n.Name, yaml.Expected(n.Name, names))
	case !slices.ContainsFunc(d.Transitions, byPerson):
		r.Problem(n.Pos, "by", "found %q in other_than, expected a state that a person may move a task out of", n.Name)
	}
}

func (r reader) checkInitialAndMoves(d *Definition) {
	if s, exists := d.State(d.Initial); !exists {
		r.Problem(d.initial, "initial", "found the unknown state %q as initial, %s", d.Initial,
			yaml.Expected(string(d.Initial), d.stateNames()))
	} else if s.Terminal {
		r.Problem(s.Pos, "initial", "found the terminal state %q as initial, expected one that a task can leave",
			d.Initial)
	}
	for _, m := range d.Moves {
		r.stateExists(d, m.To, m.Pos, "move", "the target of move "+m.Command)
	}
	for _, b := range d.Births {
		r.stateExists(d, b.To, b.Pos, "create", "a state to create tasks in")
		if s, _ := d.State(b.To); s.Terminal {
			r.Problem(b.Pos, "create",
				"found the terminal state %q among those that tasks are created in, expected one that a task can leave",
				b.To)
		}
	}
}

func (r reader) checkExitRulesComplete(d *Definition) {
	last := map[task.Status]Rule{} // the rule of a status behind which none is looked at
	for _, rule := range d.Exit.Rules {
		leads := rule.Then != "" || len(rule.ThenWhen) > 0
		switch {
		case rule.Action == ActionCrash && rule.StuckAfter == 0:
			r.Problem(rule.Pos, "exit-rule",
				"found a crash rule without stuck_after, expected the number of crashes that are too many")
		case rule.Action != ActionCrash && rule.StuckAfter != 0:
			r.Problem(rule.Pos, "exit-rule",
				"found stuck_after in an exit rule that counts no crashes, expected action: crash in the same rule")
		case rule.Action == "" && !leads:
			r.Problem(rule.Pos, "exit-rule",
				"found an exit rule that leads nowhere, expected then, then_when or action")
		case rule.HasArtifact != nil && (rule.NoArtifact || rule.Action != ""):
			r.Problem(rule.Pos, "exit-rule", "found has_artifact together with no_artifact or action in an exit "+
				"rule, expected a rule for each of the two cases")
		case rule.Action == "" && rule.HasArtifact == nil:
			r.Problem(rule.Pos, "exit-rule",
				"found an exit rule that never matches, expected has_artifact or action: crash together with "+
					"its target")
		case rule.Then != "" && len(rule.ThenWhen) > 0:
			r.Problem(rule.Pos, "exit-rule", "found both then and then_when, expected one of them")
		}
		if before, ends := last[rule.Status]; ends {
			r.Problem(rule.Pos, "exit-rule",
				"found an exit rule of %q behind the one on line %d that matches every death, expected it "+
					"before that one",
				rule.Status, before.Pos.Line)
		} else if rule.Action != "" && rule.HasArtifact == nil {
			last[rule.Status] = rule
		}
	}
}
