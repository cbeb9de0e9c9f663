package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// DefaultPollInterval is how often, in seconds, agents are looked at where a workflow does not say.
const DefaultPollInterval = 30

// Bounds of a workflow file, far above what a person writes: what has to be compared pair by pair, or in every
// combination, stays quick.
const (
	maxFile   = 256 << 10
	maxGuards = 20      // in one when
	maxArms   = 100     // transitions between one pair of states, or arms of one then_when
	maxCases  = 100_000 // combinations of counters that the arms of one then_when tell apart
)

// Usual holds the names that a workflow file means where it says nothing: read from a file of its own,
// so that no name of a state is in the program.
type Usual struct {
	moves     []Move
	births    []Birth
	crashThen task.Status
}

// ParseUsual reads the file of usual names.
func ParseUsual(file string, text []byte) (Usual, error) {
	r := reader{&yaml.Reader{File: file}}
	var usual Usual
	if root := r.Document(text); root != nil {
		r.Mapping(root, "the usual names", []yaml.Key{
			yaml.Must("moves", func(n *yaml.Node) { usual.moves = r.moves(n) }),
			yaml.Must("create", func(n *yaml.Node) { usual.births = r.births(n) }),
			yaml.Must("crash_then", func(n *yaml.Node) { usual.crashThen = task.Status(r.Name(n, "crash_then")) }),
		})
	}
	if err := r.Err(); err != nil {
		return Usual{}, err
	}
	return usual, nil
}

// Parse reads a workflow file and validates it.
// The error is a yaml.Problems with everything that is wrong, sorted by place.
func Parse(file string, text []byte, usual Usual) (*Definition, error) {
	sum := sha256.Sum256(text)
	d := &Definition{File: file, Digest: hex.EncodeToString(sum[:])}
	d.Exit.PollInterval = DefaultPollInterval
	r := reader{&yaml.Reader{File: file}}
	if len(text) > maxFile {
		r.Problem(yaml.Pos{Line: 1, Col: 1}, "too-long", "found a file of %d bytes, expected at most %d",
			len(text), maxFile)
		return nil, r.Err()
	}
	root := r.Document(text)
	if root != nil && r.definition(root, d) {
		r.ownName(d, root)
		d.fill(usual)
		r.spread(d)
		r.validate(d)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// ownName gives a workflow that says no name that of its file.
func (r reader) ownName(d *Definition, root *yaml.Node) {
	name, is := strings.CutSuffix(d.File[strings.LastIndexAny(d.File, `/\\`)+1:], ".yml")
	switch {
	case d.named != yaml.Pos{}:
	case is && name != "":
		d.Name = name
	default:
		r.Problem(yaml.PosOf(root), "missing-key", `found no "name" in the workflow, expected it, or a file that is `+
			"called NAME.yml")
	}
}

// reader knows the keys of a workflow file.
type reader struct{ *yaml.Reader }

func (r reader) definition(n *yaml.Node, d *Definition) bool {
	return r.Mapping(n, "the workflow", []yaml.Key{
		yaml.May("name", func(n *yaml.Node) { d.Name, d.named = r.Name(n, "the workflow's name"), yaml.PosOf(n) }),
		yaml.Must("version", func(n *yaml.Node) { d.Version = r.Integer(n, "the version", 1, maxGuard) }),
		yaml.May("initial", func(n *yaml.Node) {
			d.Initial, d.initial = task.Status(r.Name(n, "the initial state")), yaml.PosOf(n)
		}),
		yaml.May("roles", func(n *yaml.Node) { d.Roles = r.roles(n) }),
		yaml.May("fields", func(n *yaml.Node) { d.Fields = r.fields(n) }),
		yaml.Must("states", func(n *yaml.Node) { d.States = r.states(n) }),
		yaml.May("create", func(n *yaml.Node) { d.Births = r.births(n) }),
		yaml.May("plan_file", func(n *yaml.Node) { d.PlanFile = r.planFile(n) }),
		yaml.May("moves", func(n *yaml.Node) { d.Moves = r.moves(n) }),
		yaml.May("redo", func(n *yaml.Node) {
			r.List(n, "redo", func(n *yaml.Node) { d.Redo = append(d.Redo, r.namedOf(n, "a state of redo")) })
		}),
		yaml.May("checks", func(n *yaml.Node) { d.Checks = r.checks(n) }),
		yaml.May("merge_checks", func(n *yaml.Node) {
			r.List(n, "merge_checks", func(n *yaml.Node) {
				d.MergeChecks = append(d.MergeChecks, r.namedOf(n, "a check of merge_checks"))
			})
		}),
		yaml.May("commands", func(n *yaml.Node) { d.Commands = r.commands(n) }),
		yaml.May("projections", func(n *yaml.Node) { d.Projections = r.projections(n) }),
		yaml.Must("transitions", func(n *yaml.Node) {
			r.List(n, "transitions", func(n *yaml.Node) { d.Transitions = append(d.Transitions, r.transition(n)...) })
		}),
		yaml.May("exit_monitoring", func(n *yaml.Node) { r.exit(n, &d.Exit) }),
		yaml.May("prompts", func(n *yaml.Node) { d.Prompts = r.prompts(n) }),
		yaml.May("override", func(n *yaml.Node) { d.Strict = r.OneOf(n, "override", "strict") != "" }),
		yaml.May("strict", func(n *yaml.Node) { d.FindingsRefuse = r.Boolean(n, "strict") }),
		yaml.May("promise", func(n *yaml.Node) {
			r.oneAtLeast(n, "promise", func(n *yaml.Node) {
				d.Promise = append(d.Promise, Named{Name: r.Text(n, "a line of promise"), Pos: yaml.PosOf(n)})
			})
		}),
		yaml.May("allow", func(n *yaml.Node) { d.Allow = r.allow(n) }),
	})
}

// elements reads the elements of a list to the end of another one.
func elements[T any](r reader, what string, into *[]T, read func(n *yaml.Node) T) func(n *yaml.Node) {
	return func(n *yaml.Node) {
		r.List(n, what, func(n *yaml.Node) { *into = append(*into, read(n)) })
	}
}

func (r reader) namedOf(n *yaml.Node, what string) Named {
	return Named{Name: r.Name(n, what), Pos: yaml.PosOf(n)}
}

func (r reader) states(n *yaml.Node) []State {
	var out []State
	r.Pairs(n, "states", func(name, value *yaml.Node) {
		s := State{Name: task.Status(name.Value), Pos: yaml.PosOf(name)}
		r.Mapping(value, "state "+name.Value, []yaml.Key{
			yaml.May("terminal", func(n *yaml.Node) { s.Terminal = r.Boolean(n, "terminal") }),
			yaml.May("success", func(n *yaml.Node) { s.Success = r.Boolean(n, "success") }),
			yaml.May("about", func(n *yaml.Node) { s.About = r.Text(n, "about") }),
			yaml.May("role", func(n *yaml.Node) { s.Role = r.Name(n, "role") }),
			yaml.May("respawn_prompt", func(n *yaml.Node) { s.RespawnPrompt = r.namedOf(n, "respawn_prompt") }),
			yaml.May("respawn", func(n *yaml.Node) { s.Respawn = r.OneOf(n, "respawn", RespawnAuto) }),
			yaml.May("folder", func(n *yaml.Node) { s.Folder = r.inside(n, "folder") }),
			yaml.May("subject", func(n *yaml.Node) {
				s.Subject = r.OneOf(n, "subject", SubjectWorktree, SubjectCarried)
			}),
			yaml.May("escalation", func(n *yaml.Node) { s.Escalation = r.Boolean(n, "escalation") }),
			yaml.May("timeout", func(n *yaml.Node) { s.Timeout = r.timeout(n) }),
			yaml.May("refused_after", func(n *yaml.Node) { s.Refused = r.refusals(n) }),
			yaml.May("send_back", elements(r, "send_back", &s.SendBack, r.sendBack)),
		})
		if s.Name == Previous || s.Name == everywhere {
			r.Problem(s.Pos, "state-name",
				"found a state called %q, expected another name: in transitions the word means something else", s.Name)
		}
		out = append(out, s)
	})
	return out
}

// longest is the longest time that a workflow may speak of.
const longest = 365 * 24 * time.Hour

// timeout reads a length of time, or one with where its end leads.
func (r reader) timeout(n *yaml.Node) Timeout {
	t := Timeout{Pos: yaml.PosOf(n)}
	after := func(n *yaml.Node) { t.After = int(r.Duration(n, "a timeout", longest) / time.Second) }
	r.withThen(n, "a timeout", "after", after, &t.Then, &t.then)
	return t
}

// withThen reads a value, or the value under a key with the state that the task goes to then.
func (r reader) withThen(n *yaml.Node, what, key string, value func(n *yaml.Node), then *task.Status, at *yaml.Pos) {
	if !r.IsMapping(n) {
		value(n)
		return
	}
	r.Mapping(n, what, []yaml.Key{
		yaml.Must(key, value),
		yaml.May("then", func(n *yaml.Node) { *then, *at = task.Status(r.Name(n, "then")), yaml.PosOf(n) }),
	})
}

func (r reader) births(n *yaml.Node) []Birth {
	var out []Birth
	r.Pairs(n, "create", func(name, value *yaml.Node) {
		b := Birth{To: task.Status(name.Value), Pos: yaml.PosOf(name)}
		elements(r, "the hooks of a birth", &b.Hooks, r.hook)(value)
		out = append(out, b)
	})
	return out
}

func (r reader) moves(n *yaml.Node) []Move {
	commands := []string{
		MoveSpawn, MoveComplete, MoveStuck, MoveMerge, MoveCancel, MoveRequestChanges, MovePRMerged, MovePRClosed,
		MoveClarify,
	}
	var out []Move
	var keys []yaml.Key
	for _, command := range commands {
		keys = append(keys, yaml.May(command, func(n *yaml.Node) {
			out = append(out, Move{Command: command, To: task.Status(r.Name(n, "a move")), Pos: yaml.PosOf(n)})
		}))
	}
	r.Mapping(n, "moves", keys)
	return out
}

// everywhere means every state that a task can leave, the target of the transition apart.
const everywhere task.Status = "*"

// transition reads one transition of the file: as many edges as it has pairs of source and target.
func (r reader) transition(n *yaml.Node) []Transition {
	t := Transition{Pos: yaml.PosOf(n)}
	var from, to []Named
	r.Mapping(n, "a transition", []yaml.Key{
		yaml.Must("from", func(n *yaml.Node) { from = r.someStates(n, "from") }),
		yaml.Must("to", func(n *yaml.Node) { to = r.someStates(n, "to") }),
		yaml.May("came_from", func(n *yaml.Node) {
			for _, s := range r.someStates(n, "came_from") {
				t.CameFrom, t.cameFrom = append(t.CameFrom, task.Status(s.Name)), append(t.cameFrom, s.Pos)
			}
		}),
		yaml.May("by", func(n *yaml.Node) {
			r.oneAtLeast(n, "by", func(n *yaml.Node) { r.by(n, &t) })
		}),
		yaml.May("when", func(n *yaml.Node) { t.When = r.guards(n) }),
		yaml.May("gate", func(n *yaml.Node) {
			r.oneAtLeast(n, "gate", func(n *yaml.Node) { t.Gate = append(t.Gate, r.part(n)) })
		}),
		yaml.May("on", func(n *yaml.Node) { t.Failure = r.OneOf(n, "on", "failure") != "" }),
		yaml.May("override", func(n *yaml.Node) { t.Override = r.OneOf(n, "override", "allowed") != "" }),
		yaml.May("reason", func(n *yaml.Node) { t.Reason = r.OneOf(n, "reason", "required") != "" }),
		yaml.May("hooks", elements(r, "hooks", &t.Hooks, r.hook)),
	})
	var out []Transition
	for _, f := range from {
		for _, to := range to {
			t.From, t.from = task.Status(f.Name), f.Pos
			t.To, t.to = task.Status(to.Name), to.Pos
			out = append(out, t)
		}
	}
	return out
}

// by reads a role that may ask for a transition, or roles with what is wanted of the people who have them.
func (r reader) by(n *yaml.Node, t *Transition) {
	add := func(n *yaml.Node) { t.By, t.by = append(t.By, r.Name(n, "a role")), append(t.by, yaml.PosOf(n)) }
	if !r.IsMapping(n) {
		add(n)
		return
	}
	r.Pairs(n, "by", func(role, value *yaml.Node) {
		add(role)
		r.Mapping(value, "by "+role.Value, []yaml.Key{yaml.May("other_than", func(n *yaml.Node) {
			if role.Value != task.RoleHuman {
				r.Problem(yaml.PosOf(n), "by", "found other_than for the role %q, expected it for %q: Orange tells "+
					"only people apart", role.Value, task.RoleHuman)
			}
			t.OtherThan = append(t.OtherThan, r.someStates(n, "other_than")...)
		})})
	})
}

// someStates reads the name of one state, or a list of them.
func (r reader) someStates(n *yaml.Node, what string) []Named {
	var out []Named
	r.oneAtLeast(n, what, func(n *yaml.Node) { out = append(out, r.namedOf(n, what)) })
	return out
}

// oneAtLeast visits a value, or each of a list that must not be empty: an empty one would be read as no word at all.
func (r reader) oneAtLeast(n *yaml.Node, what string, visit func(n *yaml.Node)) {
	some := false
	r.OneOrMore(n, what, func(n *yaml.Node) {
		some = true
		visit(n)
	})
	if !some {
		r.Problem(yaml.PosOf(n), "value", "found an empty list as %s, expected at least one", what)
	}
}

func (r reader) guards(n *yaml.Node) []Guard {
	var out []Guard
	r.oneAtLeast(n, "when", func(n *yaml.Node) {
		text := r.Name(n, "a guard")
		g, err := ParseGuard(text)
		if err != nil && text != "" {
			r.Problem(yaml.PosOf(n), "guard-syntax", "%v", err)
		}
		g.Pos = yaml.PosOf(n)
		out = append(out, g)
	})
	if len(out) > maxGuards {
		r.Problem(yaml.PosOf(n), "guard-count", "found %d guards in one when, expected at most %d", len(out), maxGuards)
		return out[:0]
	}
	return out
}

func (r reader) exit(n *yaml.Node, exit *Exit) {
	r.Mapping(n, "exit_monitoring", []yaml.Key{
		yaml.May("poll_interval", func(n *yaml.Node) {
			exit.PollInterval = r.Integer(n, "poll_interval", 1, maxGuard)
		}),
		yaml.May("rules", elements(r, "exit rules", &exit.Rules, r.rule)),
	})
}

func (r reader) rule(n *yaml.Node) Rule {
	rule := Rule{Pos: yaml.PosOf(n)}
	r.Mapping(n, "an exit rule", []yaml.Key{
		yaml.Must("status", func(n *yaml.Node) {
			rule.Status, rule.status = task.Status(r.Name(n, "status")), yaml.PosOf(n)
		}),
		yaml.May("has_artifact", func(n *yaml.Node) { part := r.part(n); rule.HasArtifact = &part }),
		yaml.May("no_artifact", func(n *yaml.Node) { rule.NoArtifact = r.Boolean(n, "no_artifact") }),
		yaml.May("action", func(n *yaml.Node) {
			rule.Action = r.OneOf(n, "an exit action", ActionCrash, ActionMarkDead)
		}),
		yaml.May("stuck_after", func(n *yaml.Node) { rule.StuckAfter = r.Integer(n, "stuck_after", 1, maxGuard) }),
		yaml.May("then", func(n *yaml.Node) { rule.Then, rule.then = task.Status(r.Name(n, "then")), yaml.PosOf(n) }),
		yaml.May("then_when", elements(r, "then_when", &rule.ThenWhen, r.branch)),
	})
	return rule
}

func (r reader) branch(n *yaml.Node) Branch {
	b := Branch{Pos: yaml.PosOf(n)}
	r.Mapping(n, "an arm of then_when", []yaml.Key{
		yaml.Must("when", func(n *yaml.Node) { b.When = r.guards(n) }),
		yaml.Must("then", func(n *yaml.Node) { b.Then, b.then = task.Status(r.Name(n, "then")), yaml.PosOf(n) }),
	})
	return b
}

// braces are the words in braces of a text, each once.
func (r reader) braces(n *yaml.Node, text string) []Named {
	var out []Named
	for _, at := range inBraces.FindAllStringSubmatchIndex(text, -1) {
		name := text[at[2]:at[3]]
		if !slices.ContainsFunc(out, func(have Named) bool { return have.Name == name }) {
			out = append(out, Named{Name: name, Pos: r.PlaceIn(n, at[0])})
		}
	}
	return out
}

func (r reader) prompts(n *yaml.Node) []Prompt {
	var out []Prompt
	r.Pairs(n, "prompts", func(name, value *yaml.Node) {
		text := r.Text(value, "prompt "+name.Value)
		out = append(out, Prompt{Name: name.Value, Text: strings.TrimRight(text, "\n") + "\n",
			Pos: yaml.PosOf(name), names: r.braces(value, text)})
	})
	return out
}
