package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/proof/replay"
	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/guarantee"
	"orange/internal/rules/history"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// Create makes a task. With n.Spawn it also starts the task, or queues it if no workspace is free. Where n has an id,
// its request a key, or its call is repeated, a task that was created so before is the answer.
func (e *arrivals) Create(ctx context.Context, n task.New) (record.Outcome, error) {
	if n.ID == "" && n.Actor.Key == "" && n.Actor.Call != "" { // so that a repeat finds whatever there is of it
		var err error
		if n.ID, err = idempotency.ID(n.Actor.Call); err != nil {
			return record.Outcome{}, err
		}
		if !n.Actor.Again {
			return e.createNamed(ctx, n)
		}
	}
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
			err = e.rooms.poolFull(ctx, n.Project, fmt.Sprintf("create a task in %q", c.Task.Status))
		}
		return record.Outcome{}, errors.Join(err, trash, e.environments.Forget(ctx, c.Task.ID))
	}
	if len(n.MayChange) > 0 {
		if err := e.allowNew(ctx, t.ID, n); err != nil {
			return record.Outcome{Task: t}, err
		}
	}
	out, err := e.outcomes.conclude(ctx, t, t.Seq, n.Actor)
	if err != nil || !n.Spawn || t.Status != def.Initial {
		return out, err
	}
	return e.startNew(ctx, def, out, t, n)
}

// allowNew notes what a person allows a new task to change.
func (e *arrivals) allowNew(ctx context.Context, id string, n task.New) error {
	_, err := e.requests.update(ctx, id, task.Update{Actor: n.Actor.Unmarked(), MayChange: n.MayChange,
		Reason: atCreation})
	return err
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

// createNamed makes a task with the id that it is given. Where it has the branch named after its summary, that has a
// number where another task has the same name.
func (e *arrivals) createNamed(ctx context.Context, n task.New) (record.Outcome, error) {
	const most = 100
	name := branchFromWords(n.Summary)
	if !n.NameBranch || n.Branch != "" || name == "" {
		return e.create(ctx, n)
	}
	n.Branch = name
	if name == n.Project.DefaultBranch {
		n.Branch += "-2"
	}
	for number := 2; ; number++ {
		out, err := e.create(ctx, n)
		if !errors.Is(err, task.ErrBranchTaken) || number > most {
			return out, err
		}
		n.Branch = name + "-" + strconv.Itoa(number)
	}
}

// longestBranch is how many characters a branch has at most that is named after words.
const longestBranch = 40

// branchFromWords names a branch after a text: its letters and digits in any script, in small letters, and dashes
// between its words, as many words as fit. It is empty where the text has none.
func branchFromWords(text string) string {
	name := ""
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\''
	}) {
		// a mark at the beginning is of a character that is left out
		word = strings.TrimLeftFunc(strings.ReplaceAll(word, "'", ""), unicode.IsMark)
		longer := strings.Trim(name+"-"+word, "-")
		if utf8.RuneCountInString(longer) > longestBranch {
			if name == "" {
				name = string([]rune(word)[:longestBranch])
			}
			break
		}
		name = longer
	}
	return name
}

// createOnce creates a task with an id that is known before, the caller's own or the one that belongs to the key. A
// task that has it is the answer; one that was to be started and was not yet is started.
func (e *arrivals) createOnce(ctx context.Context, n task.New) (record.Outcome, error) {
	if n.ID == "" {
		var err error
		if n.ID, err = idempotency.ID(n.Actor.Key); err != nil {
			return record.Outcome{}, err
		}
	}
	release, err := e.folder.Lock(ctx, idempotency.Lock(n.ID, n.Actor.Key))
	if err != nil {
		return record.Outcome{}, err
	}
	defer release()
	s, err := e.record.Load(ctx, n.ID)
	if errors.Is(err, task.ErrNotFound) {
		lines, err := e.folder.ReadHistory(n.Project.Name, n.ID)
		if err == nil && len(lines) > 0 {
			err = task.Notef(task.ErrUsage, "cannot create the task %s: there is a folder with the history of a task "+
				"of that id, which is not on record; bring it back with orange doctor --rebuild, or move the folder "+
				"away", n.ID)
		}
		if err != nil {
			return record.Outcome{}, err
		}
		return e.createNamed(ctx, n)
	}
	if err != nil {
		return record.Outcome{}, err
	}
	if s.Task.Project != n.Project.Name {
		kind := task.ErrUsage
		if n.Actor.Key != "" {
			kind = idempotency.ErrReused
		}
		return record.Outcome{}, task.Notef(kind, "cannot create the task %s in %q: the task that was created so "+
			"is in %q; use another key or id", n.ID, n.Project.Name, s.Task.Project)
	}
	events, err := e.record.Events(ctx, n.ID, 0)
	if err != nil {
		return record.Outcome{}, err
	}
	a, err := e.outcomes.earlier(ctx, n.ID, events, n.Actor)
	if err != nil {
		return record.Outcome{}, err
	}
	def, err := e.rulesOf(ctx, s.Task)
	if err != nil {
		return record.Outcome{}, err
	}
	birth, _ := def.Birth(s.Task.Status)
	begins := decide.Start(def, s.Task, n.Actor, n.Reason) != nil && birth.Spawns() // its first event starts the agent
	if len(n.MayChange) > 0 && !allows(events, n.MayChange) {
		if err := e.allowNew(ctx, n.ID, n); err != nil {
			return record.Outcome{}, err
		}
	}
	if n.Spawn && n.Plan == "" && !begins && !hasBegun(events) && s.Task.Status == def.Initial {
		return e.startAgain(ctx, def, s, events, n)
	}
	if !a.Found || a.Event.Type == history.Created {
		a = idempotency.Earlier{Found: true, Event: birthEvent(events, n.Spawn)}
	}
	return e.outcomes.answer(ctx, s, events, a, n.Actor)
}

// hasBegun reports whether a task was moved or queued since it was created. Other events may come before its start.
func hasBegun(events []history.Event) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool {
		return e.IsMove() || e.Type == history.QueuedForSpace
	})
}

// startAgain starts a task whose creation was cut short between its first event and its start.
func (e *arrivals) startAgain(ctx context.Context, def *workflow.Definition, s record.Snapshot, events []history.Event,
	n task.New) (record.Outcome, error) {
	out, err := e.outcomes.answer(ctx, s, events, idempotency.Earlier{Found: true, Event: events[0]}, n.Actor)
	if err != nil {
		return out, err
	}
	return e.startNew(ctx, def, out, s.Task, n)
}

// birthEvent is the event that tells of a task's creation: its start, if it was started at once.
func birthEvent(events []history.Event, start bool) history.Event {
	next := slices.IndexFunc(events, func(e history.Event) bool {
		return e.Type == history.QueuedForSpace || e.Type == history.StatusChanged
	})
	if start && next > 0 {
		return events[next]
	}
	return events[0]
}
