package workflow

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// maxParts bounds how deep the parts of a gate lie in one another.
const maxParts = 5

func (r reader) part(n *yaml.Node) Part { return r.partAt(n, 1) }

func (r reader) partAt(n *yaml.Node, depth int) Part {
	p := Part{Pos: yaml.PosOf(n)}
	said := map[string]yaml.Pos{} // the keys that there are
	key := func(name string, read func(n *yaml.Node)) yaml.Key {
		return yaml.May(name, func(n *yaml.Node) {
			said[name] = yaml.PosOf(n)
			read(n)
		})
	}
	parts := func(into *[]Part, what string) func(n *yaml.Node) {
		return func(n *yaml.Node) {
			if depth == maxParts {
				r.Problem(yaml.PosOf(n), "gate",
					"found a gate whose parts lie more than %d deep in one another, expected fewer", maxParts)
				return
			}
			r.List(n, what, func(n *yaml.Node) { *into = append(*into, r.partAt(n, depth+1)) })
			if len(*into) == 0 {
				r.Problem(yaml.PosOf(n), "gate",
					"found an empty %s in a gate, expected the gates of which it speaks", what)
			}
		}
	}
	fresh := true
	if !r.Mapping(n, "a gate", []yaml.Key{
		key("section", func(n *yaml.Node) { p.Section = r.Name(n, "section") }),
		key("file", func(n *yaml.Node) { p.File = r.inside(n, "file") }),
		key("glob", func(n *yaml.Node) { p.Glob = r.inside(n, "glob") }),
		key("check", func(n *yaml.Node) { p.Check = r.Name(n, "check") }),
		key("git", func(n *yaml.Node) { r.git(n, &p) }),
		key("all", parts(&p.All, "all")),
		key("any", parts(&p.Any, "any")),
		key("required", func(n *yaml.Node) { p.Required = r.Boolean(n, "required") }),
		key("empty", func(n *yaml.Node) { p.Empty = r.OneOf(n, "empty", EmptyAllowed) != "" }),
		key("fields", func(n *yaml.Node) {
			r.List(n, "fields", func(n *yaml.Node) { p.Fields = append(p.Fields, r.Text(n, "a field")) })
		}),
		key("verdict", func(n *yaml.Node) { p.Verdict = r.OneOf(n, "a verdict", "PASS", "FAIL") }),
		key("verdict_in", func(n *yaml.Node) {
			p.VerdictIn = r.OneOf(n, "verdict_in", VerdictFirstLine, VerdictAnywhere)
		}),
		key("fresh", func(n *yaml.Node) { fresh = r.Boolean(n, "fresh") }),
		key("since", func(n *yaml.Node) { p.Since = r.OneOf(n, "since", SinceEntry) }),
		key("judges", func(n *yaml.Node) { p.Judges = r.Boolean(n, "judges") }),
		key("json", func(n *yaml.Node) { p.JSON = r.Boolean(n, "json") }),
		key("jq", func(n *yaml.Node) { p.JQ = r.Name(n, "jq") }),
		key("with", func(n *yaml.Node) { p.With = r.with(n) }),
		key("plan", func(n *yaml.Node) { p.Plan = r.inside(n, "plan") }),
		key("result", func(n *yaml.Node) { p.Result = r.OneOf(n, "result", CheckPassed, CheckFailed) }),
		key("want", func(n *yaml.Node) { p.Want = r.Text(n, "want") }),
	}) {
		return p
	}
	kind := r.kindOfPart(p.Pos, said)
	if _, says := said["fresh"]; !says {
		fresh = kind == "section"
	}
	p.Fresh = fresh
	if _, asked := said["verdict"]; !asked && p.VerdictIn != "" {
		r.Problem(p.Pos, "gate", "found verdict_in without a verdict, expected PASS or FAIL as verdict too")
	}
	if p.Verdict != "" && p.VerdictIn == "" {
		p.VerdictIn = VerdictAnywhere
	}
	if kind == "check" && p.Result == "" {
		p.Result = CheckPassed
	}
	return p
}

// git reads what is asked of git: a word, or the files that the work must not touch.
func (r reader) git(n *yaml.Node, p *Part) {
	if !r.IsMapping(n) {
		p.Git = r.OneOf(n, "git", GitAhead, GitClean, GitPlanned, GitUnmoved, GitCommitted, GitMoved, GitAsReviewed)
		return
	}
	p.Git = GitUntouched
	r.Mapping(n, "git", []yaml.Key{
		yaml.Must(GitUntouched, func(n *yaml.Node) {
			r.oneAtLeast(n, GitUntouched, func(n *yaml.Node) {
				p.Untouched = append(p.Untouched, r.inside(n, "a file of untouched"))
			})
		}),
	})
}

// with reads the files that a jq program knows as variables.
func (r reader) with(n *yaml.Node) []With {
	var out []With
	r.Pairs(n, "with", func(name, value *yaml.Node) {
		if !isFieldName(name.Value) {
			r.Problem(yaml.PosOf(name), "value",
				"found %q as the name of a variable, expected letters, digits and underscores", name.Value)
			return
		}
		out = append(out, With{Name: name.Value, File: r.inside(value, "a file of with")})
	})
	return out
}

// inside reads the path of something in the task's folder.
func (r reader) inside(n *yaml.Node, what string) string {
	found := r.Name(n, what)
	clean := path.Clean(found)
	if found != "" && (path.IsAbs(found) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") ||
		strings.ContainsAny(found, "\\\x00")) {
		r.Problem(yaml.PosOf(n), "value",
			"found %q as %s, expected a path below the task's folder, with forward slashes", found, what)
		return ""
	}
	if found == "" {
		return ""
	}
	return clean
}

// keysOfPart says which keys a part of each kind may have besides the one that says the kind, fresh, since and want.
func keysOfPart() map[string][]string {
	return map[string][]string{
		"section": {"required", "fields", "verdict", "verdict_in"},
		"file":    {"required", "json", "jq", "with", "judges"},
		"glob":    {"required", "empty", "jq", "with"},
		"check":   {"result"},
		"git":     {"plan"},
		"all":     nil,
		"any":     nil,
	}
}

// kindOfPart finds out of which kind a part is, and tells keys that go with another one.
func (r reader) kindOfPart(at yaml.Pos, said map[string]yaml.Pos) string {
	kinds := []string{"section", "file", "glob", "check", "git", "all", "any"}
	var found []string
	for _, kind := range kinds {
		if _, is := said[kind]; is {
			found = append(found, kind)
		}
	}
	if len(found) == 0 {
		found = []string{"none"}
	}
	if len(found) != 1 || found[0] == "none" {
		r.Problem(
			at, "gate", "found %s in a gate, expected exactly one of section, file, glob, check, git, all, any",
			joinWithAnd(found))
		return ""
	}
	kind := found[0]
	allowed := append(keysOfPart()[kind], kind)
	if kind != "all" && kind != "any" {
		allowed = append(allowed, "fresh", "since", "want")
	}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		if !slices.Contains(allowed, key) {
			r.Problem(said[key], "gate",
				"found %s together with %s in a gate, expected it only where it means something", key, kind)
		}
	}
	return kind
}

// EachGate visits the gate of every transition, and what every exit rule looks for.
func (d *Definition) EachGate(visit func([]Part)) {
	for i := range d.Transitions {
		visit(d.Transitions[i].Gate)
	}
	for _, rule := range d.Exit.Rules {
		if rule.HasArtifact != nil {
			visit([]Part{*rule.HasArtifact})
		}
	}
}

// Leaves are the parts that a list of parts consists of in the end: those of any and all taken apart.
func Leaves(parts []Part) []Part {
	var out []Part
	eachLeaf(parts, func(p *Part) { out = append(out, *p) })
	return out
}

// Certain are those of them that hold whenever the list does: none of them is an alternative.
func Certain(parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		switch {
		case len(p.All) > 0:
			out = append(out, Certain(p.All)...)
		case len(p.Any) == 0:
			out = append(out, p)
		}
	}
	return out
}

// Exclude reports whether no evidence opens two gates at once: they ask for two verdicts in one section, for two
// results of one check, or for a branch that moved and one that did not.
func Exclude(a, b []Part) bool {
	return slices.ContainsFunc(Certain(a), func(p Part) bool {
		return slices.ContainsFunc(Certain(b), func(q Part) bool {
			switch {
			case p.Section != "":
				return heading(p.Section) == heading(q.Section) && p.Verdict != "" && q.Verdict != "" &&
					p.Verdict != q.Verdict && p.VerdictIn == q.VerdictIn
			case p.Check != "":
				return p.Check == q.Check && p.Result != q.Result
			}
			return p.Git == GitMoved && q.Git == GitUnmoved || p.Git == GitUnmoved && q.Git == GitMoved
		})
	})
}

// heading is what a section is known by, however it is written.
func heading(section string) string {
	return strings.ToLower(strings.TrimSpace(strings.TrimLeft(section, "# ")))
}

// Since are those of them that want something written after the present status began.
func Since(parts []Part) []Part {
	return leavesThat(parts, (*Part).IsSince)
}

// Verdicts are those of them that are a verdict on the work.
func Verdicts(parts []Part) []Part {
	return leavesThat(parts, (*Part).IsVerdict)
}

// Accepts reports whether a transition asks for a verdict that accepts the work, and cannot be taken without it.
func (t *Transition) Accepts() bool {
	fails := func(p Part) bool { return p.Verdict == "FAIL" }
	return !slices.ContainsFunc(Verdicts(t.Gate), fails) && len(Verdicts(Certain(t.Gate))) > 0
}

// Accepts reports whether a move from one status to another shows that a verdict accepted the work: all transitions
// there ask for one. A file that judges is none: no one can say if it accepted the work or refused it.
func (d *Definition) Accepts(from, to task.Status) bool {
	there := false
	for i := range d.Transitions {
		if edge := &d.Transitions[i]; edge.From == from && edge.To == to {
			there = true
			file := func(p Part) bool { return p.Judges }
			if !edge.Accepts() || slices.ContainsFunc(Verdicts(edge.Gate), file) {
				return false
			}
		}
	}
	return there
}

// AsksVerdicts reports whether a move of the workflow asks for a verdict.
func (d *Definition) AsksVerdicts() bool {
	return slices.ContainsFunc(d.Transitions, func(edge Transition) bool { return len(Verdicts(edge.Gate)) > 0 })
}

func leavesThat(parts []Part, which func(p *Part) bool) []Part {
	var out []Part
	eachLeaf(parts, func(p *Part) {
		if which(p) {
			out = append(out, *p)
		}
	})
	return out
}

func eachLeaf(parts []Part, visit func(p *Part)) {
	for i := range parts {
		parts[i].EachLeaf(visit)
	}
}

// EachLeaf visits the part, or all that it is made of.
func (p *Part) EachLeaf(visit func(p *Part)) {
	switch {
	case len(p.All) > 0:
		eachLeaf(p.All, visit)
	case len(p.Any) > 0:
		eachLeaf(p.Any, visit)
	default:
		visit(p)
	}
}

// Name says in short what a part asks for.
func (p Part) Name() string {
	for _, name := range []string{p.File, p.Glob, p.Check, p.Git} {
		if name != "" {
			return name
		}
	}
	if p.Section == "" {
		return "what its rule asks for"
	}
	return document.QuoteHeading(p.Section)
}

// Key names what a part asks for: two parts with one key always have the same answer.
func (p Part) Key() string {
	with := make([]string, len(p.With))
	for i, w := range p.With {
		with[i] = w.Name + "=" + w.File
	}
	said := append(make([]string, 0, 16),
		p.Section, p.File, p.Glob, p.Check, p.Git, p.JQ, strings.Join(with, " "), p.Plan, p.Result,
		strconv.FormatBool(p.JSON), strconv.FormatBool(p.Required),
	)
	if p.Empty {
		said = append(said, "empty")
	}
	said = append(said, p.Untouched...)
	if len(p.Except) > 0 {
		said = append(append(said, "except"), p.Except...)
	}
	key := make([]byte, 0, 128+len(p.JQ))
	for i, one := range said {
		key = appendQuoted(append(key, "[ "[min(i, 1)]), one)
	}
	return string(append(key, ']'))
}

// Claim names all that a part asks for: two parts with one claim hold and fail together, wherever they are.
func (p Part) Claim() string {
	var below []string
	for _, one := range p.All {
		below = append(below, "all "+one.Claim())
	}
	for _, one := range p.Any {
		below = append(below, "any "+one.Claim())
	}
	return fmt.Sprintf("%s %q %q %s %t %s %t %q", p.Key(), p.Fields, p.Verdict, p.VerdictIn, p.Fresh, p.Since, p.Judges,
		below)
}

// appendQuoted is strconv.AppendQuote, and faster for text that has nothing to quote, as nearly all has.
func appendQuoted(key []byte, text string) []byte {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(key, text)
		}
	}
	return append(append(append(key, '"'), text...), '"')
}
