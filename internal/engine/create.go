package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
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
func (e *Engine) Create(ctx context.Context, n task.New) (record.Outcome, error) {
	if n.ID != "" || n.Actor.Key != "" {
		return e.createOnce(ctx, n)
	}
	random := make([]byte, task.IDLength)
	if _, err := io.ReadFull(e.Random, random); err != nil {
		return record.Outcome{}, fmt.Errorf("make an id: %w", err)
	}
	var err error
	if n.ID, err = task.NewID(random); err != nil {
		return record.Outcome{}, err
	}
	return e.createNamed(ctx, n)
}

// create makes a task with the id that it is given.
func (e *Engine) create(ctx context.Context, n task.New) (record.Outcome, error) {
	id := n.ID
	def, err := e.present(ctx, n.Workflow, n.Project)
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
	if err := e.checkBranch(ctx, n.Project, t); err != nil {
		return record.Outcome{}, err
	}
	status, _ := decide.FirstMove(def, n)
	if err := e.mayWait(ctx, def, n, status); err != nil {
		return record.Outcome{}, err
	}
	in := replay.Inputs{Ask: replay.AskCreate, To: status}
	c, err := decide.Create(def, t, status, n.Actor, e.Now())
	if n.Plan != "" {
		n.Spawn = false // the task's first event starts the agent that reviews the plan
		in = replay.Inputs{Ask: replay.AskPlan}
		c, err = decide.CreateFromPlan(def, t, n.Actor, e.Now())
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
		if err := e.Environments.Give(ctx, id, n.Variables); err != nil {
			return record.Outcome{}, err
		}
	}
	return e.commitNew(ctx, def, c, n)
}

// mayMakeAnother refuses a task of an agent where agents made many that no one has begun. Agents that ask at the same
// instant may get one more each.
func (e *Engine) mayMakeAnother(ctx context.Context, n task.New) error {
	if n.Actor.Role == task.RoleHuman {
		return nil
	}
	live, err := e.Record.List(ctx, record.Filter{Project: n.Project.Name, Live: true})
	if err != nil {
		return err
	}
	var made []string
	for _, t := range live {
		if t.Workspace != "" || t.Previous != "" {
			continue
		}
		events, err := e.Record.Events(ctx, t.ID, 0)
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
func (e *Engine) commitNew(ctx context.Context, def *workflow.Definition, c record.Change,
	n task.New) (record.Outcome, error) {
	body := "\n"
	if context := strings.TrimSpace(n.Context); context != "" {
		body = "\n## Context\n\n" + document.Demote(context) + "\n"
	}
	if plan := strings.TrimSpace(n.Plan); plan != "" {
		body += "\n## Plan File\n\n" + document.Demote(plan) + "\n"
	}
	// The document comes first: a recorded task that lost its context on the way would look like one without context.
	if err := e.Folder.Create(c.Task, body); err != nil {
		return record.Outcome{}, errors.Join(err, e.Environments.Forget(ctx, c.Task.ID))
	}
	t, err := e.Record.Commit(ctx, c)
	if err != nil {
		_, trash := e.Folder.Trash(c.Task.Project, c.Task.ID)
		if errors.Is(err, task.ErrPoolFull) {
			err = e.poolFull(ctx, n.Project, c.Task.Status)
		}
		return record.Outcome{}, errors.Join(err, trash, e.Environments.Forget(ctx, c.Task.ID))
	}
	if len(n.MayChange) > 0 {
		u := task.Update{Actor: n.Actor, MayChange: n.MayChange, Reason: atCreation}
		if _, err := e.update(ctx, t.ID, u); err != nil {
			return record.Outcome{Task: t}, err
		}
	}
	out, err := e.conclude(ctx, t, t.Seq, n.Actor)
	if err != nil || !n.Spawn || t.Status != def.Initial {
		return out, err
	}
	return e.startNew(ctx, def, out, t, n)
}

// startNew starts a task that was created to be started at once.
func (e *Engine) startNew(ctx context.Context, def *workflow.Definition, out record.Outcome, t task.Task,
	n task.New) (record.Outcome, error) {
	if t.WaitsForTasks() {
		return e.waits(ctx, out, n.Actor)
	}
	to, err := decide.SpawnTarget(def, t)
	if err != nil {
		return out, err
	}
	started, err := e.move(ctx, task.Request{Task: t.ID, To: to, Actor: n.Actor, Reason: n.Reason})
	if err != nil { // without the rest of the message a person would create it again
		return out, fmt.Errorf("task %s was created and is %s, but it cannot be started: %w; start it with: "+
			"orange task spawn %s", t.ID, t.Status, err, t.ID)
	}
	return started, nil
}

// poolFull is the error of a task that cannot be created, because its state needs a workspace and none is free.
func (e *Engine) poolFull(ctx context.Context, p task.Project, status task.Status) error {
	holders, err := e.Record.Holders(ctx, p.Name)
	if err != nil {
		return err
	}
	return task.Notef(task.ErrPoolFull, "cannot create a task in %q: %s", status, takenBy(p, holders))
}

// Update changes what people and agents may change of a task without moving it.
func (e *Engine) Update(ctx context.Context, id string, u task.Update) (task.Task, error) {
	out, err := e.once(ctx, id, u.Actor, func() (record.Outcome, error) {
		t, err := e.update(ctx, id, u)
		return record.Outcome{Task: t}, err
	})
	return out.Task, err
}

func (e *Engine) update(ctx context.Context, id string, u task.Update) (task.Task, error) {
	s, err := e.Record.Load(ctx, id)
	if err != nil {
		return task.Task{}, err
	}
	if u.Summary != nil {
		if err := task.CheckSummary(*u.Summary); err != nil {
			return task.Task{}, err
		}
	}
	if len(u.MayChange) > 0 {
		allowed, err := mayChange(s.Task, u)
		if err == nil {
			err = e.note(ctx, id, u.Actor, allowed)
		}
		if err != nil {
			return task.Task{}, err
		}
	}
	if u.Promise != nil {
		pinned := history.Event{Type: history.Updated, Reason: "the promise of its project is another one now"}
		guarantee.Pin(&pinned, *u.Promise)
		if err := e.note(ctx, id, u.Actor, pinned); err != nil {
			return task.Task{}, err
		}
	}
	if u.Seen {
		if err := e.seen(ctx, id, u); err != nil {
			return task.Task{}, err
		}
	}
	data := map[string]string{}
	if u.Branch != nil {
		branch, err := e.branch(ctx, s.Task, *u.Branch)
		if err != nil {
			return task.Task{}, err
		}
		data[history.DataBranch] = branch
		if name := e.renameSession(ctx, s.Task, branch); name != "" {
			data[history.DataSession] = name
		}
	}
	for key, value := range map[string]*string{history.DataSummary: u.Summary, history.DataHarness: u.Harness,
		history.DataReviewHarness: u.ReviewHarness} {
		if value != nil {
			data[key] = inOneLine(*value)
		}
	}
	_, _, err = e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		t := s.Task
		if branch, asked := data[history.DataBranch]; asked {
			t.Branch = branch
		}
		told := inSession(&t, data)
		same := t.Branch == s.Task.Branch && t.Session == s.Task.Session
		for key, field := range map[string]*string{history.DataSummary: &t.Summary, history.DataHarness: &t.Harness,
			history.DataReviewHarness: &t.ReviewHarness} {
			if value, asked := data[key]; asked {
				same = same && *field == value
				*field = value
			}
		}
		if same {
			return nil, nil
		}
		return noted(s, t, u.Actor, history.Event{Type: history.Updated, Data: told}, e.Now()), nil
	})
	if err != nil {
		return task.Task{}, err
	}
	s, _, _, err = e.refresh(ctx, id, headerAlone)
	return s.Task, err
}

// renameSession renames a task's session after its branch. It returns the new name, or the empty string where that
// is the name on record. A session that keeps its name does no harm: Orange finds the task's windows by their marks.
func (e *Engine) renameSession(ctx context.Context, t task.Task, branch string) string {
	if t.Session == "" {
		return ""
	}
	t.Branch = branch
	name, err := e.Agents.Rename(ctx, t)
	if err != nil {
		e.Log.Warn("the session keeps the name of the old branch", "component", "engine", "task", t.ID, "session",
			t.Session, "error", err.Error())
		return ""
	}
	if name == t.Session {
		return ""
	}
	return name
}

// inSession puts the new name of a session into a task that still has one, and returns the data of its event.
func inSession(t *task.Task, data map[string]string) map[string]string {
	name, renamed := data[history.DataSession]
	if !renamed {
		return data
	}
	if t.Session != "" {
		t.Session = name
		return data
	}
	data = maps.Clone(data)
	delete(data, history.DataSession) // the session has ended meanwhile
	return data
}

// inOneLine is a text without ends of lines: what follows one in a summary would be a text of its own in a prompt.
func inOneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// checkBranch returns why a task cannot have its branch, or nil if it can. The commit checks again that no other
// live task has it.
func (e *Engine) checkBranch(ctx context.Context, p task.Project, t task.Task) error {
	if t.Branch == p.DefaultBranch {
		return task.Notef(task.ErrUsage,
			"cannot use the branch %q for a task: it is the default branch of %q, where only reviewed work belongs",
			t.Branch, p.Name)
	}
	others, err := e.Record.List(ctx, record.Filter{Project: t.Project, Branch: t.Branch, Live: true})
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.ID != t.ID {
			return task.Notef(task.ErrBranchTaken, "cannot use the branch %q: the live task %s has it", t.Branch, o.ID)
		}
	}
	return e.Work.CheckBranch(ctx, t)
}

func (e *Engine) branch(ctx context.Context, t task.Task, name string) (string, error) {
	if name != "" {
		project, err := e.Work.Project(t.Project)
		if err != nil {
			return "", err
		}
		wanted := t
		wanted.Branch = name
		if err := e.checkBranch(ctx, project, wanted); err != nil {
			return "", err
		}
	}
	if t.Workspace == "" {
		if name == "" {
			return "", task.Notef(task.ErrUsage,
				"cannot take over the branch of task %s: it has no workspace; give the branch a name", t.ID)
		}
		return name, nil
	}
	return e.Work.SetBranch(ctx, t, name)
}

// Respawn starts the agent of the present status again. alive reports whether the earlier one still lives.
func (e *Engine) Respawn(ctx context.Context, id string, alive func(task.Task, string) (bool, error),
	actor task.Actor) (record.Outcome, error) {
	return e.once(ctx, id, actor, func() (record.Outcome, error) { return e.respawn(ctx, id, alive, actor) })
}

func (e *Engine) respawn(ctx context.Context, id string, alive func(task.Task, string) (bool, error),
	actor task.Actor) (record.Outcome, error) {
	if err := e.finishPending(ctx, id, actor); err != nil {
		return record.Outcome{}, err
	}
	if _, _, _, err := e.refresh(ctx, id, headerAlone); err != nil {
		return record.Outcome{}, err
	}
	s, _, err := e.do(ctx, id, e.withRules, func(s step) (*ruling, error) {
		state, _ := s.def.State(s.Task.Status)
		lives, err := e.seatedAs(ctx, id, state.Role)
		if err == nil && lives { // an agent whose end is noted is dead, even while its window closes
			lives, err = alive(s.Task, state.Role)
		}
		if err != nil {
			return nil, err
		}
		if s.Task.Workspace == "" {
			if err := e.branchThere(ctx, s.Task); err != nil {
				return nil, err
			}
		}
		return e.respawned(ctx, s, lives, actor)
	})
	if errors.Is(err, task.ErrPoolFull) {
		now, unread := e.Record.Load(ctx, id)
		if unread != nil || now.Task.Displaced() {
			return record.Outcome{}, cmp.Or(unread, e.noRoom(ctx, now.Task))
		}
		return e.queue(ctx, now.Task, task.Request{Task: id, To: now.Task.Status, Actor: actor})
	}
	if err != nil {
		return record.Outcome{}, err
	}
	return e.conclude(ctx, s.Task, s.Task.Seq, actor)
}

// respawned has the agent of a task started again.
func (e *Engine) respawned(ctx context.Context, s step, lives bool, actor task.Actor) (*ruling, error) {
	missing, err := e.Work.Missing(ctx, s.Task)
	if err != nil {
		return nil, err
	}
	c, err := decide.Respawn(s.def, s.Task, lives, missing != "", actor, e.Now())
	if err == nil && c.Lease == record.LeaseReserve {
		_, err = e.Work.Project(s.Task.Project) // one that is gone has no workspaces, and never will
	}
	return &ruling{change: c, in: replay.Inputs{Ask: replay.AskRespawn, Missing: missing != ""}.By(actor),
		overtaken: "overtaken by a respawn"}, err
}

// Delete removes a task from the record and moves its folder to the trash. It first cancels a live task by the usual
// request.
func (e *Engine) Delete(ctx context.Context, id string, actor task.Actor) (gone record.DeletedTask, err error) {
	s, err := e.Record.Load(ctx, id)
	if err == nil {
		err = decide.Delete(s.Task, actor)
	}
	if err != nil {
		return gone, err
	}
	if s.Task.Live {
		if _, err := e.Command(ctx, id, workflow.MoveCancel, actor, "deleted"); err != nil {
			return gone, err
		}
	}
	if err := e.givenBack(ctx, id, actor); err != nil {
		return gone, err
	}
	if gone.Stayed, err = e.stayedSince(ctx, id, 0); err != nil {
		return gone, err
	}
	// A process that mirrors the task at this moment would create its folder again.
	release, err := e.Folder.Lock(ctx, FilesLock(id))
	if err != nil {
		return gone, err
	}
	defer release()
	if err := e.Record.Delete(ctx, id); err != nil {
		return gone, err
	}
	e.dropEnvironment(ctx, id)
	gone.Folder, err = e.Folder.Trash(s.Task.Project, id)
	err = errors.Join(err, e.Environments.Forget(ctx, id))
	e.startThoseAfter(ctx, id)
	return gone, err
}

// givenBack has a task that has ended give its workspace back. What has failed is tried once more now: git, tmux and a
// program that ends late may refuse for a moment.
func (e *Engine) givenBack(ctx context.Context, id string, actor task.Actor) error {
	for tried := false; ; tried = true {
		s, err := e.Record.Load(ctx, id)
		if err != nil || s.Task.Workspace == "" && !s.Task.Live {
			return err
		}
		if tried || s.Task.Live {
			why := "what gives it back is not done yet"
			for _, h := range s.Owed {
				if h.Error != "" {
					why = h.Action + ": " + h.Error
				}
			}
			return fmt.Errorf("cannot delete task %s yet: it still has its workspace (%s): %s; run %q and try again",
				id, s.Task.Workspace, why, "orange task retry "+id)
		}
		if _, err := e.retry(ctx, id, actor); err != nil {
			return err
		}
	}
}
