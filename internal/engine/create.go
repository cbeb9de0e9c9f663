package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Create makes a task. With n.Spawn it also starts the task, or queues it if no workspace is free. Where n has an id,
// or its request a key, a task that was created so before is the answer.
func (e *arrivals) Create(ctx context.Context, n task.New) (record.Outcome, error) {
	if n.ID != "" || n.Actor.Key != "" {
		return e.createOnce(ctx, n)
	}
	random := make([]byte, task.IDLength)
	if _, err := io.ReadFull(e.random, random); err != nil {
		return record.Outcome{}, fmt.Errorf("make an id: %w", err)
	}
	var err error
	if n.ID, err = task.NewID(random); err != nil {
		return record.Outcome{}, err
	}
	return e.createNamed(ctx, n)
}

// create makes a task with the id that it is given.
func (e *arrivals) create(ctx context.Context, n task.New) (record.Outcome, error) {
	id := n.ID
	def, err := e.present(ctx, e.rules, n.Workflow, n.Project)
	if err != nil {
		return record.Outcome{}, err
	}
	if n.Summary != "" {
		if err := task.CheckSummary(n.Summary); err != nil {
			return record.Outcome{}, err
		}
	}
	t := task.Task{
		ID: id, Project: n.Project.Name, Branch: n.Branch, Summary: inOneLine(n.Summary),
		Harness: n.Harness, ReviewHarness: n.ReviewHarness, Effort: n.Effort, ReviewEffort: n.ReviewEffort,
		Model: n.Model, ReviewModel: n.ReviewModel, After: n.After, PRURL: n.PRURL,
	}
	if t.PRURL != "" {
		t.PRState = record.PROpen
	}
	if t.Branch == "" {
		t.Branch = task.DefaultBranch(id)
	}
	if err := e.looks.checkBranch(ctx, n.Project, t); err != nil {
		return record.Outcome{}, err
	}
	status, _ := decide.FirstMove(def, n)
	if err := e.turns.mayWait(ctx, def, n, status); err != nil {
		return record.Outcome{}, err
	}
	in := replay.Inputs{Ask: replay.AskCreate, To: status}
	c, err := decide.Create(def, t, status, n.Actor, e.now())
	if n.Plan != "" {
		n.Spawn = false // the task's first event starts the agent that reviews the plan
		in = replay.Inputs{Ask: replay.AskPlan}
		c, err = decide.CreateFromPlan(def, t, n.Actor, e.now())
	}
	if err == nil {
		guarantee.Pin(&c.Events[0], n.Project.Promise)
		c, err = ruling{change: c, in: in.By(n.Actor)}.withInputs(step{def: def})
	}
	if err != nil {
		return record.Outcome{}, err
	}
	if n.Spawn && status == def.Initial {
		err := decide.Start(def, c.Task, n.Actor, n.Reason)
		birth, _ := def.Birth(status)
		switch {
		case err != nil && birth.Spawns():
			n.Spawn = false // its first event already starts the agent
		case err != nil:
			return record.Outcome{}, err
		}
	}
	if err := e.mayMakeAnother(ctx, n); err != nil {
		return record.Outcome{}, err
	}
	if len(n.MayChange) > 0 {
		if err := decide.MayAllow(c.Task, n.Actor, atCreation); err != nil {
			return record.Outcome{}, err
		}
	}
	c.PoolSize = n.Project.PoolSize
	if len(n.Variables) > 0 { // before the first program of the task can start
		if err := e.environments.Give(ctx, id, n.Variables); err != nil {
			return record.Outcome{}, err
		}
	}
	return e.commitNew(ctx, def, c, n)
}

// mayMakeAnother refuses a task of an agent where agents made many that no one has begun. Agents that ask at the same
// instant may get one more each.
func (e *arrivals) mayMakeAnother(ctx context.Context, n task.New) error {
	if n.Actor.Role == task.RoleHuman {
		return nil
	}
	live, err := e.record.List(ctx, record.Filter{Project: n.Project.Name, Live: true})
	if err != nil {
		return err
	}
	var made []string
	for _, t := range live {
		if t.Workspace != "" || t.Previous != "" {
			continue
		}
		events, err := e.record.Events(ctx, t.ID, 0)
		if err != nil {
			return err
		}
		if len(events) > 0 && events[0].Actor != task.RoleHuman && events[0].Data[history.DataAdopted] == "" {
			made = append(made, t.ID)
		}
	}
	return decide.AnotherByAgent(n.Actor, made)
}

// commitNew writes the task's document, commits its first event, and starts the task if the caller wants that.
func (e *arrivals) commitNew(ctx context.Context, def *workflow.Definition, c record.Change,
	n task.New) (record.Outcome, error) {
	body := "\n"
	if context := strings.TrimSpace(n.Context); context != "" {
		body = "\n## Context\n\n" + document.Demote(context) + "\n"
	}
	if plan := strings.TrimSpace(n.Plan); plan != "" {
		body += "\n## Plan File\n\n" + document.Demote(plan) + "\n"
	}
	// The document comes first: a recorded task that lost its context on the way would look like one without context.
	if err := e.folder.Create(c.Task, body); err != nil {
		return record.Outcome{}, errors.Join(err, e.environments.Forget(ctx, c.Task.ID))
	}
	t, err := e.record.Commit(ctx, c)
	if err != nil {
		_, trash := e.folder.Trash(c.Task.Project, c.Task.ID)
		if errors.Is(err, task.ErrPoolFull) {
			err = e.rooms.poolFull(ctx, n.Project, c.Task.Status)
		}
		return record.Outcome{}, errors.Join(err, trash, e.environments.Forget(ctx, c.Task.ID))
	}
	if len(n.MayChange) > 0 {
		u := task.Update{Actor: n.Actor, MayChange: n.MayChange, Reason: atCreation}
		if _, err := e.requests.update(ctx, t.ID, u); err != nil {
			return record.Outcome{Task: t}, err
		}
	}
	out, err := e.outcomes.conclude(ctx, t, t.Seq, n.Actor)
	if err != nil || !n.Spawn || t.Status != def.Initial {
		return out, err
	}
	return e.startNew(ctx, def, out, t, n)
}

// startNew starts a task that was created to be started at once.
func (e *arrivals) startNew(ctx context.Context, def *workflow.Definition, out record.Outcome, t task.Task,
	n task.New) (record.Outcome, error) {
	if t.WaitsForTasks() {
		return e.turns.waits(ctx, out, n.Actor)
	}
	to, err := decide.SpawnTarget(def, t)
	if err != nil {
		return out, err
	}
	started, err := e.requests.move(ctx, task.Request{Task: t.ID, To: to, Actor: n.Actor, Reason: n.Reason})
	if err != nil { // without the rest of the message a person would create it again
		return out, fmt.Errorf("task %s was created and is %s, but it cannot be started: %w; start it with: "+
			"orange task spawn %s", t.ID, t.Status, err, t.ID)
	}
	return started, nil
}
