// Package provider is a model provider for tests: it answers agent programs as a script says, on loopback.
//
// It owns the script, the protocols of the programs that the tests start, and a log of what they asked.
// It does not own the programs: who starts one tells it where the provider is.
package provider

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Play is a script: what is answered to which message. It is read by Parse.
type Play struct{ rules []rule }

// rule is what follows a message of the user that matches.
type rule struct {
	match *regexp.Regexp
	steps []step
}

// step is one answer. Exactly one of run, say, limit and hang is there.
type step struct {
	after  time.Duration // the answer takes so long
	ends   time.Duration // it is refused as by limit until so long after it was first asked for
	run    string        // a command for the program's own shell tool
	say    string
	limit  time.Duration // refused with 429: the user may do no more for so long
	hang   bool          // no answer ever comes
	status int           // refused with this status; of a limit 429
}

// Parse reads a script of lines:
//
//	on REGEXP               a rule: the newest message of the user that matches the rule of any line like this
//	[after DURATION] STEP   an answer that takes a while
//	[limited DURATION] STEP an answer that is refused as by limit, until so long after it was first asked for
//	run COMMAND             the program shall run the command, in which {1} is the first group of the rule's REGEXP
//	say TEXT                the end of the turn
//	limit DURATION          429: the user has reached a limit that ends after the time
//	fail STATUS             any other refusal
//	hang                    no answer ever comes
//
// Empty lines and lines that begin with # are for readers.
func Parse(text string) (Play, error) {
	var p Play
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if pattern, found := strings.CutPrefix(line, "on "); found {
			match, err := regexp.Compile("(?s)" + pattern)
			if err != nil {
				return Play{}, fmt.Errorf("line %d: %w", i+1, err)
			}
			p.rules = append(p.rules, rule{match: match})
			continue
		}
		if len(p.rules) == 0 {
			return Play{}, fmt.Errorf("line %d: found %q before the first rule", i+1, line)
		}
		s, err := parseStep(line)
		if err != nil {
			return Play{}, fmt.Errorf("line %d: %w", i+1, err)
		}
		last := &p.rules[len(p.rules)-1]
		last.steps = append(last.steps, s)
	}
	return p, nil
}

func parseStep(line string) (step, error) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	var s step
	var err error
	switch word {
	case "after", "limited":
		text, what, _ := strings.Cut(rest, " ")
		if s, err = parseStep(strings.TrimSpace(what)); err != nil {
			return step{}, err
		}
		into := &s.after
		if word == "limited" {
			into = &s.ends
		}
		*into, err = time.ParseDuration(text)
	case "run":
		s.run = rest
	case "say":
		s.say = rest
	case "limit":
		s.status = 429
		s.limit, err = time.ParseDuration(rest)
	case "fail":
		s.status, err = strconv.Atoi(rest)
	case "hang":
		s.hang = true
	default:
		err = fmt.Errorf("found %q, expected on, after, limited, run, say, limit, fail or hang", line)
	}
	return s, err
}

// answer is the answer to a conversation, and where it was found: the rule's number from 1 and the step's from 1.
// It depends on nothing else, so a request that comes again gets the same answer, unless a limit has ended meanwhile.
func (p Play) answer(c conversation) (s step, rule, number int) {
	if len(c.tools) == 0 {
		return step{say: "A title"}, 0, 0 // it wants a name or a summary of the conversation
	}
	results := 0
	for i := len(c.turns) - 1; i >= 0; i-- {
		if c.turns[i].result {
			results++
			continue
		}
		n := p.rule(c.turns[i].text)
		switch {
		case n == 0:
		case results < len(p.rules[n-1].steps):
			s := p.rules[n-1].steps[results]
			for i, group := range p.rules[n-1].match.FindStringSubmatch(c.turns[i].text) {
				s.run = strings.ReplaceAll(s.run, "{"+strconv.Itoa(i)+"}", group)
			}
			return s, n, results + 1
		default:
			return step{say: "Nothing is left to do."}, n, results + 1
		}
	}
	return step{say: "No rule matches."}, 0, 0
}

// rule is the number of the rule, from 1, that a message of the user matches; 0 if none.
func (p Play) rule(message string) int {
	return 1 + slices.IndexFunc(p.rules, func(r rule) bool { return r.match.MatchString(message) })
}

// before are the rules of the user's messages before the one that is answered.
func (p Play) before(c conversation) []int {
	var all []int
	for _, t := range c.turns {
		if n := p.rule(t.text); n != 0 && !t.result {
			all = append(all, n)
		}
	}
	return all[:max(0, len(all)-1)]
}

// added is what Claude Code and Copilot add by themselves to what the user says.
var added = regexp.MustCompile(`(?s)<(?:system-reminder|current_datetime)>.*?</(?:system-reminder|current_datetime)>`)

// said is a conversation with what the user said alone. A message that only a program wrote stays where a rule is about
// it, as what a hook at the end of a turn says.
func (p Play) said(c conversation) conversation {
	c.turns = slices.DeleteFunc(slices.Clone(c.turns), func(t turn) bool {
		return !t.result && strings.TrimSpace(added.ReplaceAllString(t.text, "")) == "" && p.rule(t.text) == 0
	})
	for i, t := range c.turns {
		if own := strings.TrimSpace(added.ReplaceAllString(t.text, "")); !t.result && own != "" {
			c.turns[i].text = own
		}
	}
	return c
}

// conversation is what a request holds, in whatever protocol.
type conversation struct {
	tools []tool
	turns []turn // of the user, and the results of tools; what the model said is left out
}

type turn struct {
	result bool
	text   string
}

// tool is one that the program offers, with the schema of its arguments.
type tool struct {
	name   string
	schema schema
}

type schema struct {
	Type       any               `json:"type"` // a word, or a list of words
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
}

func (s schema) is(word string) bool {
	return strings.Contains(strings.ToLower(fmt.Sprint(s.Type)), word)
}

// call is a call of the program's shell tool.
func (c conversation) call(command string) (name string, arguments map[string]any, err error) {
	for _, t := range c.tools {
		switch strings.ToLower(t.name) {
		case "bash", "shell", "exec_command", "shell_command", "run_shell_command":
			return t.name, t.arguments(command), nil
		}
	}
	return "", nil, fmt.Errorf("the program offers no shell among its %d tools", len(c.tools))
}

// patience is how long a tool that has such an argument waits for a command, in milliseconds.
const patience = 60_000

func (t tool) arguments(command string) map[string]any {
	out := map[string]any{}
	for _, name := range t.schema.Required {
		switch property := t.schema.Properties[name]; {
		case property.is("number"), property.is("integer"):
			out[name] = patience
		case property.is("boolean"):
			out[name] = false
		default:
			out[name] = "a step of the script"
		}
	}
	if _, known := t.schema.Properties["yield_time_ms"]; known {
		out["yield_time_ms"] = patience
	}
	for _, name := range []string{"command", "cmd"} {
		switch property, known := t.schema.Properties[name]; {
		case known && property.is("array"):
			out[name] = []string{"sh", "-c", command}
		case known:
			out[name] = command
		}
	}
	return out
}
