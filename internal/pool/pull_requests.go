package pool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/forge"
	"orange/internal/proc"
	"orange/internal/record"
	"orange/internal/task"
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
	if err != nil || forgeOf(p, origin) != record.ForgeGitHub {
		return nil, err
	}
	return gh.Find(ctx, p.Path, branch)
}

// States reads with one call how the pull requests with these addresses are.
func (g GitHub) States(ctx context.Context, project string, addresses []string) ([]record.PullRequest, error) {
	seen, _, err := g.look(ctx, project, addresses)
	var found []record.PullRequest
	for i := range seen {
		found = append(found, seen[i].PullRequest)
	}
	return found, err
}

func (g GitHub) look(ctx context.Context, project string, addresses []string) ([]record.PRLook, forge.Quota, error) {
	g.Pool.beforePrograms(ctx)
	p, err := g.Pool.Setup.Project(project)
	if err != nil {
		return nil, forge.Quota{}, err
	}
	return forge.GH{}.Look(ctx, p.Path, addresses)
}

// Log is the end of the log of a check, as a look at the pull request with this address named it.
func (g GitHub) Log(ctx context.Context, project, address, log string, most int) (string, error) {
	p, err := g.Pool.Setup.Project(project)
	if err != nil {
		return "", err
	}
	return forge.GH{}.Log(ctx, p.Path, address, log, most)
}

// Issue reads an issue of a project's repository.
func (g GitHub) Issue(ctx context.Context, project string, number int) (record.Issue, error) {
	p, remote, err := g.on(ctx, project)
	if err != nil || remote == "" {
		return record.Issue{}, cmp.Or(err, fmt.Errorf("cannot read issue %d of project %q: its origin is not on "+
			"GitHub; hand its text over with --context FILE", number, project))
	}
	return forge.GH{}.Issue(ctx, p.Path, remote, number)
}

// Request reads a pull request of a project's repository.
func (g GitHub) Request(ctx context.Context, project string, number int) (record.Adoptee, error) {
	p, remote, err := g.on(ctx, project)
	if err != nil || remote == "" {
		return record.Adoptee{}, cmp.Or(err, fmt.Errorf("cannot read pull request %d of project %q: its origin is not "+
			"on GitHub; fetch its branch, and name that: orange task create BRANCH SUMMARY", number, project))
	}
	return forge.GH{}.Request(ctx, p.Path, remote, number)
}

// Bring makes a branch here of the head of a pull request.
func (g GitHub) Bring(ctx context.Context, project string, a record.Adoptee) error {
	p, err := g.Pool.Setup.Project(project)
	if err != nil {
		return err
	}
	return g.Pool.repoOf(p).BringRequest(ctx, a.Number, a.Branch, a.Commit)
}

// on is a project, and the address of its origin; empty where that is not on GitHub.
func (g GitHub) on(ctx context.Context, project string) (task.Project, string, error) {
	p, err := g.Pool.Setup.Project(project)
	if err != nil {
		return p, "", err
	}
	origin, err := g.Pool.repoOf(p).Origin(ctx)
	if err != nil || len(origin) == 0 || forgeOf(p, origin) != record.ForgeGitHub {
		return p, "", err
	}
	return p, origin[max(slices.IndexFunc(origin, forge.OnGitHub), 0)], nil
}

// WatchedGitHub is GitHub as the monitor asks it: it does without gh where there is none, waits after errors, and
// leaves a part of the quota to people.
type WatchedGitHub struct {
	GitHub
	Now     func() time.Time
	missing sync.Once
}

// Look reads how the pull requests with these addresses are; nothing where there is no gh. While the host is not to be
// asked, the error says until when, and why.
func (w *WatchedGitHub) Look(ctx context.Context, project string, addresses []string) ([]record.PRLook, error) {
	w.Pool.beforePrograms(ctx) // gh may have to be found where the person has said for all tasks
	if !(forge.GH{}).There() {
		w.missing.Do(func() {
			w.Pool.Log.Info("pull requests are not looked at: gh is not on PATH", "component", "monitor")
		})
		return nil, nil
	}
	if len(addresses) == 0 {
		return nil, nil
	}
	host, err := forge.HostOfRequest(addresses[0])
	if err != nil {
		return nil, err
	}
	before, err := w.Pool.ForgePause(host)
	if err != nil {
		return nil, err
	}
	if before.Holds(w.Now()) {
		return nil, paused(before)
	}
	found, quota, met := w.look(ctx, project, addresses)
	after := forge.Pause(before, quota, len(found) > 0, met, w.Now())
	if after == before {
		return found, met
	}
	if met == nil && after.Holds(w.Now()) { // else the monitor reports what it met
		w.Pool.Log.Warn("pull requests are not looked at for a while", "component", "monitor", "host", host, "until",
			after.Until.UTC().Format(time.RFC3339), "why", after.Why)
	}
	return found, errors.Join(met, w.Pool.keepForgePause(after))
}

func paused(p record.ForgePause) error {
	return fmt.Errorf("%s is not asked before %s: %s", p.Host, p.Until.UTC().Format(time.RFC3339), p.Why)
}

const pausesName = "pull-requests.json"

// ForgePauses are the hosts of pull requests that the monitor leaves alone for a while, or did.
func (p *Pool) ForgePauses() ([]record.ForgePause, error) {
	text, err := os.ReadFile(filepath.Join(p.Home, pausesName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read when pull requests are looked at again: %w", err)
	}
	var all []record.ForgePause
	if json.Unmarshal(text, &all) != nil {
		return nil, nil // it says nothing that the next look does not find out
	}
	return all, nil
}

// ForgePause is what is kept of a host.
func (p *Pool) ForgePause(host string) (record.ForgePause, error) {
	all, err := p.ForgePauses()
	for _, one := range all {
		if strings.EqualFold(one.Host, host) {
			return one, err
		}
	}
	return record.ForgePause{Host: host}, err
}

// keepForgePause keeps what is known of a host for the next look, by whichever process.
func (p *Pool) keepForgePause(one record.ForgePause) error {
	all, err := p.ForgePauses()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(other record.ForgePause) bool { return strings.EqualFold(other.Host, one.Host) })
	if one.Why != "" {
		all = append(all, one)
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = proc.ReplaceFile(filepath.Join(p.Home, pausesName), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep when pull requests are looked at again: %w", err)
	}
	return nil
}
