package home

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
)

// MakeFolder makes the folder of a home where it is missing. The error says what is in its place.
func MakeFolder(dir string) error {
	if to, err := os.Readlink(dir); err == nil {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return task.Notef(task.ErrUsage, "cannot use %q as ORANGE_HOME: it is a link to %q, which is not "+
				"there; make that folder, or set ORANGE_HOME to another path", dir, to)
		}
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return task.Notef(task.ErrUsage, "cannot use %q as ORANGE_HOME: it is a file, expected a folder; move "+
			"it away, or set ORANGE_HOME to another path", dir)
	}
	if isSource(dir) {
		return task.Notef(task.ErrUsage, "cannot use %q as ORANGE_HOME: it holds the source of Orange, whose "+
			"workflows and harnesses would be taken for yours; move the source to another folder, or set "+
			"ORANGE_HOME to one", dir)
	}
	if err := os.MkdirAll(dir, task.PrivateFolder); err != nil {
		return fmt.Errorf("cannot make ORANGE_HOME: %w", err)
	}
	return nil
}

// isSource reports whether a folder is a checkout of this program and no home yet: "git clone" in a home folder puts
// one where the home is by default. One that has a record was a home already, and stays one.
func isSource(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, "cmd", "orange", "main.go")); err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "orange.db"))
	return errors.Is(err, os.ErrNotExist)
}

// CheckRecord refuses a home whose tasks have histories and whose record is lost: a new one would say that there
// are no tasks.
func CheckRecord(dir, record string) error {
	info, err := os.Stat(record)
	if err == nil && info.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look at the record: %w", err)
	}
	tasks := filepath.Join(dir, "tasks")
	files, err := filepath.Glob(filepath.Join(tasks, "*", "*", "history.jsonl"))
	if err != nil {
		return err
	}
	histories := 0
	for _, file := range files {
		text, err := proc.ReadFile(file)
		if err != nil {
			return fmt.Errorf("look for tasks without a record: %w", err)
		}
		// an earlier program's history has no chain: it is not ours to lose
		if bytes.Contains(text, []byte(`"hash":"`)) {
			histories++
		}
	}
	if histories == 0 {
		return nil
	}
	return fmt.Errorf("cannot open the record %q: it is empty, and %d tasks have a history below %q; bring "+
		"them back with %q",
		record, histories, tasks, "orange doctor --rebuild")
}

// Fill gives a new task what the person left out: its project's workflow, and the person's harnesses or else the
// first known program that is installed.
func (h *Home) Fill(n task.New, path string) (task.New, error) {
	config, err := h.Config()
	if err != nil {
		return n, err
	}
	prefer := decide.Preferences{Harness: config.Harness, ReviewHarness: config.ReviewHarness}
	if n.Harness == "" && prefer.Harness == "" {
		prefer.Harness = h.usualProgram(path)
	}
	n = decide.WithDefaults(n, prefer)
	if err := h.can(n.Harness, task.RoleWorker, n.Model, n.Effort); err != nil {
		return n, err
	}
	if err := h.can(n.ReviewHarness, task.RoleReviewer, n.ReviewModel, n.ReviewEffort); err != nil || !n.Spawn {
		return n, err
	}
	if slices.ContainsFunc(n.Variables, func(v string) bool { return strings.HasPrefix(v+"=", "PATH=") }) {
		return n, nil // the task's programs are found by a PATH of its own
	}
	def, _, err := h.FindWorkflow(n.Workflow)
	if err != nil {
		return n, nil // it is reported where the task is made
	}
	worker, reviewer := starts(def)
	if worker {
		err = h.There(n.Harness, task.RoleWorker, path)
	}
	if err == nil && reviewer && n.ReviewHarness != n.Harness {
		err = h.There(n.ReviewHarness, task.RoleReviewer, path)
	}
	return n, err
}

// starts reports which of a task's own programs a workflow starts.
func starts(def *workflow.Definition) (worker, reviewer bool) {
	note := func(hooks []workflow.Hook) {
		for _, hook := range hooks {
			spawns := workflow.SpawnRole(hook.Hook) != ""
			reviews := hook.Harness == task.HarnessReview
			worker, reviewer = worker || spawns && !reviews, reviewer || spawns && reviews
		}
	}
	for _, edge := range def.Transitions {
		note(edge.Hooks)
	}
	for _, birth := range def.Births {
		note(birth.Hooks)
	}
	return worker, reviewer
}

// There reports why the program of a harness cannot be started for a role, by the folders of a PATH: before a task has
// a branch and a worktree that it would have for nothing.
func (h *Home) There(name, role, path string) error {
	one, err := h.Harness(name)
	if err != nil {
		return err
	}
	path = cmp.Or(harness.Value(one.Env, "PATH"), path)
	program := one.For(role).Command[0].Words[0]
	if _, err := proc.Find(program, path); err == nil || strings.Contains(program, "{") {
		return nil
	}
	found := "none of the known programs is there"
	if all := h.programsOn(path); len(all) > 0 {
		found = "found " + strings.Join(all, ", ")
	}
	missing := fmt.Sprintf("%q is not on PATH", program)
	if strings.Contains(program, "/") {
		missing = fmt.Sprintf("there is no program %q", program)
	}
	return fmt.Errorf("cannot start the %s with the harness %q: %s (%s); install it, or choose another one with "+
		"--harness, --review-harness or orange setup", role, name, missing, found)
}

// programsOn are the harnesses whose programs are on a PATH.
func (h *Home) programsOn(path string) (names []string) {
	all, err := h.ListHarnesses(path)
	if err != nil {
		return nil // it is reported where the harness is read
	}
	for _, one := range all {
		if program, err := h.Harness(one.Name); err == nil {
			if _, err := proc.Find(program.Program, path); err == nil {
				names = append(names, one.Name)
			}
		}
	}
	return names
}

// can reports why an agent cannot be called by a harness, with a model and an effort where they are chosen.
func (h *Home) can(name, role, model, effort string) error {
	one, err := h.Harness(name)
	if err != nil {
		return err
	}
	for _, chosen := range [][2]string{{harness.Model, model}, {harness.Effort, effort}} {
		what, word := chosen[0], chosen[1]
		if err := harness.CheckWord(what, word); err != nil {
			return err
		}
		if word != "" && !one.Takes(what, role, usualPermissions(role)) {
			return one.NotTaken(what, role, word)
		}
	}
	return nil
}

// usualPermissions are those of a role where a workflow says nothing else.
func usualPermissions(role string) string {
	if role == task.RoleReviewer {
		return task.PermissionsReduced
	}
	return task.PermissionsFull
}

// usualProgram is the first of the usual programs that is on PATH, else the first other one, the person's own before
// those that ship; the first usual one where none is.
func (h *Home) usualProgram(path string) string {
	usual := decide.UsualHarnesses()
	for _, name := range usual {
		one, err := h.Harness(name)
		if err != nil {
			continue // a file of the person's that is wrong is reported when it is asked for by name
		}
		if _, err := proc.Find(one.Program, path); err == nil {
			return name
		}
	}
	all, err := h.ListHarnesses(path)
	if err != nil {
		return usual[0] // it is reported where the harness is read
	}
	found := slices.DeleteFunc(all, func(one harness.Choice) bool { return one.Path == "" })
	if own := slices.IndexFunc(found, func(one harness.Choice) bool { return one.Source != builtIn }); own >= 0 {
		return found[own].Name
	}
	if len(found) > 0 {
		return found[0].Name
	}
	return usual[0]
}
