package screen

import (
	"context"
	"crypto/rand"
	"slices"

	"orange/internal/api"
	"orange/internal/api/client"
	"orange/internal/api/remote"
	"orange/internal/rules/diff"
	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard"
)

// run has the host of a task do a command, which the person signs.
func (v *view) run(ctx context.Context, c remote.Call) (remote.Reply, error) {
	id := c.Task()
	r, err := v.of(id)
	if err != nil {
		return remote.Reply{}, err
	}
	if _, err := v.fleet.Find(ctx, id); err != nil { // who has it now
		return remote.Reply{}, err
	}
	if remote.RepeatOf(c.Argv[1]) == api.Keyed {
		c.Key = rand.Text()
	}
	return v.fleet.Ask(ctx, r.host, c, askTime)
}

// Merge merges a task's branch at its host.
func (v *view) Merge(ctx context.Context, id string, m task.Merge) (record.Outcome, string, error) {
	out, _, err := v.Client.Merge(ctx, id, m)
	return out, "merged at its host", err
}

// MergeMany is of one host at a time, and needs its repository.
func (v *view) MergeMany(context.Context, record.MergeMany, func(record.MergedOne)) error {
	return task.Notef(ErrElsewhere, "cannot merge several tasks together from here: merge them one by one, or run "+
		"orange merge at their host")
}

// Delete deletes a task at its host, and the comments on it that are kept here.
func (v *view) Delete(ctx context.Context, id string) (record.DeletedTask, error) {
	r, err := v.of(id)
	if err != nil {
		return record.DeletedTask{}, err
	}
	gone, err := v.Client.Delete(ctx, id)
	if err != nil {
		return gone, err
	}
	gone.Folder = "deleted at its host"
	none := func([]diff.Comment) []diff.Comment { return nil }
	if _, err := comments(v.Home).ChangeComments(ctx, r.task.Project, id, none); err != nil {
		gone.Folder += "; the comments on it are kept here: " + err.Error()
	}
	return gone, nil
}

// Create has a task created where there is a place for it.
func (v *view) Create(ctx context.Context, n task.New) (record.Outcome, error) {
	random := make([]byte, task.IDLength)
	if _, err := rand.Read(random); err != nil {
		return record.Outcome{}, err
	}
	id, err := task.NewID(random)
	if err != nil {
		return record.Outcome{}, err
	}
	b := remote.Placement{ID: id, Project: n.Project.Name, Branch: n.Branch, Summary: n.Summary,
		Call: client.Creation(n)}
	if n.Harness != "" {
		b.Harness = []string{n.Harness}
	}
	placed, err := v.fleet.Create(ctx, b)
	switch {
	case err != nil:
		return record.Outcome{}, err
	case placed.Reply == nil:
		return record.Outcome{Task: task.Task{ID: id, Project: b.Project, Branch: b.Branch, Summary: b.Summary,
			Live: true}, Queued: true}, nil
	}
	return client.Outcome(*placed.Reply)
}

// Choices are what hosts have that are there, and the workflows here.
func (v *view) Choices(ctx context.Context) (dashboard.Choices, error) {
	known, err := v.fleet.Known(ctx)
	if err != nil {
		return dashboard.Choices{}, err
	}
	var out dashboard.Choices
	var projects, harnesses []string
	for _, h := range known.Hosts {
		if h.Here {
			projects = append(projects, h.Projects...)
			harnesses = append(harnesses, h.Harness...)
		}
	}
	slices.Sort(projects)
	slices.Sort(harnesses)
	for _, name := range slices.Compact(harnesses) { // a host names those alone whose programs it has
		out.Harnesses = append(out.Harnesses, harness.Choice{Name: name, Program: name, Path: name})
	}
	for _, name := range slices.Compact(projects) {
		out.Projects = append(out.Projects, task.Project{Name: name})
	}
	all, err := v.ListWorkflows()
	if err != nil {
		return out, err
	}
	for _, l := range all {
		if def, err := v.Read(l); err == nil {
			out.Workflows = append(out.Workflows, dashboard.WorkflowChoice{Name: l.Name, Rules: def})
		}
	}
	return out, nil
}

// Attach gives the terminal to the window of a task's agent at its host.
func (v *view) Attach(ctx context.Context, id, role string) error {
	r, err := v.of(id)
	if err != nil {
		return err
	}
	if r.host.SSH == "" {
		return v.elsewhere("open the window", id, "orange task attach "+id)
	}
	_, err = v.fleet.Attach(ctx, r.host, id, role, true)
	return err
}
