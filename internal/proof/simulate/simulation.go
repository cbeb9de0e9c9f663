package simulate

import (
	"context"
	"time"

	"orange/internal/engine"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// Simulation is the world of one run, with what hooks do in it.
type Simulation struct{ r *run }

// Store is the record, with programs that may end before and after every question.
func (s *Simulation) Store() Record { return s.r.view().Store() }

// Engine is an engine that works on a record.
func (s *Simulation) Engine(rec Record) *engine.Engine {
	p := s.r.view().Ports(rec)
	p.Work, p.Facts, p.Environments = s.repository(), facts(*s).Look, noEnvironments{}
	p.Perform, p.RunHooks = hooks(*s).Perform, hooks(*s).Run
	p.Random = s.r.secrets
	p.Patience = time.Nanosecond // a runner has come back when the engine looks, or it has ended
	return engine.New(p)
}

// noEnvironments keeps none: the programs of this world run in none.
type noEnvironments struct{}

func (noEnvironments) Keep(context.Context, string) error { return nil }
func (noEnvironments) Drop(context.Context, string) error { return nil }

func (noEnvironments) Give(context.Context, string, []string) error { return nil }
func (noEnvironments) Forget(context.Context, string) error         { return nil }

// PullRequests is the state of the pull request, about which no one says anything.
func (s *Simulation) PullRequests(ctx context.Context, project string, addresses []string) (
	out []record.PRLook, err error) {
	found, err := s.repository().States(ctx, project, addresses)
	for i := range found {
		out = append(out, record.PRLook{PullRequest: found[i]})
	}
	return out, err
}

// Terminal is what a monitor sees of agents.
func (s *Simulation) Terminal() Terminal { return s.r.view().Terminal() }

// Rules finds the workflow.
func (s *Simulation) Rules() SingleWorkflow { return SingleWorkflow{s.r.Workflow} }

// Now is the time in the world.
func (s *Simulation) Now() time.Time { return s.r.clock }

// Tell notes a message to people.
func (s *Simulation) Tell(_ context.Context, _ task.Task, text string) {
	s.r.logf("people get the message: %s", text)
}

func project() task.Project {
	return task.Project{Name: "simulated", Path: "/simulated", DefaultBranch: "main", PoolSize: 1}
}

// repository is the one of the world, with a pull request and merges.
type repository struct {
	Repository
	r *run
}

func (s *Simulation) repository() repository { return repository{s.r.view().Repository(), s.r} }

// Find finds the pull request if it is open or was.
func (p repository) Find(ctx context.Context, project, _ string) ([]record.PullRequest, error) {
	return p.States(ctx, project, nil)
}

// States is the state of the pull request.
func (p repository) States(context.Context, string, []string) ([]record.PullRequest, error) {
	return take(p.r, Step{What: "it asks for pull requests"}, func() ([]record.PullRequest, error) {
		if p.r.pr.URL == "" {
			return nil, nil
		}
		return []record.PullRequest{p.r.pr}, nil
	})
}

// Log is empty: no check has one.
func (repository) Log(context.Context, string, string, string, int) (string, error) { return "", nil }

// Merge merges a commit, and checks whether it may be merged.
func (p repository) Merge(ctx context.Context, t task.Task, order record.MergeOrder,
	begin func(context.Context, string) error) (record.MergeResult, error) {
	err := p.r.Step(Step{What: "it merges", Task: t.ID}, func() error {
		fails := p.r.mergeFails(t)
		if !fails || p.r.chance(0.5) { // else it is in conflict at once
			if err := begin(ctx, merged); err != nil {
				return err
			}
		}
		if fails {
			p.r.logf("the merge is in conflict")
			return &record.Unmerged{Files: []string{"shared"}}
		}
		b := p.r.branch()
		if b.Merged = true; !b.Mergeable(order.Commit) {
			p.r.breakf(propMerges,
				"commit %s is merged, and no one passed it, approved it or took responsibility for it", order.Commit)
		}
		return nil
	})
	return record.MergeResult{Commit: merged, How: "merged"}, err
}

// merged is the commit that each merge results in.
const merged = "c0ffee"
