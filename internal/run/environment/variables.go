package environment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Variables are those that a person has set for the programs of all tasks, or of a project's. They are in one file
// that only its owner may read, and in no other. Those of a single task are in such a file of its own.
type Variables struct {
	Home  string // $ORANGE_HOME
	Locks locker // nil where they are only read
	task  string // the task whose own they are; empty for those of all tasks and of projects
}

// Task has the variables of a single task.
func (v Variables) Task(id string) Variables {
	v.task = id
	return v
}

// For has what is set for the programs of a task as NAME=VALUE, over what is set for every project what is its
// project's own, and over that what is the task's.
func (v Variables) For(project, id string) ([]string, error) {
	given, err := v.Of(project)
	if err != nil || id == "" || id != filepath.Base(id) {
		return given, err
	}
	own, err := v.Task(id).Of("")
	return harness.Layer(given, own), err
}

// Names are the names of what is set for a task alone.
func (v Variables) Names(id string) (names []string, err error) {
	own, err := v.Task(id).List()
	for _, one := range own {
		names = append(names, one.Name)
	}
	return names, err
}

// Drop forgets all variables of a task.
func (v Variables) Drop(ctx context.Context, id string) error {
	v = v.Task(id)
	if _, err := os.Lstat(v.file()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	release, err := v.Locks.Lock(ctx, "variables")
	if err != nil {
		return err
	}
	defer release()
	err = errors.Join(os.Remove(v.file()), v.dropHalves())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Tasks are the ids of those that have variables of their own.
func (v Variables) Tasks() ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(v.Task("x").file()))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var ids []string
	for _, entry := range entries {
		if id, is := strings.CutSuffix(entry.Name(), ".json"); is && !strings.HasPrefix(id, ".") {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// variable is one line of the file.
type variable struct {
	Project string  `json:"project,omitempty"` // empty for every project
	Name    string  `json:"name"`
	Value   *string `json:"value"`
}

// maxValue is how long a value may be: the system starts no program that has a variable of 128 KB.
const maxValue = 100 << 10

func (v Variables) file() string {
	if v.task == "" {
		return filepath.Join(v.Home, "env.json")
	}
	return filepath.Join(v.Home, "env", v.task+".json")
}

// Set sets variables, each given as NAME=VALUE, or as NAME for the value that it has where the person asks. A project's
// name is empty for every project. Where one cannot be set, none is.
func (v Variables) Set(ctx context.Context, project string, words []string) error {
	var set []variable
	for _, word := range words {
		name, value, given := strings.Cut(word, "=")
		if err := harness.CheckVariable(name); err != nil {
			return err
		}
		if !given {
			if value, given = proc.LookupEnv(ctx, name); !given {
				return task.Notef(task.ErrUsage, "cannot set %s: this shell has no variable of that name to take the "+
					"value from; export it, or say %s=VALUE", name, name)
			}
		}
		if why := unkeepable(value); why != "" {
			return task.Notef(task.ErrUsage, "cannot set %s: its value %s", name, why)
		}
		set = append(set, variable{project, name, &value})
	}
	return v.change(ctx, func(all []variable) ([]variable, error) {
		for _, one := range set {
			all = append(without(all, one.Project, one.Name), one)
		}
		return all, nil
	})
}

// unkeepable says what is wrong with a value; empty where it can be kept and given to a program.
func unkeepable(value string) string {
	switch {
	case len(value) > maxValue:
		return fmt.Sprintf("has %d bytes, and no program can be started with more than about %d in one variable",
			len(value), maxValue)
	case strings.ContainsRune(value, 0):
		return "holds a zero byte, which no variable can"
	case !utf8.ValidString(value):
		return "is no text in UTF-8; keep it in a file, and set a variable to the file's path"
	}
	return ""
}

func without(all []variable, project, name string) []variable {
	return slices.DeleteFunc(all, func(one variable) bool { return one.Project == project && one.Name == name })
}

// Unset forgets variables of every project, or of the one that is named. Where one is not set, none is forgotten.
func (v Variables) Unset(ctx context.Context, project string, names []string) error {
	return v.change(ctx, func(all []variable) ([]variable, error) {
		for _, name := range names {
			before := len(all)
			if all = without(all, project, name); len(all) == before {
				name, _, _ = strings.Cut(name, "=") // what follows may be a secret
				return nil, task.Notef(task.ErrNotFound, "no variable %q is set %s; %q lists what is", name,
					harness.Variable{Project: project}.For(), "orange env list")
			}
		}
		return all, nil
	})
}

// List has the names of all variables, those of every project first. No value leaves the file by it.
func (v Variables) List() ([]harness.Variable, error) {
	all, err := v.read()
	out := make([]harness.Variable, len(all))
	for i, one := range all {
		out[i] = harness.Variable{Name: one.Name, Project: one.Project}
	}
	return out, err
}

// Of has what is set for the programs of a project's tasks as NAME=VALUE, what is the project's own last.
func (v Variables) Of(project string) ([]string, error) {
	all, err := v.read()
	if err != nil {
		return nil, err
	}
	var every, own []string
	for _, one := range all {
		switch one.Project {
		case "":
			every = append(every, one.Name+"="+*one.Value)
		case project:
			own = append(own, one.Name+"="+*one.Value)
		}
	}
	return harness.Layer(every, own), nil
}

// change rewrites the file in one step, under its lock. A file that cannot be read stays as it is.
func (v Variables) change(ctx context.Context, change func([]variable) ([]variable, error)) error {
	release, err := v.Locks.Lock(ctx, "variables")
	if err != nil {
		return err
	}
	defer release()
	all, err := v.read()
	if err != nil {
		return err
	}
	if all, err = change(all); err != nil {
		return err
	}
	text, err := written(all)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(v.file()), task.PrivateFolder)
	}
	if err == nil {
		err = v.dropHalves()
	}
	if err == nil {
		err = proc.ReplaceFile(v.file(), text)
	}
	if err != nil {
		return fmt.Errorf("write the variables: %w", err)
	}
	return nil
}

// dropHalves removes what a process left that was killed while it wrote: it may hold what is to be forgotten now.
func (v Variables) dropHalves() error {
	dir := filepath.Dir(v.file())
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "."+filepath.Base(v.file())+".") {
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// written is the text of the file: a line for each variable, so that a message can name it.
func written(all []variable) ([]byte, error) {
	slices.SortFunc(all, func(a, b variable) int {
		return cmp.Or(strings.Compare(a.Project, b.Project), strings.Compare(a.Name, b.Name))
	})
	var lines []string
	for _, one := range all {
		line, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		lines = append(lines, "\n  "+string(line))
	}
	return []byte("[" + strings.Join(lines, ",") + "\n]\n"), nil
}

// read reads the file; nothing where there is none. What is wrong with it is reported by the line, and never with
// the text that is there.
func (v Variables) read() ([]variable, error) {
	text, err := proc.ReadSettings(v.file())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the variables: %w", err)
	}
	all, at, wrong := parse(text)
	if wrong == "" {
		return all, nil
	}
	line := 1 + bytes.Count(text[:at], []byte("\n"))
	if v.task != "" {
		return nil, task.Notef(task.ErrUsage, "cannot use the variables of task %s: %s:%d: %s; correct that line, or "+
			"move the file away: the task is then without them", v.task, v.file(), line, wrong)
	}
	return nil, task.Notef(task.ErrUsage, "cannot use the variables of %q: %s:%d: %s; correct that line, or move the "+
		"file away and set the variables again", "orange env", v.file(), line, wrong)
}

const aVariable = `{"name": "NAME", "value": "TEXT"}, which may also have a "project"`

// parse reads the file's text. What is wrong with it comes with its place; nothing is wrong where that is empty.
func parse(text []byte) (all []variable, at int, wrong string) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	next := func() int { // where the next word begins
		from := int(d.InputOffset())
		return from + len(text[from:]) - len(bytes.TrimLeft(text[from:], " \t\r\n,"))
	}
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return nil, 0, "found no list, expected [, a variable in each line, and ]"
	}
	for d.More() {
		at = next()
		var one variable
		if d.Decode(&one) != nil || one.Value == nil {
			return nil, at, "found something else, expected " + aVariable
		}
		if err := harness.CheckVariable(one.Name); err != nil {
			return nil, at, err.Error()
		}
		if why := unkeepable(*one.Value); why != "" {
			return nil, at, fmt.Sprintf("the value of %s %s", one.Name, why)
		}
		if len(without(slices.Clone(all), one.Project, one.Name)) < len(all) {
			return nil, at, fmt.Sprintf("found %s %s for the second time", one.Name,
				harness.Variable{Project: one.Project}.For())
		}
		all = append(all, one)
	}
	at = min(next(), max(0, len(text)-1))
	if _, err := d.Token(); err != nil {
		return nil, at, "found no end of the list, expected , and " + aVariable + ", or ]"
	}
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		return nil, bytes.LastIndex(text, rest), "found something behind the list, expected nothing"
	}
	return all, 0, ""
}
