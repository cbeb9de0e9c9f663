package home_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/task"
	"orange/internal/store/home"
)

func TestATasksWorkflow_survivesTheLossOfTheRecord(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	write(t, h, "workflows/own.yml", strings.Replace(shipped(t), "name: default", "name: own", 1))
	def, _, err := h.Named(t.Context(), "own", task.Project{})
	must(t, err)
	first, err := os.Stat(h.KeptPath(def.Digest))
	must(t, err)
	_, _, err = h.Named(t.Context(), "own", task.Project{})
	must(t, err)
	if again, err := os.Stat(h.KeptPath(def.Digest)); err != nil || !os.SameFile(first, again) ||
		!again.ModTime().Equal(first.ModTime()) {
		t.Errorf("the copy was written a second time: %v", err)
	}
	// The person's file changes, and the record is lost.
	write(t, h, "workflows/own.yml", strings.Replace(shipped(t), "name: default", "name: own\n# changed", 1))
	empty := keeper{}
	h = &home.Home{ // another program, which has not read it yet
		Dir: h.Dir, Workflows: h.Workflows, Usual: h.Usual, Harnesses: h.Harnesses, Keeper: empty,
	}
	again, err := h.Pinned(t.Context(), task.WorkflowRef{Name: "own", Digest: def.Digest})
	must(t, err)
	if again.Digest != def.Digest || again.Name != "own" || len(empty) != 1 {
		t.Errorf("found %q %q, and the record has %d again", again.Name, again.Digest, len(empty))
	}
	all, err := h.ListWorkflows()
	must(t, err)
	for _, l := range all {
		if strings.HasPrefix(l.Name, ".") || l.Name == def.Digest {
			t.Errorf("the copy is listed as a workflow: %+v", l)
		}
	}
}

func TestATasksShippedWorkflow_isFoundThoughAFileHidesIt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	def, _, err := h.FindWorkflow("default")
	must(t, err)
	write(t, h, "workflows/default.yml", shipped(t)+"# mine\n")
	again, err := h.Pinned(t.Context(), task.WorkflowRef{Name: "default", Digest: def.Digest})
	must(t, err)
	if again.Digest != def.Digest {
		t.Errorf("found %q, want %q", again.Digest, def.Digest)
	}
}

func TestATasksLostWorkflow_isNamedWithThePlaceForIt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	_, err := h.Pinned(t.Context(), task.WorkflowRef{Name: "own", Digest: "d1"})
	wantError(t, err, `put its file at "`+filepath.Join(h.Dir, "workflows", ".kept", "d1.yml"))
	// A copy that is not what its name says is none.
	write(t, h, "workflows/.kept/d1.yml", "name: forged\n")
	_, err = h.Pinned(t.Context(), task.WorkflowRef{Name: "own", Digest: "d1"})
	wantError(t, err, "cannot find the workflow")
}
