package screen

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/api/remote"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard"
)

// row is a task as the screen has it.
type row struct {
	task  task.Task
	host  remote.Host // empty where no host has it
	lost  string      // why its host gives no answer; empty where it does
	agent dashboard.Agent
}

// atHost comes before the name of the host, behind the summary: the dashboard of one home has no place for it.
const atHost = " · at "

// listed is a task as a host lists it.
type listed struct {
	ID            string         `json:"id"`
	Project       string         `json:"project"`
	Branch        string         `json:"branch"`
	Harness       string         `json:"harness"`
	ReviewHarness string         `json:"review_harness"`
	Status        task.Status    `json:"status"`
	Previous      task.Status    `json:"previous_status"`
	Summary       string         `json:"summary"`
	Workspace     string         `json:"workspace"`
	Session       string         `json:"tmux_session"`
	Created       time.Time      `json:"created_at"`
	Updated       time.Time      `json:"updated_at"`
	Entered       time.Time      `json:"entered_at"`
	PRURL         string         `json:"pr_url"`
	PRState       string         `json:"pr_state"`
	Workflow      string         `json:"workflow"`
	Version       int            `json:"workflow_version"`
	Attention     string         `json:"attention"`
	QueuedFor     task.Status    `json:"queued_for"`
	Live          bool           `json:"live"`
	Counters      map[string]int `json:"counters"`
	Overdue       int            `json:"overdue"`
	Agent         string         `json:"session"`
	Need          record.Need    `json:"needs_you"`
}

func (l listed) row(at remote.Host) row {
	t := task.Task{ID: l.ID, Project: l.Project, Branch: l.Branch, Summary: l.Summary, Harness: l.Harness,
		ReviewHarness: l.ReviewHarness, Status: l.Status, Previous: l.Previous, Workspace: l.Workspace,
		Session: l.Session, Attention: l.Attention, QueuedFor: l.QueuedFor, Live: l.Live, PRURL: l.PRURL,
		PRState: l.PRState, CreatedAt: l.Created, UpdatedAt: l.Updated, EnteredAt: l.Entered, Overdue: l.Overdue,
		Version:  l.Updated.UnixMilli(),
		Workflow: task.WorkflowRef{Name: l.Workflow, Version: l.Version, Digest: at.Name + "/" + l.Workflow}}
	if at.Name != "" {
		t.Summary += atHost + at.Name
	}
	for name, count := range l.Counters {
		t.Counters = t.Counters.With(name, count)
	}
	return row{task: t, host: at, agent: dashboard.Agent{State: l.Agent, Need: l.Need}}
}

// read reads the tasks of all hosts. Those of a host that gives no answer are as they were last told.
func (v *view) read(ctx context.Context) (map[string]row, error) {
	known, err := v.fleet.Known(ctx)
	if err != nil {
		return nil, err
	}
	all, lock, hosts := map[string]row{}, sync.Mutex{}, sync.WaitGroup{}
	silent := map[string]string{}
	for _, h := range known.Hosts {
		at := remote.Host{Name: h.Name, SSH: h.SSH}
		if !h.Here {
			silent[h.Name] = "lost since " + remote.Clock(h.Since)
			continue
		}
		hosts.Go(func() {
			rows, err := v.list(ctx, at)
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				silent[at.Name] = err.Error()
			}
			maps.Copy(all, rows)
		})
	}
	hosts.Wait()
	for _, t := range known.Tasks {
		_, has := all[t.ID]
		why := silent[t.Host]
		if why == "" && t.Missing() {
			why = t.Attention
		} else if why == "" && t.Taking {
			why = "it is asked to take the task"
		}
		if !has && (t.Host == "" || why != "") {
			all[t.ID] = v.told(known, t, why)
		}
	}
	v.lock.Lock()
	defer v.lock.Unlock()
	v.rows = all
	v.seen++
	return maps.Clone(all), nil
}

// list asks a host for its tasks.
func (v *view) list(ctx context.Context, at remote.Host) (map[string]row, error) {
	var said struct {
		Tasks []listed `json:"tasks"`
	}
	if err := v.look(ctx, at, &said, "list", "--all"); err != nil {
		return nil, err
	}
	out := map[string]row{}
	for _, l := range said.Tasks {
		out[l.ID] = l.row(at)
	}
	return out, nil
}

// told is a task whose host gives no answer, or that no host has: attention says so.
func (v *view) told(known remote.ServerView, t remote.ServerTask, why string) row {
	r := row{host: remote.Host{Name: t.Host}, lost: why, task: task.Task{ID: t.ID, Project: t.Project,
		Branch: t.Branch, Summary: t.Summary, Status: t.Status, Live: t.Live, CreatedAt: t.Told, UpdatedAt: t.Told,
		EnteredAt: t.Told, Version: t.Told.UnixMilli(), Attention: fmt.Sprintf("host %s: %s; %s", t.Host, why,
			t.LastTold(time.Local))}}
	if t.Host == "" {
		waits, _ := known.Why(t)
		r.lost, r.task.Attention = "it waits for a place", "waits for a place: "+waits
	}
	r.agent.State = record.AgentUnknown
	return r
}

// look asks a host something that changes nothing, and reads its JSON.
func (v *view) look(ctx context.Context, at remote.Host, into any, words ...string) error {
	argv := append([]string{"task", words[0], "--json"}, words[1:]...)
	c := remote.Call{V: remote.Version, Argv: argv}
	reply, err := v.fleet.Ask(ctx, at, c, lookTime)
	if err != nil {
		return err
	}
	if reply.Exit != 0 || reply.Refused != "" {
		return errors.New(reply.Failure())
	}
	err = json.Unmarshal([]byte(reply.Stdout), into)
	if err != nil && strings.Contains(reply.Stderr, remote.CutShort) {
		return task.Notef(ErrElsewhere, "cannot show it from here: %s; log in at host %s, and run orange %s there",
			remote.CutShort, at.Name, strings.Join(append([]string{"task", words[0]}, c.Arguments()...), " "))
	}
	if err != nil {
		return fmt.Errorf("read what host %s says: %w", at.Name, err)
	}
	return nil
}

// of is a task as it was read last. The error says why its host cannot be asked.
func (v *view) of(id string) (row, error) {
	v.lock.Lock()
	defer v.lock.Unlock()
	r, is := v.rows[id]
	switch {
	case !is:
		return r, task.Notef(task.ErrNotFound, "the fleet has no task %q", id)
	case r.lost != "":
		return r, task.Notef(remote.ErrNotReached, "cannot ask for task %s: %s", id, cmp.Or(r.task.Attention, r.lost))
	}
	return r, nil
}

// First are the newest live tasks of a project.
func (v *view) First(ctx context.Context, project string, most int) ([]task.Task, error) {
	all, _, err := v.All(ctx)
	all = slices.DeleteFunc(all, func(t task.Task) bool { return !t.Live || project != "" && t.Project != project })
	return all[:min(most, len(all))], err
}

// All are all tasks, the live ones first, the newest first.
func (v *view) All(ctx context.Context) ([]task.Task, int64, error) {
	rows, err := v.read(ctx)
	if err != nil {
		return nil, 0, err
	}
	var out []task.Task
	for _, r := range rows {
		out = append(out, r.task)
	}
	slices.SortFunc(out, func(a, b task.Task) int {
		if a.Live != b.Live {
			return map[bool]int{true: -1, false: 1}[a.Live]
		}
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	v.lock.Lock()
	defer v.lock.Unlock()
	return out, v.seen, nil
}

// Since are the tasks that changed since they were read last, and those that are gone.
func (v *view) Since(ctx context.Context, _ int64) (changed []task.Task, gone []string, next int64, err error) {
	v.lock.Lock()
	before := v.rows
	v.lock.Unlock()
	after, err := v.read(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	for id, r := range after {
		if had, is := before[id]; !is || !reflect.DeepEqual(had.task, r.task) {
			changed = append(changed, r.task)
		}
	}
	for id := range before {
		if _, is := after[id]; !is {
			gone = append(gone, id)
		}
	}
	v.lock.Lock()
	defer v.lock.Unlock()
	return changed, gone, v.seen, nil
}

// Watch calls changed where the list of the server has changed.
func (v *view) Watch(ctx context.Context, changed func()) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last remote.ServerView
	for {
		now, err := v.fleet.Known(ctx)
		if now.At = last.At; err == nil && !reflect.DeepEqual(now, last) {
			last = now
			changed()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Agents are the agents as their hosts listed them with the tasks.
func (v *view) Agents(ctx context.Context, tasks []task.Task) (map[string]dashboard.Agent, error) {
	rows, err := v.read(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]dashboard.Agent{}
	for _, t := range tasks {
		if r, is := rows[t.ID]; is {
			out[t.ID] = r.agent
		}
	}
	return out, nil
}

// Rules is the workflow of a name as it is here: the host's own has the same name and version.
func (v *view) Rules(_ context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	if ref.Name == "" { // no host says which it is: no move is open from here
		return &workflow.Definition{}, nil
	}
	def, _, err := v.FindWorkflow(ref.Name)
	if err == nil && def.Version != ref.Version {
		err = task.Notef(task.ErrNotFound, "cannot show the moves of a task: its workflow %q has the version %d, and "+
			"the one here has %d", ref.Name, ref.Version, def.Version)
	}
	return def, err
}
