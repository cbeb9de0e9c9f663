// Package harness is how each agent program is called: data in, an argument list out. It starts nothing.
//
// It owns the file format of a harness and the building of argument lists.
// It does not own which harness a task uses (task), nor the launching (hook, tmux).
package harness

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
)

// Harness is one agent program, described by data.
type Harness struct {
	Name     string
	Program  string // what is looked for on PATH; the first word of the worker's command where the file does not say
	Provider string // whose limits its agents run into; the harness's name where the file does not say
	Version  string // of the program that the file was written for; empty where it does not say
	Run      string // when the file was last tried with the program: a date, or NeverRun
	Worker   Launch
	Reviewer Launch
	Env      []string       // KEY=value pairs that the program gets
	Unset    []string       // variables that it must not see
	Needs    [][]string     // names of variables, of each list one, without which it needs a login of its own
	Root     []string       // KEY=value pairs without which it does not run as root
	Ready    *regexp.Regexp // what the screen says while the program waits for input
	Busy     *regexp.Regexp // what it says while the program works
	Dialog   *regexp.Regexp // what it says while Enter would answer a question
	Limited  *regexp.Regexp // what a line of the screen says while the provider lets it do no more for now
	Refused  *regexp.Regexp // what a line says where its model refuses it, until a person has mended something
	Pause    time.Duration  // between typed text and Enter
	// SessionVariable is the variable in which the program tells its own commands the name of the agent's conversation,
	// where it chooses that itself.
	SessionVariable string
	Files           []File
	Exclude         []string // patterns that git must not see in the worktree
	Skills          string   // folder for skills, below the user's home
	// ProjectSkills is the folder in which the program looks for skills of one repository, below its top.
	ProjectSkills string
	Trust         string // what a person does once, so that the program does not stop at a question
}

// Launch holds the argument lists of one role.
type Launch struct {
	Command []Arg // full permissions
	Reduced []Arg // reduced permissions; Command serves where there is none
	Resume  []Arg // goes on with the session {session_id}
	// Sandboxed says that the program confines what it runs: its commands reach neither the record nor the terminal
	// server, and leave their requests in the task's folder.
	Sandboxed bool
}

// Arg is one element of an argument list, or a group that is left out as a whole when a placeholder in it is empty.
type Arg struct {
	Words []string
	Group bool
}

// UnknownVersion is the Version of a harness that was written from a manual which names none.
const UnknownVersion = "unknown"

// NeverRun is the Run of a harness that no one has tried with its program: its facts are those of a manual.
const NeverRun = "never"

// File is written into the worktree before the program starts, unless the repository has one there.
type File struct {
	Path    string
	Content string
}

// Placeholders of argument lists and variables.
const (
	Prompt     = "prompt"
	PromptFile = "prompt_file"
	Worktree   = "worktree"
	TaskDir    = "task_dir"
	GitDir     = "git_dir"
	OwnGitDir  = "worktree_git_dir"
	Home       = "home"
	Branch     = "branch"
	Effort     = "effort"
	Model      = "model"
	SessionID  = "session_id"
)

func placeholders() []string {
	return []string{Prompt, PromptFile, Worktree, TaskDir, GitDir, OwnGitDir, Home, Branch, Effort, Model, SessionID}
}

// For is the launch of a role: reviewers have their own, every other role is launched as the worker is.
func (h *Harness) For(role string) Launch {
	if role == task.RoleReviewer && len(h.Reviewer.Command) > 0 {
		return h.Reviewer
	}
	return h.Worker
}

// Argv builds the argument list for a role with the given permissions.
// Values are put in as they are, newlines and all, and are not looked at again.
func (h *Harness) Argv(role, permissions string, values map[string]string) []string {
	return fill(h.For(role).with(permissions), values)
}

// Resume builds the argument list that goes on with the conversation {session_id}.
func (h *Harness) Resume(role string, values map[string]string) []string {
	return fill(h.For(role).Resume, values)
}

// Resumes reports whether the program can go on with a conversation of its own, with the given permissions.
func (h *Harness) Resumes(role, permissions string) bool {
	launch := h.For(role)
	reduced := permissions == task.PermissionsReduced && len(launch.Reduced) > 0 // the list to go on has full ones
	return len(launch.Resume) > 0 && !reduced && (h.SessionVariable != "" || h.Converses(role, permissions))
}

// Converses reports whether the program keeps its conversation under the name {session_id}.
func (h *Harness) Converses(role, permissions string) bool {
	return slices.ContainsFunc(h.For(role).with(permissions), func(a Arg) bool { return a.names(SessionID) })
}

func (l Launch) with(permissions string) []Arg {
	if permissions == task.PermissionsReduced && len(l.Reduced) > 0 {
		return l.Reduced
	}
	return l.Command
}

func (a Arg) names(placeholder string) bool {
	return slices.ContainsFunc(a.Words, func(word string) bool { return strings.Contains(word, "{"+placeholder+"}") })
}

func fill(template []Arg, values map[string]string) []string {
	var argv []string
	for _, arg := range template {
		if arg.Group && hasEmpty(arg.Words, values) {
			continue
		}
		for _, word := range arg.Words {
			argv = append(argv, Expand(word, values))
		}
	}
	return argv
}

var braces = regexp.MustCompile(`\{[a-z_]+\}`)

func hasEmpty(words []string, values map[string]string) bool {
	for _, word := range words {
		for _, name := range braces.FindAllString(word, -1) {
			if values[strings.Trim(name, "{}")] == "" {
				return true
			}
		}
	}
	return false
}

// Variables are those that the program gets, with the values of the placeholders that they name.
func (h *Harness) Variables(values map[string]string) []string {
	var out []string
	for _, pair := range h.Env {
		out = append(out, Expand(pair, values))
	}
	return out
}

// Expand puts values in for the placeholders of one word. Other names in braces stay.
func Expand(word string, values map[string]string) string {
	return braces.ReplaceAllStringFunc(word, func(name string) string {
		if value, known := values[strings.Trim(name, "{}")]; known {
			return value
		}
		return name
	})
}

// Parse reads a harness file. The error is a yaml.Problems with all that is wrong.
func Parse(file string, text []byte) (*Harness, error) {
	r := reader{&yaml.Reader{File: file}}
	h := &Harness{}
	if root := r.Document(text); root != nil {
		r.harness(root, h)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if h.Program == "" {
		h.Program = h.Worker.Command[0].Words[0]
	}
	if h.Provider == "" {
		h.Provider = h.Name
	}
	return h, nil
}

// reader knows the keys of a harness file.
type reader struct{ *yaml.Reader }

func (r reader) harness(n *yaml.Node, h *Harness) {
	var checks []func() // of what depends on several keys
	launch := func(role string, into *Launch) func(*yaml.Node) {
		return func(n *yaml.Node) {
			*into = r.launch(n, role)
			checks = append(checks, func() { r.resume(n, *into, h.SessionVariable != "") })
		}
	}
	r.Mapping(n, "the harness", []yaml.Key{
		yaml.Must("name", func(n *yaml.Node) { h.Name = r.Name(n, "the harness's name") }),
		yaml.May("program", func(n *yaml.Node) { h.Program = r.Name(n, "program") }),
		yaml.May("provider", func(n *yaml.Node) { h.Provider = r.Name(n, "provider") }),
		yaml.May("version", func(n *yaml.Node) { h.Version = r.oneLine(n, "version") }),
		yaml.May("run", func(n *yaml.Node) { h.Run = r.date(n) }),
		yaml.May("needs", func(n *yaml.Node) {
			r.List(n, "needs", func(n *yaml.Node) { h.Needs = append(h.Needs, r.oneOf(n)) })
		}),
		yaml.May("root", func(n *yaml.Node) { h.Root = r.variables(n, "root") }),
		yaml.Must("worker", launch("worker", &h.Worker)),
		yaml.May("reviewer", launch("reviewer", &h.Reviewer)),
		yaml.May("env", func(n *yaml.Node) { h.Env = r.variables(n, "env") }),
		yaml.May("unset", func(n *yaml.Node) { h.Unset = r.words(n, "unset") }),
		yaml.May("ready", func(n *yaml.Node) { h.Ready = r.pattern(n, "ready") }),
		yaml.May("busy", func(n *yaml.Node) { h.Busy = r.pattern(n, "busy") }),
		yaml.May("dialog", func(n *yaml.Node) { h.Dialog = r.pattern(n, "dialog") }),
		yaml.May("limited", func(n *yaml.Node) { h.Limited = r.pattern(n, "limited") }),
		yaml.May("refused", func(n *yaml.Node) { h.Refused = r.pattern(n, "refused") }),
		yaml.May("pause_ms", func(n *yaml.Node) {
			h.Pause = time.Duration(r.Integer(n, "pause_ms", 0, 60_000)) * time.Millisecond
		}),
		yaml.May("session_variable", func(n *yaml.Node) {
			h.SessionVariable = r.variable(n, "session_variable")
		}),
		yaml.May("files", func(n *yaml.Node) {
			r.List(n, "files", func(n *yaml.Node) { h.Files = append(h.Files, r.file(n)) })
		}),
		yaml.May("exclude", func(n *yaml.Node) { h.Exclude = r.words(n, "exclude") }),
		yaml.May("skills", func(n *yaml.Node) { h.Skills = r.below(n, "skills", "the home folder") }),
		yaml.May("project_skills", func(n *yaml.Node) {
			h.ProjectSkills = r.below(n, "project_skills", "the repository")
		}),
		yaml.May("trust", func(n *yaml.Node) { h.Trust = r.Text(n, "trust") }),
	})
	for _, check := range checks {
		check()
	}
}

// Lacking are the lists of variables of which none is set: without one of each the program needs a login of its own,
// which no one else can see.
func (h *Harness) Lacking(set func(name string) bool) [][]string {
	return slices.DeleteFunc(slices.Clone(h.Needs), func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return Value(h.Env, name) != "" || set(name) })
	})
}

// resume reports a list to go on with a conversation that cannot be found again. told says that the program tells the
// conversation's name.
func (r reader) resume(n *yaml.Node, l Launch, told bool) {
	names := func(a Arg) bool { return a.names(SessionID) }
	chosen := slices.ContainsFunc(l.Command, names)
	switch {
	case len(l.Resume) == 0 || slices.ContainsFunc(l.Resume, names) && chosen != told:
	case told:
		r.Problem(yaml.PosOf(n), "resume", "found resume and session_variable, expected {%s} in resume and not in "+
			"command: the program chooses the conversation's name", SessionID)
	default:
		r.Problem(yaml.PosOf(n), "resume", "found resume, expected {%s} in it and in command, or session_variable: "+
			"only a conversation whose name is known can be found again", SessionID)
	}
}

// variable reads the name of a variable.
func (r reader) variable(n *yaml.Node, what string) string {
	name := r.Name(n, what)
	if name != "" && !variableName.MatchString(name) {
		r.Problem(yaml.PosOf(n), "value", "found %q as %s, expected the name of a variable", name, what)
	}
	return name
}

// oneOf reads the name of a variable, or a list of names of which one is enough.
func (r reader) oneOf(n *yaml.Node) []string {
	names := []string{n.Value}
	if n.Kind == yaml.SequenceNode {
		names = r.words(n, "needs")
	}
	for _, name := range names {
		if !variableName.MatchString(name) {
			r.Problem(yaml.PosOf(n), "value", "found %q in needs, expected the name of a variable", name)
		}
	}
	if len(names) == 0 {
		r.Problem(yaml.PosOf(n), "value", "found an empty list in needs, expected the names of variables")
	}
	return names
}

func (r reader) variables(n *yaml.Node, what string) []string {
	var out []string
	r.Pairs(n, what, func(name, value *yaml.Node) {
		out = append(out, name.Value+"="+r.oneLine(value, "a variable"))
	})
	return out
}

func (r reader) launch(n *yaml.Node, role string) Launch {
	var l Launch
	r.Mapping(n, role, []yaml.Key{
		yaml.Must("command", func(n *yaml.Node) { l.Command = r.args(n, "command") }),
		yaml.May("reduced", func(n *yaml.Node) { l.Reduced = r.args(n, "reduced") }),
		yaml.May("resume", func(n *yaml.Node) { l.Resume = r.args(n, "resume") }),
		yaml.May("sandboxed", func(n *yaml.Node) { l.Sandboxed = r.Boolean(n, "sandboxed") }),
	})
	return l
}

func (r reader) args(n *yaml.Node, what string) []Arg {
	var out []Arg
	r.List(n, what, func(n *yaml.Node) {
		if n.Kind == yaml.SequenceNode {
			out = append(out, Arg{Words: r.words(n, what), Group: true})
			return
		}
		out = append(out, Arg{Words: []string{r.word(n, what)}})
	})
	if len(out) == 0 || out[0].Group || out[0].Words[0] == "" {
		r.Problem(yaml.PosOf(n), "command", "found no program in %s, expected a list that begins with one", what)
	}
	return out
}

func (r reader) words(n *yaml.Node, what string) []string {
	var out []string
	r.List(n, what, func(n *yaml.Node) { out = append(out, r.word(n, what)) })
	return out
}

func (r reader) word(n *yaml.Node, what string) string {
	text := r.Text(n, what)
	for _, name := range braces.FindAllString(text, -1) {
		if !slices.Contains(placeholders(), strings.Trim(name, "{}")) {
			r.Problem(yaml.PosOf(n), "placeholder", "found the unknown placeholder %q in %s, %s",
				name, what, yaml.Expected(strings.Trim(name, "{}"), placeholders()))
		}
	}
	return text
}

func (r reader) oneLine(n *yaml.Node, what string) string {
	text := r.Text(n, what)
	if strings.ContainsAny(text, "\n\r\x00") {
		r.Problem(yaml.PosOf(n), "value", "found %q as %s, expected one line", text, what)
	}
	return text
}

func (r reader) date(n *yaml.Node) string {
	text := r.Text(n, "run")
	if _, err := time.Parse(time.DateOnly, text); err != nil && text != NeverRun {
		r.Problem(yaml.PosOf(n), "value", "found %q as run, expected a date like 2026-01-31, or %q", text, NeverRun)
	}
	return text
}

func (r reader) pattern(n *yaml.Node, what string) *regexp.Regexp {
	text := r.Text(n, what)
	pattern, err := regexp.Compile(text)
	if err != nil {
		r.Problem(yaml.PosOf(n), "pattern", "found %q as %s, expected a regular expression: %v", text, what, err)
	}
	return pattern
}

func (r reader) file(n *yaml.Node) File {
	var f File
	r.Mapping(n, "a file", []yaml.Key{
		yaml.Must("path", func(n *yaml.Node) { f.Path = r.Name(n, "path") }),
		yaml.Must("content", func(n *yaml.Node) { f.Content = r.Text(n, "content") }),
	})
	if strings.HasPrefix(f.Path, "/") || strings.Contains("/"+f.Path+"/", "/../") {
		r.Problem(yaml.PosOf(n), "value", "found the path %q, expected one inside the worktree", f.Path)
	}
	return f
}

// below reads the path of a folder inside another one.
func (r reader) below(n *yaml.Node, what, top string) string {
	path := r.oneLine(n, what)
	if strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~") || strings.Contains("/"+path+"/", "/../") {
		r.Problem(yaml.PosOf(n), "value", "found the path %q as %s, expected one below %s", path, what, top)
	}
	return path
}
