package app

import (
	"context"
	"slices"
	"sync"

	"orange/internal/forge"
	"orange/internal/record"
	"orange/internal/worktree"
)

// gitHub has the pull requests of projects, for the engine and the monitor.
type gitHub struct {
	app  *app
	mute *sync.Once // the first time that the watch finds no gh
}

func (a *app) gitHub() gitHub {
	return gitHub{app: a, mute: &sync.Once{}}
}

func (g gitHub) Find(ctx context.Context, project, branch string) ([]record.PullRequest, error) {
	gh := forge.GH{}
	p, err := g.app.home.Project(project)
	if err != nil || !gh.There() {
		return nil, err
	}
	origin, err := worktree.Repo{Path: p.Path, DefaultBranch: p.DefaultBranch}.Origin(ctx)
	if err != nil || !slices.ContainsFunc(origin, forge.OnGitHub) {
		return nil, err
	}
	return gh.Find(ctx, p.Path, branch)
}

func (g gitHub) Standing(ctx context.Context, project string, addresses []string) ([]record.PullRequest, error) {
	gh := forge.GH{}
	p, err := g.app.home.Project(project)
	if err != nil {
		return nil, err
	}
	return gh.Standing(ctx, p.Path, addresses)
}

// watchedRequests are the pull requests for the monitor, which does without gh where there is none.
type watchedRequests struct{ gitHub }

func (w watchedRequests) Standing(ctx context.Context, project string,
	addresses []string) ([]record.PullRequest, error) {
	if !(forge.GH{}).There() {
		w.mute.Do(func() {
			w.app.engine.Log.Info("pull requests are not looked at: gh is not on PATH", "component", "monitor")
		})
		return nil, nil
	}
	return w.gitHub.Standing(ctx, project, addresses)
}
