package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/forge"
)

// requests are the pull requests of projects, and their issues, where each project has them.
type requests struct {
	*places
	settings *settings
	log      *slog.Logger
}

// Find lists the pull requests of a branch; none where the program for them is not there, or there is none.
func (r *requests) Find(ctx context.Context, project, branch string) ([]record.PullRequest, error) {
	at, err := r.hostOf(ctx, project)
	if err != nil || at.kind == record.ForgeNone {
		return nil, err
	}
	host := forge.For(at.kind)
	if _, there := host.Program(ctx); !there {
		return nil, nil
	}
	return host.Find(ctx, at.Path, at.remote, branch)
}

// States reads how the pull requests with these addresses are.
func (r *requests) States(ctx context.Context, project string, addresses []string) ([]record.PullRequest, error) {
	p, err := r.setup.Project(project)
	if err != nil || len(addresses) == 0 {
		return nil, err
	}
	return forge.OfRequest(addresses[0]).States(ctx, p.Path, addresses)
}

// Log is the end of the log of a check, as a look at the pull request with this address named it.
func (r *requests) Log(ctx context.Context, project, address, log string, most int) (string, error) {
	p, err := r.setup.Project(project)
	if err != nil {
		return "", err
	}
	return forge.OfRequest(address).Log(ctx, p.Path, address, log, most)
}

// Issue reads an issue of a project's repository.
func (r *requests) Issue(ctx context.Context, project string, number int) (record.Issue, error) {
	at, err := r.knownHostOf(ctx, project, fmt.Sprintf("issue %d", number), "hand its text over with --context FILE")
	if err != nil {
		return record.Issue{}, err
	}
	return forge.For(at.kind).Issue(ctx, at.Path, at.remote, number)
}

// Request reads a pull request of a project's repository.
func (r *requests) Request(ctx context.Context, project string, number int) (record.Adoptee, error) {
	at, err := r.knownHostOf(ctx, project, fmt.Sprintf("pull request %d", number),
		"fetch its branch, and name that: orange task create BRANCH SUMMARY")
	if err != nil {
		return record.Adoptee{}, err
	}
	return forge.For(at.kind).Request(ctx, at.Path, at.remote, number)
}

// knownHostOf is hostOf for what has to be read there; instead is what a person can do where no program reads it.
func (r *requests) knownHostOf(ctx context.Context, project, what, instead string) (requestsAt, error) {
	at, err := r.hostOf(ctx, project)
	if err == nil && at.kind == record.ForgeNone {
		err = fmt.Errorf("cannot read %s of project %q: its origin is not on GitHub or GitLab; %s", what, project,
			instead)
	}
	return at, err
}

// Bring makes a branch here of the head of a pull request.
func (r *requests) Bring(ctx context.Context, project string, a record.Adoptee) error {
	p, err := r.setup.Project(project)
	if err != nil {
		return err
	}
	repo, _, err := r.settings.asNoted(ctx, p)
	if err != nil {
		return err
	}
	return repo.BringRequest(ctx, a.Ref, a.Branch, a.Commit)
}

// Where is the kind of place that a project's pull requests are at.
func (r *requests) Where(ctx context.Context, project string) (string, error) {
	at, err := r.hostOf(ctx, project)
	return at.kind, err
}

// requestsAt is a project, and where its pull requests are.
type requestsAt struct {
	task.Project
	kind   string
	remote string // the address of its origin
}

func (r *requests) hostOf(ctx context.Context, project string) (requestsAt, error) {
	p, err := r.setup.Project(project)
	if err != nil {
		return requestsAt{Project: p}, err
	}
	return r.hostAt(ctx, p)
}

func (r *requests) hostAt(ctx context.Context, p task.Project) (requestsAt, error) {
	at := requestsAt{Project: p, kind: record.ForgeNone}
	repo, _, err := r.settings.asNoted(ctx, p)
	if err != nil {
		return at, err
	}
	origin, err := repo.Origin(ctx)
	if err != nil || len(origin) == 0 {
		return at, err
	}
	at.kind = forgeOf(ctx, p, origin)
	known := func(address string) bool { return forge.At(ctx, address) == at.kind }
	at.remote = origin[max(slices.IndexFunc(origin, known), 0)]
	return at, nil
}

// Opener opens pull requests. Where no one knows the place it leaves that to gh, which may know more hosts.
type Opener struct{ *Pool }

// Find lists the pull requests of a branch.
func (o Opener) Find(ctx context.Context, p task.Project, branch string) ([]record.PullRequest, error) {
	at, err := o.hostAt(ctx, p)
	if err != nil {
		return nil, err
	}
	return forge.For(at.kind).Find(ctx, p.Path, at.remote, branch)
}

// Create opens a pull request for a branch that origin has.
func (o Opener) Create(ctx context.Context, p task.Project, d forge.Draft) (record.PullRequest, error) {
	at, err := o.hostAt(ctx, p)
	if err != nil {
		return record.PullRequest{}, err
	}
	return forge.For(at.kind).Create(ctx, p.Path, at.remote, d)
}

// MonitoredRequests are pull requests as the monitor asks for them: it does without the program where that is not
// there, waits after errors, and leaves a part of the quota to people.
type MonitoredRequests struct {
	*Pool
	Now     func() time.Time
	missing sync.Map // programs that it has reported
}

// Look reads how the pull requests with these addresses are; nothing where the program for them is not there. While the
// host is not to be asked, the error says until when, and why.
func (w *MonitoredRequests) Look(ctx context.Context, project string, addresses []string) ([]record.PRLook, error) {
	if len(addresses) == 0 {
		return nil, nil
	}
	where := forge.OfRequest(addresses[0])
	if name, there := where.Program(ctx); !there {
		if _, told := w.missing.LoadOrStore(name, true); !told {
			w.requests.log.Info("pull requests are not looked at: "+name+" is not on PATH", "component", "monitor")
		}
		return nil, nil
	}
	p, err := w.setup.Project(project)
	if err != nil {
		return nil, err
	}
	host, err := forge.HostOfRequest(addresses[0])
	if err != nil {
		return nil, err
	}
	before, err := w.ForgePause(host)
	if err != nil {
		return nil, err
	}
	if before.Holds(w.Now()) {
		return nil, pauseError(before)
	}
	found, quota, met := where.Look(ctx, p.Path, addresses)
	after := forge.Pause(before, quota, len(found) > 0, met, w.Now())
	if after == before {
		return found, met
	}
	if met == nil && after.Holds(w.Now()) { // else the monitor reports what it met
		w.requests.log.Warn("pull requests are not looked at for a while", "component", "monitor", "host", host,
			"until", after.Until.UTC().Format(time.RFC3339), "why", after.Why)
	}
	return found, errors.Join(met, w.keepForgePause(after))
}

func pauseError(p record.ForgePause) error {
	return fmt.Errorf("%s is not asked before %s: %s", p.Host, p.Until.UTC().Format(time.RFC3339), p.Why)
}

const pausesName = "pull-requests.json"

// ForgePauses are the hosts of pull requests that the monitor leaves alone for a while, or did.
func (r *requests) ForgePauses() ([]record.ForgePause, error) {
	text, err := proc.ReadFile(filepath.Join(r.home, pausesName))
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
func (r *requests) ForgePause(host string) (record.ForgePause, error) {
	all, err := r.ForgePauses()
	for _, one := range all {
		if strings.EqualFold(one.Host, host) {
			return one, err
		}
	}
	return record.ForgePause{Host: host}, err
}

// keepForgePause keeps what is known of a host for the next look, by whichever process.
func (r *requests) keepForgePause(one record.ForgePause) error {
	all, err := r.ForgePauses()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(other record.ForgePause) bool { return strings.EqualFold(other.Host, one.Host) })
	if one.Why != "" {
		all = append(all, one)
	}
	if err := proc.ReplaceJSON(filepath.Join(r.home, pausesName), all); err != nil {
		return fmt.Errorf("keep when pull requests are looked at again: %w", err)
	}
	return nil
}
