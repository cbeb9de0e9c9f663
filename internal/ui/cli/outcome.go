package cli

import (
	"fmt"
	"maps"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// hookView is one hook of a transition as JSON has it.
type hookView struct {
	Action string         `json:"action"`
	State  task.HookState `json:"state"`
	Error  string         `json:"error,omitempty"`
}

func hookViews(hooks []task.OwedHook) []hookView {
	all := []hookView{}
	for _, h := range hooks {
		all = append(all, hookView{h.Action, h.State, h.Error})
	}
	return all
}

// failedHooks are what is said of the hooks of an outcome that failed, each in lines of its own.
func failedHooks(out record.Outcome) (lines []string) {
	failures, then := out.HookFailures()
	for _, f := range failures {
		lines = append(lines, fmt.Sprintf("hook failed: %s\n  %s; put that right and run: orange task retry %s", f,
			then, out.Task.ID))
	}
	return lines
}

// besides is what a move did besides, for JSON.
func besides(out record.Outcome) map[string]any {
	about := map[string]any{"hooks": hookViews(out.Hooks), "stayed_behind": orEmpty(out.Stayed)}
	if out.Warning != "" {
		about["warning"] = out.Warning
	}
	return about
}

// tellAnswer tells what became of a request, if it was not refused.
func (p *printer) tellAnswer(out record.Outcome, err error) error {
	if err != nil {
		return err
	}
	return p.tellOutcome(out, "")
}

// tellOutcome tells what became of a request. To an agent it says nothing of what else the move does: the agent's
// contract ends with the status. Its JSON has more, where there is more to tell.
func (p *printer) tellOutcome(out record.Outcome, said string, more ...map[string]any) error {
	if out.Event.Actor != task.RoleHuman && out.Event.Actor != "" {
		out.Hooks = nil
	}
	failures, _ := out.HookFailures()
	if p.json {
		answer := map[string]any{
			"task": view(out.Task, "").waiting(out.Before), "moved": out.Moved &&
				out.Event.IsMove(), "from": out.Event.From, "to": out.Event.To,
			"hook_errors": orEmpty(failures), "queued": out.Queued,
		}
		maps.Copy(answer, besides(out))
		for _, one := range more {
			maps.Copy(answer, one)
		}
		if out.Queued {
			answer["holders"] = orEmpty(out.Holders)
		}
		if err := p.printJSON(answer); err != nil {
			return err
		}
	} else {
		p.sayOutcome(out, said)
	}
	if out.Warning != "" {
		p.warn("the move to %s is made, but: %s", out.Task.Status, out.Warning)
	}
	for _, line := range failedHooks(out) {
		p.warn("%s", line)
	}
	return nil
}

// tellDone is tellOutcome for what a person asks for: it fails where a hook failed. The task has moved all the same,
// and an agent must not take that for a refusal.
func (p *printer) tellDone(out record.Outcome, said string, actor task.Actor, more ...map[string]any) error {
	if err := p.tellOutcome(out, said, more...); err != nil {
		return err
	}
	if len(failedHooks(out)) > 0 && actor.Role == task.RoleHuman {
		return &ended{exitFailed}
	}
	return nil
}

func (p *printer) sayOutcome(out record.Outcome, said string) {
	t := out.Task
	switch {
	case out.Queued:
		p.say("%s stays %s and is queued: it starts when a workspace is free.", t.ID, t.Status)
		for _, h := range out.Holders {
			p.say("  %s is held by %s (%s, %s)", h.Workspace, h.Task, h.Branch, h.Status)
		}
		return
	case out.Event.IsMove():
		p.say("%s: %s -> %s", t.ID, out.Event.From, out.Event.To)
	case said != "":
		p.say("%s", said)
	default:
		p.say("%s is %s already; nothing to do", t.ID, t.Status)
	}
	for _, line := range waitLines(out.Before) {
		p.say("  it waits for %s", line)
	}
	for _, h := range out.Hooks {
		p.say("  %-22s %s", h.Action, h.State)
	}
	p.sayStayed(out.Stayed)
}

func (p *printer) sayStayed(stayed []string) {
	for _, one := range stayed {
		p.say("  stayed behind: %s", one)
	}
}
