package home

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"orange/internal/worktree"
)

// FirstSteps are what a person without any task does next, in three lines: where there is no repository, none with a
// commit, no agent program, or all that a task needs.
func (h *Home) FirstSteps(ctx context.Context) ([]string, error) {
	projects, err := h.Projects()
	if err != nil {
		return nil, err
	}
	if len(projects) == 0 {
		switch _, err := worktree.Inspect(ctx, "."); {
		case errors.Is(err, worktree.ErrNoRepository):
			return []string{
				"This folder is in no git repository, and tasks are work in one.",
				"Press q, go to a repository with cd, and open orange there.",
				"Or name one: orange project add PATH"}, nil
		case errors.Is(err, worktree.ErrNoCommit):
			return []string{
				"This repository has no commit yet, and a task's branch begins at one.",
				"Press q and make the first: git add -A && git commit -m 'First commit'",
				"Then open orange here again."}, nil
		case err != nil:
			return []string{
				"This repository cannot be used yet:",
				err.Error(),
				"Press q, mend it, and open orange again; orange doctor looks closer."}, nil
		}
	}
	missing, err := h.missingPrograms()
	if err != nil {
		return nil, err
	}
	if missing != "" {
		return []string{
			"No agent program is on your PATH: orange looked for " + missing + ".",
			"Install one and log in, or describe yours in " + filepath.Join(h.Dir, "harnesses", "NAME.yml") + ".",
			"Then press c to create a task; orange harness list shows what is found."}, nil
	}
	return []string{
		"There are no tasks yet. Press c to create one: say what is to be done.",
		"An agent plans and builds it on a branch of its own; you review it and merge.",
		"? shows what each key does."}, nil
}

// missingPrograms names the programs of all harnesses where none of them can be run; empty where one can.
func (h *Home) missingPrograms() (string, error) {
	all, err := h.ListHarnesses()
	if err != nil {
		return "", err
	}
	var names []string
	for _, one := range all {
		if one.Path != "" || one.Source != builtIn {
			return "", nil
		}
		if one.Program != "" {
			names = append(names, one.Program)
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	last := len(names) - 1
	return fmt.Sprintf("%s and %s", strings.Join(names[:last], ", "), names[last]), nil
}
