package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// FirstSteps are what a person without any task does next, in three lines: where there is no repository, none with a
// commit, no agent program, or all that a task needs. create is the key of the dashboard that creates a task. none is
// why no task can be created yet, and what helps; it is empty where one can.
func (h *Home) FirstSteps(ctx context.Context, create string) (steps []string, none string, err error) {
	if h.Older != nil {
		switch older, err := h.Older(ctx); {
		case err != nil:
			return nil, "", err
		case older > 0:
			return []string{
				fmt.Sprintf("An earlier Orange left tasks here: %d have a folder and are not on record.", older),
				"Press q, and run orange adopt: it lists them, and takes them over.",
				"? shows what each key does."}, "", nil
		}
	}
	projects, err := h.Projects()
	if err != nil {
		return nil, "", err
	}
	if len(projects) == 0 {
		switch _, err := git.Inspect(ctx, "."); {
		case errors.Is(err, git.ErrNoRepository):
			return []string{
					"This folder is in no git repository, and tasks are work in one.",
					"Press q, cd to one or make one with git init, and open orange there.",
					"Or name one: orange project add PATH"},
				"this folder is in no git repository, and tasks are work in one; " +
					"open orange in one, or name one: orange project add PATH", nil
		case errors.Is(err, git.ErrNoCommit):
			return []string{
					"This repository has no commit yet, and a task's branch begins at one.",
					"Press q and make the first: git add -A && git commit --allow-empty -m First",
					"Then open orange here again."},
				"this repository has no commit yet; make the first one, and open orange " +
					"here again: git commit --allow-empty -m First", nil
		case err != nil:
			return []string{
					"This repository cannot be used yet:",
					err.Error(),
					"Press q, mend it, and open orange again; orange doctor looks closer."},
				"this repository cannot be used yet; orange doctor looks closer", nil
		}
	}
	missing, err := h.noProgram(proc.Getenv(ctx, "PATH"))
	if err != nil {
		return nil, "", err
	}
	if missing {
		own := filepath.Join(h.Dir, "harnesses")
		file := shortPath(proc.UserHome(ctx), filepath.Join(own, "NAME.yml"))
		if err := os.MkdirAll(own, task.PrivateFolder); err != nil { // so that the person can write into it at once
			return nil, "", fmt.Errorf("make the folder of your harnesses: %w", err)
		}
		return []string{
			"No agent program is on your PATH: orange harness list names those it knows.",
			"Install one, log in, press " + create + ". Or write " + file + ":",
			`{name: NAME, worker: {command: [PROGRAM, "{prompt}"]}}`}, "", nil
	}
	return []string{
		"There are no tasks yet. Press " + create + " to create one: say what is to be done.",
		"An agent plans and builds it on its own branch; you review it and merge.",
		"? shows what each key does."}, "", nil
}

// noProgram reports whether the program of no harness can be run, and the person described none.
func (h *Home) noProgram(path string) (bool, error) {
	all, err := h.ListHarnesses(path)
	if err != nil {
		return false, err
	}
	return len(all) > 0 && !slices.ContainsFunc(all, func(one harness.Choice) bool {
		return one.Path != "" || one.Source != builtIn
	}), nil
}

// shortPath is a path as people write it: from their own folder on.
func shortPath(own, path string) string {
	if own == "" {
		return path
	}
	if below, is := strings.CutPrefix(path, own+string(filepath.Separator)); is {
		return "~" + string(filepath.Separator) + below
	}
	return path
}
