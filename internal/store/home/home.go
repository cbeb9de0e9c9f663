// Package home is what a person has set up under $ORANGE_HOME: projects, workflows, harnesses and preferences.
//
// It owns where these files are and how a file of the person's wins over one that ships.
// It does not own what a workflow or a harness may say (workflow, harness), nor any task.
package home

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/proof/explore"
	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
)

// Keeper keeps the text of workflows for the tasks that they are pinned by.
type Keeper interface {
	SaveWorkflow(ctx context.Context, ref task.WorkflowRef, text []byte) error
	Workflow(ctx context.Context, digest string) ([]byte, error)
}

// Home is one $ORANGE_HOME. Every field but Check is required.
type Home struct {
	Dir       string
	Workflows fs.FS  // the workflows that ship
	Usual     []byte // the file of usual names
	Harnesses fs.FS  // the harnesses that ship
	Keeper    Keeper

	Check func(def *workflow.Definition, most int) explore.Report // proves a workflow; explore.Check where it is nil
	// Older counts the tasks that an earlier Orange left and that are not on record; nil where no one knows.
	Older func(ctx context.Context) (int, error)

	// Parsed are the workflows that were read, where several of a folder share them; nil where this one keeps its own.
	Parsed *Parsed

	own    Parsed
	proved sync.Map // what is known of workflows, by digest
	vast   sync.Map // the digests of those of which a person has heard that they are not proved
}

// Parsed are workflows by digest, as they were read: a text that a digest names never changes. It may be used by many
// goroutines.
type Parsed struct{ sync.Map }

func (h *Home) parsed() *Parsed { return cmp.Or(h.Parsed, &h.own) }

// Listed is one workflow or harness file that can be had.
type Listed struct {
	Name   string
	Source string // its path, or "built in"
	Hides  bool   // a file of the person's that hides one that ships
	Text   []byte
	Err    error // why the file cannot be read; the others can all the same
}

const builtIn = "built in"

// files lists the YAML files of a kind by name: the person's own, and those that ship and are not hidden by one.
func (h *Home) files(folder string, shipped fs.FS) ([]Listed, error) {
	found, err := builtIns(shipped)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(h.Dir, folder)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list %q: %w", dir, err)
	}
	for _, entry := range entries {
		name, isYAML := strings.CutSuffix(entry.Name(), ".yml")
		if !isYAML || strings.HasPrefix(name, ".") {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		text, err := proc.ReadSettings(path)
		if err != nil {
			err = fmt.Errorf("read %q: %w", path, err)
		}
		_, hides := found[name]
		found[name] = Listed{Name: name, Source: path, Hides: hides, Text: text, Err: err}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Listed) int { return strings.Compare(a.Name, b.Name) }), nil
}

// builtIns are the files that ship, by name.
func builtIns(shipped fs.FS) (map[string]Listed, error) {
	names, err := fs.Glob(shipped, "*.yml")
	if err != nil {
		return nil, fmt.Errorf("list what ships: %w", err)
	}
	found := map[string]Listed{}
	for _, file := range names {
		text, err := fs.ReadFile(shipped, file)
		if err != nil {
			return nil, fmt.Errorf("read what ships: %w", err)
		}
		name := strings.TrimSuffix(file, ".yml")
		found[name] = Listed{Name: name, Source: builtIn, Text: text}
	}
	return found, nil
}

// ListWorkflows lists the workflows that a task can be created under.
func (h *Home) ListWorkflows() ([]Listed, error) { return h.files("workflows", h.Workflows) }

// ListHarnesses lists the harnesses that a task can be given, those that are wrong too, with where their programs are
// on a PATH.
func (h *Home) ListHarnesses(path string) ([]harness.Choice, error) {
	files, err := h.files("harnesses", h.Harnesses)
	if err != nil {
		return nil, err
	}
	out := make([]harness.Choice, len(files))
	for i, f := range files {
		out[i] = harness.Choice{Name: f.Name, Source: f.Source, Hides: f.Hides, Text: string(f.Text)}
		one, err := parseHarness(f)
		if problems, several := errors.AsType[yaml.Problems](err); several {
			err = problems[0]
		}
		if err != nil {
			out[i].Problem = err.Error()
			continue
		}
		out[i].Program, out[i].Version, out[i].Run = one.Program, one.Version, one.Run
		if path, err := proc.Find(one.Program, path); err == nil {
			out[i].Path = path
		}
	}
	return out, nil
}

// ParseWorkflow reads a workflow file's text. The error is a yaml.Problems.
func (h *Home) ParseWorkflow(file string, text []byte) (*workflow.Definition, error) {
	usual, err := workflow.ParseUsual("usual.yml", h.Usual)
	if err != nil {
		return nil, fmt.Errorf("read the usual names: %w", err)
	}
	return workflow.Parse(file, text, usual)
}

// Read reads a listed workflow. The error is a yaml.Problems, or why the file cannot be read.
func (h *Home) Read(l Listed) (*workflow.Definition, error) {
	file := l.Source
	if file == builtIn {
		file = l.Name + ".yml"
	}
	if l.Err != nil {
		return nil, l.Err
	}
	return h.ParseWorkflow(file, l.Text)
}

// CheckWorkflow reads a file, or a workflow by name where there is no such file.
func (h *Home) CheckWorkflow(fileOrName string) (*workflow.Definition, error) {
	text, err := proc.ReadSettings(fileOrName)
	if errors.Is(err, os.ErrNotExist) && filepath.Base(fileOrName) == fileOrName {
		def, _, err := h.FindWorkflow(fileOrName)
		if err == nil {
			err = nameProblem(def)
		}
		return def, err
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, task.Notef(task.ErrNotFound, "there is no file %q", fileOrName)
	}
	if err != nil {
		return nil, task.Notef(task.ErrUsage, "cannot read the workflow: %v", err)
	}
	def, err := h.ParseWorkflow(fileOrName, text)
	if at, unknown := filepath.Abs(filepath.Dir(fileOrName)); err == nil && unknown == nil &&
		at == filepath.Join(h.Dir, "workflows") {
		return def, nameProblem(def)
	}
	return def, err
}

func nameProblem(def *workflow.Definition) error {
	if wrong := def.Misnamed(); wrong != nil {
		return wrong
	}
	return nil
}

// FindWorkflow finds a workflow by name, with its text.
func (h *Home) FindWorkflow(name string) (*workflow.Definition, Listed, error) {
	all, err := h.ListWorkflows()
	if err != nil {
		return nil, Listed{}, err
	}
	var names []string
	for _, l := range all {
		if l.Name == name {
			def, err := h.Read(l)
			return def, l, err
		}
		names = append(names, l.Name)
	}
	return nil, Listed{}, task.Notef(task.ErrNotFound, "cannot find the workflow %q: %s", name,
		yaml.Expected(name, names))
}

// Named is the workflow of that name as it is now, kept for the tasks that it will be pinned by.
// One with findings is a task.ErrUsage where these refuse it, and one that cannot keep the project's promise. One with
// another name than its file's, or with a promise of its own that it does not keep, is a yaml.Problems. News are what a
// person should hear of it, once.
func (h *Home) Named(ctx context.Context, name string, of task.Project) (_ *workflow.Definition, news []string,
	err error) {
	def, listed, err := h.usable(name)
	if err != nil {
		return nil, news, err
	}
	if news, err = h.prove(def, of); err != nil {
		return nil, news, err
	}
	ref := def.Ref()
	if err := h.keep(ref.Digest, listed.Text); err != nil {
		return nil, news, err
	}
	if err := h.Keeper.SaveWorkflow(ctx, ref, listed.Text); err != nil {
		return nil, news, err
	}
	h.parsed().Store(name+" "+def.Digest, def)
	return def, news, nil
}

// Present is the workflow that Named would keep. It keeps nothing, and proves nothing.
func (h *Home) Present(name string) (*workflow.Definition, error) {
	def, _, err := h.usable(name)
	return def, err
}

// Tried is the workflow that Named would keep for the tasks of a project, or the error of Named. It keeps nothing, and
// notes nothing.
func (h *Home) Tried(name string, of task.Project) (*workflow.Definition, error) {
	def, _, err := h.usable(name)
	if err == nil {
		_, _, err = h.judge(def, of)
	}
	return def, err
}

// usable is a workflow of that name under which tasks may be created, and its text.
func (h *Home) usable(name string) (*workflow.Definition, Listed, error) {
	def, listed, err := h.FindWorkflow(name)
	if err == nil {
		err = nameProblem(def)
	}
	if err != nil {
		return nil, Listed{}, err
	}
	return def, listed, nil
}

// Pinned is the very workflow that a task was created under, regardless of what its file contains now. It is
// parsed once. A text that is not the one with the digest is never used.
func (h *Home) Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	if known, there := h.parsed().Load(ref.Name + " " + ref.Digest); there {
		return known.(*workflow.Definition), nil
	}
	text, err := h.Keeper.Workflow(ctx, ref.Digest)
	if errors.Is(err, task.ErrNotFound) {
		text, err = h.recover(ctx, ref)
	}
	if err != nil {
		return nil, err
	}
	if found := digestOf(text); found != ref.Digest {
		return nil, fmt.Errorf("cannot use the workflow %q with the digest %q, to which tasks are pinned: "+
			"found a text with the digest %q on record: "+
			"the database was changed by other hands; bring orange.db back from a backup, or move it away and "+
			"run %q, which takes the copy at %q",
			ref.Name, ref.Digest, found, "orange doctor --rebuild", h.KeptPath(ref.Digest))
	}
	def, err := h.ParseWorkflow(ref.Name+".yml", text)
	if err == nil {
		h.parsed().Store(ref.Name+" "+ref.Digest, def)
	}
	return def, err
}

// Harness finds a harness by name. Files of other names may be wrong: they do not matter here.
func (h *Home) Harness(name string) (*harness.Harness, error) {
	files, err := h.files("harnesses", h.Harnesses)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		if f.Name == name {
			return parseHarness(f)
		}
		names = append(names, f.Name)
	}
	return nil, task.Notef(task.ErrUsage, "cannot use the harness %q: it is not known, %s", name,
		yaml.Expected(name, names))
}

func parseHarness(f Listed) (*harness.Harness, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	one, err := harness.Parse(f.Source, f.Text)
	if err == nil && one.Name != f.Name {
		err = task.Notef(task.ErrUsage, "%s:1:1: found the name %q, expected %q as the file is called", f.Source,
			one.Name, f.Name)
	}
	return one, err
}

// Config is what a person prefers; config.yml may leave out anything.
type Config struct {
	Harness       string
	ReviewHarness string
	TmuxConfig    string // a tmux configuration file whose keys are wanted in sessions
	// a program with its arguments that tells the person something; {message} and {task} are put in
	Notify       []string
	StalledAfter time.Duration // how long an agent may do nothing before its task is marked; 0 where nothing is said
	Quiet        Quiet
	NoMonitor    bool   // no command starts a monitor
	Strict       bool   // findings refuse a workflow
	Resume       string // what becomes of agents that a reboot has ended: record.ResumeAlways where nothing is said
}

// Quiet are the signals of the dashboard that a person switched off.
type Quiet struct{ Bell, Title, Notification bool }

// duration is a time such as 15m.
func duration(r *yaml.Reader, n *yaml.Node) time.Duration {
	text := r.Text(n, "stalled_after")
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		r.Problem(yaml.PosOf(n), "duration", "found %q as stalled_after, expected a time such as 15m or 2h", text)
	}
	return d
}

// quiet reads which signals are off.
func quiet(r *yaml.Reader, n *yaml.Node) (q Quiet) {
	off := func(name string, is *bool) yaml.Key {
		return yaml.May(name, func(n *yaml.Node) { *is = !r.Boolean(n, name) })
	}
	r.Mapping(n, "signals", []yaml.Key{off("bell", &q.Bell), off("title", &q.Title),
		off("notification", &q.Notification)})
	return q
}

// ConfigText is the text of config.yml, empty where there is none, and the name of that file.
func (h *Home) ConfigText() (name string, text []byte, err error) {
	name = "config.yml"
	text, err = proc.ReadSettings(filepath.Join(h.Dir, name))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return name, text, err
}

// Config reads config.yml. None is an empty one.
func (h *Home) Config() (Config, error) {
	path := filepath.Join(h.Dir, "config.yml")
	text, err := proc.ReadSettings(path)
	if errors.Is(err, os.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read %q: %w", path, err)
	}
	var c Config
	r := &yaml.Reader{File: path}
	if root := r.Document(text); root != nil {
		r.Mapping(root, "the configuration", []yaml.Key{
			yaml.May("harness", func(n *yaml.Node) { c.Harness = r.Text(n, "harness") }),
			yaml.May("review_harness", func(n *yaml.Node) { c.ReviewHarness = r.Text(n, "review_harness") }),
			yaml.May("tmux_config", func(n *yaml.Node) { c.TmuxConfig = r.Text(n, "tmux_config") }),
			yaml.May("notify", func(n *yaml.Node) {
				r.List(n, "notify", func(n *yaml.Node) { c.Notify = append(c.Notify, r.Text(n, "a word of notify")) })
			}),
			// the dashboard reads them, and says what is wrong with them: no other command needs them
			yaml.May("keys", func(*yaml.Node) {}), yaml.May("theme", func(*yaml.Node) {}),
			yaml.May("stalled_after", func(n *yaml.Node) { c.StalledAfter = duration(r, n) }),
			yaml.May("monitor", func(n *yaml.Node) {
				c.NoMonitor = r.OneOf(n, "monitor", "auto", "never") == "never"
			}),
			yaml.May("resume", func(n *yaml.Node) {
				c.Resume = r.OneOf(n, "resume", record.ResumeAlways, record.ResumeAsk, record.ResumeNever)
			}),
			yaml.May("strict", func(n *yaml.Node) { c.Strict = r.Boolean(n, "strict") }),
			yaml.May("signals", func(n *yaml.Node) { c.Quiet = quiet(r, n) }),
		})
	}
	return c, r.Err()
}

// Resume is what becomes of agents that have ended with their machine, in record's words.
func (h *Home) Resume() (string, error) {
	c, err := h.Config()
	return cmp.Or(c.Resume, record.ResumeAlways), err
}
