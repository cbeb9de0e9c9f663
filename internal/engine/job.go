package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"orange/internal/rules/action"
	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// waitForPerson is what an agent hears of a move to a status of a person, if the workflow has no words for that.
const waitForPerson = "The task is now {status}, where a person looks after it. Read {task_file}, and wait for them."

// job gathers what the performer needs. Hooks that may start an agent get a seat, committed before they begin; the task
// is answered as it is then.
func (e *hooks) job(ctx context.Context, s step, hook task.OwedHook) (then step, job record.Job, seat *record.Seat,
	err error) {
	def, job, err := e.jobOf(ctx, s.Task, hook)
	if err != nil || job.Role == "" {
		return s, job, nil, err
	}
	if job.Secret, err = newSecret(e.random); err != nil {
		return s, job, nil, err
	}
	job.Seat = harness.SeatOf(job.Secret)
	if job.Start, err = e.looks.startFor(ctx, def, s.Task, job.Role); err != nil {
		return s, job, nil, err
	}
	if err = e.conversation(ctx, def, &job); err != nil {
		return s, job, nil, err
	}
	seat = &record.Seat{Hash: job.Seat, Task: s.Task.ID, Role: job.Role, Hook: hook.ID, Start: job.Start}
	then, _, err = e.do(ctx, s.Task.ID, e.startingFrom(s), func(s step) (*ruling, error) {
		if !isOwed(s.Owed, hook.ID) {
			return nil, errOvertaken
		}
		return &ruling{change: record.Change{Task: s.Task, Expect: s.Task.Version, NewSeat: seat, Hurried: true}}, nil
	})
	if err != nil {
		return s, job, seat, err
	}
	return then, job, seat, nil
}

// newSecret is what the holder of a new seat shows.
func newSecret(random io.Reader) (string, error) {
	secret := make([]byte, 32)
	_, err := io.ReadFull(random, secret)
	if err != nil {
		err = fmt.Errorf("make a seat: %w", err)
	}
	return hex.EncodeToString(secret), err
}

// jobOf is what the performer needs of a hook besides a seat, with the rules of its task.
func (e *hooks) jobOf(ctx context.Context, t task.Task, hook task.OwedHook) (def *workflow.Definition, job record.Job,
	err error) {
	job = record.Job{Task: t, Hook: hook}
	if job.Project, err = e.project(t.Project); err != nil {
		return nil, job, err
	}
	if def, err = e.rulesOf(ctx, t); err != nil {
		return nil, job, err
	}
	state, _ := def.State(t.Status)
	job.Prompt, _ = def.Prompt(hook.Prompt)
	job.Respawn, _ = def.Prompt(state.RespawnPrompt.Name)
	if job.Prompt == "" && def.WaitsForPerson(t.Status) {
		job.Prompt = waitForPerson
	}
	job.Role = workflow.RoleIn(state, hook.Hook)
	if spec, _ := action.Of(hook.Action); spec.Input == action.WithEvent {
		if job.Event, err = e.event(ctx, t.ID, hook.Event); err != nil {
			return def, job, err
		}
	}
	if job.Role != "" {
		job.Agent, job.Hook.Permissions = decide.AgentOf(def, job.Role, hook.Hook)
	}
	return def, job, nil
}

// startOf is what the agent that a hook started found: it comes from the seat of the attempt that started the agent.
func (e *hooks) startOf(ctx context.Context, effect record.Effect, issued *record.Seat) (task.Start, error) {
	switch {
	case effect.Seat == nil || issued == nil:
		return task.Start{}, nil
	case effect.Seat.Hash == "" || effect.Seat.Hash == issued.Hash:
		return issued.Start, nil
	}
	earlier, err := e.record.Seat(ctx, effect.Seat.Hash)
	if errors.Is(err, task.ErrNotFound) {
		return task.Start{Subject: task.Subject{Trouble: "its agent was started before that was noted"}}, nil
	}
	return earlier.Start, err
}

// addSubject adds to the change of a performed hook what the evidence in the task's status is about from now on.
func (e *hooks) addSubject(ctx context.Context, c *record.Change, s record.Snapshot, hook task.OwedHook,
	effect record.Effect, start task.Start) error {
	if effect.Seat == nil && (hook.Action != action.AcquireWorkspace || s.Task.Subject.Commit != "") {
		return nil
	}
	def, err := e.rulesOf(ctx, s.Task)
	if err != nil {
		return err
	}
	if effect.Seat == nil {
		state, _ := def.State(s.Task.Status)
		subject := e.work.Subject(ctx, c.Task, state.Subject != workflow.SubjectBranch)
		ready, event := decide.Prepared(c.Task, subject)
		event.Time, event.Actor = c.Task.UpdatedAt, task.ActorEngine
		c.Task, c.Events = ready, append(c.Events, event)
		return nil
	}
	after, verdicts, is := decide.Began(def, c.Task, roleOf(c, hook), start)
	if !is {
		return nil
	}
	c.Task, c.Begun, c.Start = after, true, verdicts
	for i := range c.Events {
		if kind := c.Events[i].Type; kind == history.AgentSpawned || kind == history.ReviewStarted {
			c.Events[i].Subject, c.Events[i].Evidence = after.Subject, verdicts
		}
	}
	return nil
}

func roleOf(c *record.Change, hook task.OwedHook) string {
	if c.TakenSeat != nil {
		return c.TakenSeat.Role
	}
	return hook.Role
}

// conversation adds to a job what an agent goes on with that is started in the place of one that is dead: whether there
// was such a one, its conversation, and what kept its move.
func (e *hooks) conversation(ctx context.Context, def *workflow.Definition, job *record.Job) error {
	events, err := e.record.Events(ctx, job.Task.ID, 0)
	if err != nil {
		return err
	}
	again := job.Hook.Action == action.NotifyWorker // it starts a worker only where none lives
	for i := range events {
		again = again || events[i].Seq == job.Hook.Event && events[i].Type == history.AgentRespawned
	}
	if !again || history.LastStart(events, job.Role) == nil {
		return nil
	}
	job.Again, job.Held = true, decide.Conversations(events).HeldBack(job.Role)
	job.Conversation = decide.Conversations(events).ToContinue(def, job.Task, job.Role, job.Harness(),
		job.Start.Subject)
	return nil
}
