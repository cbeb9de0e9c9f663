package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"orange/internal/rules/workflow"
)

func movesOf(d *workflow.Definition) []move {
	var out []move
	for _, t := range d.Transitions {
		out = append(out, move{from: t.From, to: t.To, label: clean(terms(t))})
	}
	return out
}

// automatic are the moves that the workflow makes by itself: those of exit rules, timeouts and
// send_back.
func automatic(d *workflow.Definition) []move {
	var out []move
	for _, rule := range d.Exit.Rules {
		why := "agent ends"
		if rule.HasArtifact != nil {
			why += ": " + proof(*rule.HasArtifact)
		}
		if rule.Action == workflow.ActionCrash {
			why = plural(rule.StuckAfter, "crash", "crashes")
		}
		if rule.Then != "" {
			out = append(out, move{rule.Status, rule.Then, clean(why), true})
		}
		for _, arm := range rule.ThenWhen {
			out = append(out, move{rule.Status, arm.Then, clean(inList(why, guards(arm.When))), true})
		}
	}
	for _, s := range d.States {
		if s.Timeout.Then != "" {
			late := "after " + workflow.Duration(overdueAfter(s.Timeout.After))
			out = append(out, move{s.Name, s.Timeout.Then, late, true})
		}
		if s.Refused.Then != "" {
			out = append(out, move{s.Name, s.Refused.Then, plural(s.Refused.Most, "refusal", "refusals"), true})
		}
		for _, rule := range s.SendBack {
			out = append(out, move{s.Name, rule.Then, clean(sentBack(rule)), true})
		}
	}
	return out
}

// sentBack says in short what a rule that sends back waits for.
func sentBack(rule workflow.SendBack) string {
	on := make([]string, len(rule.On))
	for i, word := range rule.On {
		on[i] = strings.ReplaceAll(word, "_", " ")
	}
	return inList(strings.Join(on, " or "), guards(rule.When))
}

// overdueAfter is when a timeout leads on: at one and a half of its time.
func overdueAfter(seconds int) time.Duration { return time.Duration(seconds) * time.Second * 3 / 2 }

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// terms says in short who may take a transition, and on what.
func terms(t workflow.Transition) string {
	who := "anyone"
	if len(t.By) > 0 {
		who = strings.Join(t.By, ", ")
	}
	for i, n := range t.OtherThan {
		who += []string{", other than ", " or "}[min(i, 1)] + n.Name
	}
	var on []string
	for _, p := range t.Gate {
		on = append(on, proof(p))
	}
	on = append(on, guards(t.When))
	if len(t.CameFrom) > 0 {
		names := make([]string, len(t.CameFrom))
		for i, s := range t.CameFrom {
			names[i] = string(s)
		}
		on = append(on, "came from "+strings.Join(names, " or "))
	}
	if t.Failure {
		on = append(on, "on failure")
	}
	if t.Reason {
		on = append(on, "with a reason")
	}
	if t.Override {
		on = append(on, "or override")
	}
	if conditions := inList(on...); conditions != "" {
		return who + ": " + conditions
	}
	return who
}

func guards(all []workflow.Guard) string {
	texts := make([]string, len(all))
	for i, g := range all {
		texts[i] = g.String()
	}
	return inList(texts...)
}

func inList(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", ")
}

// proof says in short what a gate's part looks at.
func proof(p workflow.Part) string {
	text := cmp.Or(p.Section, p.File, p.Glob)
	switch {
	case text != "":
	case p.Check != "":
		text = "check " + p.Check
	case p.Git != "":
		text = "git " + p.Git
	case len(p.All) > 0:
		text = proofs(p.All, " and ")
	case len(p.Any) > 0:
		text = proofs(p.Any, " or ")
	}
	if p.Verdict != "" {
		text += " " + p.Verdict
	}
	if p.Result == workflow.CheckFailed {
		text += " " + p.Result
	}
	if p.JQ != "" {
		text += " (jq)"
	}
	return text
}

func proofs(parts []workflow.Part, between string) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = proof(p)
		if len(p.All)+len(p.Any) > 1 {
			texts[i] = "(" + texts[i] + ")"
		}
	}
	return strings.Join(texts, between)
}

// clean makes one line of a text from a file; what cannot be printed is shown as such.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
	return strings.TrimSpace(text)
}

const longest = 80

// short cuts what is very long, and says where there is nothing: Mermaid cannot read an empty name.
func short(text string) string {
	if text == "" {
		return "(no name)"
	}
	if letters := []rune(text); len(letters) > longest {
		return string(letters[:longest-1]) + "…"
	}
	return text
}
