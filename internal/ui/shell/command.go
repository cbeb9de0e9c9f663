package shell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
)

// command is one slash command.
type command struct {
	text  string // "/review plan"
	args  string // what comes behind it, for people
	about string
	flags []string // those that it takes, each with a value
	takes int      // how many words it takes besides
	// hidden is what the task cannot be asked for now. It is not offered; the refusal of who asks says what is missing.
	hidden bool
	run    func(ctx context.Context, asks Asks, c call) error
}

// call is a command with what was said behind it.
type call struct {
	words []string
	flags map[string]string
}

// Flags of commands.
const (
	flagReason   = "reason"
	flagOverride = "override"
	flagTo       = "to"
)

// own are the commands that the shell has in every workflow. A workflow's command of the same name does not hide one.
func own() []command {
	return []command{
		{text: "/next", args: `[--override "why"] [--to STATE]`,
			about: "make the one move that the evidence supports; an override makes one in spite of its conditions",
			flags: []string{flagOverride, flagTo, flagReason}, run: next},
		{text: "/redo", args: "STATE [--reason \"why\"]",
			about: "take the task back to a state, and have it done again", flags: []string{flagReason}, takes: 1,
			run: func(ctx context.Context, asks Asks, c call) error {
				return asks.Redo(ctx, task.Status(c.words[0]), c.flags[flagReason])
			}},
		{text: "/status", about: "the state of the task, and the open moves", run: show("status")},
		{text: "/why", about: "every move out of here: open, or what is missing", run: show("why")},
		{text: "/history", about: "what happened, who asked, and what it rested on", run: show("history")},
		{text: "/help", about: "these words"},
		{text: "/quit", about: "leave; so does the end of the input (Ctrl-D)"},
	}
}

func show(what string) func(context.Context, Asks, call) error {
	return func(ctx context.Context, asks Asks, _ call) error { return asks.Show(ctx, what) }
}

func next(ctx context.Context, asks Asks, c call) error {
	why, override := c.flags[flagOverride]
	if override && strings.TrimSpace(why) == "" {
		return usage("an override needs a reason: /next --override \"why\"")
	}
	if !override {
		why = c.flags[flagReason]
	}
	return asks.Next(ctx, task.Status(c.flags[flagTo]), override, why)
}

// at is where a task is, with its workflow and the states that the one who asks may have it moved to.
type at struct {
	task task.Task
	def  *workflow.Definition
	open []task.Status
}

// words are the moves that the command line has a word for, in the order of a task's life.
func words() []string {
	return []string{workflow.MoveSpawn, workflow.MoveComplete, workflow.MoveStuck, workflow.MoveMerge,
		workflow.MoveCancel}
}

// commands are those of the workflow, in its order, the moves out of the task's status by their words and by the names
// of the states that they lead to, and the shell's own. Of those with the same text the shell's own counts, then the
// workflow's.
func commands(here at) []command {
	var all []command
	add := func(c command) {
		same := func(other command) bool { return other.text == c.text }
		if !slices.ContainsFunc(own(), same) && !slices.ContainsFunc(all, same) {
			all = append(all, c)
		}
	}
	for _, declared := range here.def.Commands {
		add(here.leading(declared.Text, declared.To))
	}
	for _, word := range words() {
		to, _, err := decide.MoveTarget(here.def, here.task, word)
		if err == nil && slices.Contains(here.open, to) {
			c := here.leading("/"+word, to)
			c.run = func(ctx context.Context, asks Asks, c call) error {
				return asks.Move(ctx, word, c.flags[flagReason])
			}
			add(c)
		}
	}
	for _, to := range here.open {
		add(here.leading("/"+string(to), to))
	}
	for i := range here.def.States {
		c := here.leading("/"+string(here.def.States[i].Name), here.def.States[i].Name)
		c.hidden = true
		add(c)
	}
	return append(all, own()...)
}

// leading is the command that asks for a move to a state.
func (here at) leading(text string, to task.Status) command {
	state, _ := here.def.State(to)
	return command{
		text: text, args: `[--reason "why"]`,
		about: strings.TrimSpace("-> " + string(to) + "  " + state.About), flags: []string{flagReason},
		run: func(ctx context.Context, asks Asks, c call) error {
			return asks.Go(ctx, to, c.flags[flagReason])
		},
	}
}

// offered are the commands that help and completion have.
func offered(all []command) []command {
	return slices.DeleteFunc(slices.Clone(all), func(c command) bool { return c.hidden })
}

// find finds the command that words begin with: two of them may name one. What comes behind it is read by what it
// takes.
func find(all []command, words []string) (command, call, error) {
	for n := min(2, len(words)); n > 0; n-- {
		text := strings.Join(words[:n], " ")
		at := slices.IndexFunc(all, func(c command) bool { return c.text == text })
		if at >= 0 {
			said, err := all[at].read(words[n:])
			return all[at], said, err
		}
	}
	var names []string
	for _, c := range all {
		names = append(names, c.text)
	}
	guess := cmp.Or(yaml.Guess(strings.Join(words[:min(2, len(words))], " "), names), yaml.Guess(words[0], names))
	return command{}, call{}, usage("there is no command %q%s (/help lists them)", words[0], guess)
}

// read reads what was said behind a command.
func (c command) read(words []string) (call, error) {
	said := call{flags: map[string]string{}}
	for i := 0; i < len(words); i++ {
		name, is := strings.CutPrefix(words[i], "--")
		if !is || name == "" {
			said.words = append(said.words, words[i])
			continue
		}
		name, value, has := strings.Cut(name, "=")
		if !slices.Contains(c.flags, name) {
			return said, usage("%s has no --%s; it is called so: %s", c.text, name, c.usage())
		}
		if !has {
			if i++; i == len(words) {
				return said, usage("--%s needs a value; %s is called so: %s", name, c.text, c.usage())
			}
			value = words[i]
		}
		said.flags[name] = value
	}
	if len(said.words) != c.takes {
		found := "nothing"
		if len(said.words) > 0 {
			found = fmt.Sprintf("%q", said.words)
		}
		return said, usage("found %s behind %s, expected: %s; quote words with blanks", found, c.text, c.usage())
	}
	return said, nil
}

func (c command) usage() string { return strings.TrimSpace(c.text + " " + c.args) }

// complete are the lines that a beginning can become, all with a blank where something may follow.
func complete(here at, line string) []string {
	var out []string
	all := offered(commands(here))
	for _, c := range all {
		whole := c.text
		if c.args != "" {
			whole += " "
		}
		if strings.HasPrefix(whole, line) && whole != line {
			out = append(out, whole)
		}
	}
	for _, before := range []string{"/redo ", "/next --to "} {
		begun, is := strings.CutPrefix(line, before)
		if !is {
			continue
		}
		for _, name := range targets(here.def, before) {
			if strings.HasPrefix(name, begun) && name != begun {
				out = append(out, before+name)
			}
		}
	}
	for _, c := range all {
		begun, is := strings.CutPrefix(line, c.text+" ")
		if !is || !strings.HasPrefix(begun, "-") {
			continue
		}
		for _, flag := range c.flags {
			if whole := "--" + flag + " "; strings.HasPrefix(whole, begun) && whole != begun {
				out = append(out, c.text+" "+whole)
			}
		}
	}
	return out
}

// targets are the states that a line may name there.
func targets(def *workflow.Definition, before string) []string {
	var out []string
	if strings.HasPrefix(before, "/redo") {
		for _, s := range def.Redo {
			out = append(out, s.Name)
		}
		return out
	}
	for _, s := range def.States {
		out = append(out, string(s.Name))
	}
	return out
}
