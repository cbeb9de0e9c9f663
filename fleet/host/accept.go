package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orange/fleet/wire"
	"orange/internal/rules/task"
)

// littleSpace is how many bytes have to be free on the disk of a home for one task more.
const littleSpace = 256 << 20

// Accept answers whether the host can take a task, and keeps a place for it for a while if it can. What it cannot look
// at is an error, and no answer.
func (h *Host) Accept(ctx context.Context, m wire.Message[wire.Offer]) (wire.Message[wire.OfferAnswer], error) {
	o := m.Body
	unfit, err := h.unfit(ctx, o)
	if err == nil && unfit == "" {
		var kept bool
		if kept, err = h.promise(ctx, o.Project, o.Task); err == nil && !kept {
			unfit = fmt.Sprintf("it has no free place for %q", o.Project)
		}
	}
	if err != nil {
		return wire.Message[wire.OfferAnswer]{}, fmt.Errorf("look whether there is a place for task %s: %w", o.Task,
			err)
	}
	return wire.Of(wire.OfferAnswer{Host: h.Name, Unfit: shortText(unfit)}), nil
}

// unfit is why the host cannot take a task, whatever places it has; empty where it can.
func (h *Host) unfit(ctx context.Context, o wire.Offer) (string, error) {
	if slices.Contains(o.Not, h.Name) {
		return "it has refused the task", nil
	}
	if closed, err := h.Store.Draining(); err != nil || closed {
		return "it is drained", err
	}
	free, err := h.Program.Space()
	if err != nil {
		return "", err
	}
	if free < littleSpace {
		return fmt.Sprintf("its disk is full: %d MB are free", free>>20), nil
	}
	projects, err := h.projects(ctx)
	if err != nil {
		return "", err
	}
	if !slices.Contains(projects, o.Project) {
		return fmt.Sprintf("it has no project %q", o.Project), nil
	}
	if len(o.Harness) > 0 {
		has, err := h.Program.Harnesses(ctx)
		if err != nil {
			return "", err
		}
		for _, name := range o.Harness {
			if !slices.Contains(has, name) {
				return fmt.Sprintf("it has no %q", name), nil
			}
		}
	}
	return h.otherRules(ctx, o.Workflow)
}

// projects are those that the host takes tasks of: the registered ones, or those of them that its setup names.
func (h *Host) projects(ctx context.Context) ([]string, error) {
	all, err := h.Program.Projects(ctx)
	if err != nil || len(h.Only) == 0 {
		return all, err
	}
	return slices.DeleteFunc(all, func(name string) bool { return !slices.Contains(h.Only, name) }), nil
}

// otherRules says why the workflow of a task, by its name and digest, is not the one that the host has under that name;
// empty where it is. The history of a task names its workflow by the digest.
func (h *Host) otherRules(ctx context.Context, workflow string) (string, error) {
	name, digest, given := strings.Cut(workflow, "@")
	if !given {
		return "", nil
	}
	own, err := h.Program.Workflow(ctx, name)
	switch {
	case errors.Is(err, task.ErrNotFound):
		return fmt.Sprintf("it has no workflow %q", name), nil
	case err != nil:
		return "", err
	case own != digest:
		return fmt.Sprintf("its workflow %q is another one (%.12s, and the task has %.12s)", name, own, digest), nil
	}
	return "", nil
}
