package pool

import (
	"context"
	"slices"
	"sync"

	"orange/internal/forge"
	"orange/internal/record"
)

// GitHub has the pull requests of projects.
type GitHub struct{ Pool *Pool }

// Find lists those of a branch; none where there is no gh, or origin is not on GitHub.
func (g GitHub) Find(ctx context.Context, project, branch string) ([]record.PullRequest, error) {
	gh := forge.GH{}
	g.Pool.beforePrograms(ctx)
	p, err := g.Pool.Setup.Project(project)
	if err != nil || !gh.There() {
		return nil, err
	}
	origin, err := g.Pool.repoOf(p).Origin(ctx)
	if err != nil || !slices.ContainsFunc(origin, forge.OnGitHub) {
		return nil, err
	}
	return gh.Find(ctx, p.Path, branch)
}

// States reads with one call how the pull requests with these addresses are.
func (g GitHub) States(ctx context.Context, project string, addresses []string) ([]record.PullRequest, error) {
	g.Pool.beforePrograms(ctx)
	p, err := g.Pool.Setup.Project(project)
	if err != nil {
		return nil, err
	}
	return forge.GH{}.States(ctx, p.Path, addresses)
}

// OptionalGitHub does without gh where there is none, and logs that once.
type OptionalGitHub struct {
	GitHub
	missing sync.Once
}

// States reads how the pull requests with these addresses are; nothing where there is no gh.
func (o *OptionalGitHub) States(ctx context.Context, project string, addresses []string) ([]record.PullRequest,
	error) {
	o.Pool.beforePrograms(ctx) // it may have to be found where the person has said for all tasks
	if !(forge.GH{}).There() {
		o.missing.Do(func() {
			o.Pool.Log.Info("pull requests are not looked at: gh is not on PATH", "component", "monitor")
		})
		return nil, nil
	}
	return o.GitHub.States(ctx, project, addresses)
}
