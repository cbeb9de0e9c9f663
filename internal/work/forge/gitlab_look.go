package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/record"
)

// States reads with one question a project how the merge requests with these addresses are. Those that GitLab does not
// know are missing from the answer; the error names them.
func (g GL) States(ctx context.Context, dir string, addresses []string) ([]record.PullRequest, error) {
	listed, _, err := g.listRequests(ctx, dir, addresses)
	var found []record.PullRequest
	for i := range listed {
		found = append(found, listed[i].pullRequest())
	}
	return found, err
}

// mostListed is how many merge requests one question asks for.
const mostListed = 50

func (g GL) listRequests(ctx context.Context, dir string, addresses []string) ([]mergeRequest, Quota, error) {
	var all error
	numbers, at := map[place][]string{}, map[place]map[string]string{}
	var places []place
	for _, address := range addresses {
		p, number, err := placeOfRequest(address)
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		if at[p] == nil {
			places, at[p] = append(places, p), map[string]string{}
		}
		numbers[p], at[p][number] = append(numbers[p], number), address
	}
	var found []mergeRequest
	var left Quota
	for _, p := range places {
		for some := range slices.Chunk(numbers[p], mostListed) {
			var listed []mergeRequest
			q, err := g.ask(ctx, dir, p, p.pathOf("merge_requests?scope=all&state=all&per_page=100&iids[]=%s",
				strings.Join(some, "&iids[]=")), &listed)
			if left = q; err != nil {
				return found, left, errors.Join(all, fmt.Errorf("cannot ask GitLab how %d merge requests stand: %w",
					len(some), err))
			}
			for i := range listed {
				number := strconv.Itoa(listed[i].Number)
				if address := at[p][number]; address != "" {
					listed[i].URL = address // a project that was renamed answers with its new name
					found = append(found, listed[i])
					delete(at[p], number)
				}
			}
		}
		for _, number := range numbers[p] {
			if address := at[p][number]; address != "" {
				all = errors.Join(all, fmt.Errorf("cannot read the state of the merge request %s: GitLab does not "+
					"know it, or does not show it to you", address))
			}
		}
	}
	return found, left, all
}

// Look reads the merge requests with these addresses with one question for their states, and some for each that is
// open: its pipelines, the jobs of that of its head, and its reviewers. What cannot be read of one is missing from it:
// then nothing follows from that.
func (g GL) Look(ctx context.Context, dir string, addresses []string) ([]record.PRLook, Quota, error) {
	listed, left, all := g.listRequests(ctx, dir, addresses)
	var found []record.PRLook
	for i := range listed {
		m := &listed[i]
		look := record.PRLook{PullRequest: m.pullRequest()}
		if look.State == record.PROpen && !stops(all) {
			q, err := g.details(ctx, dir, m, &look)
			if q.Limit > 0 {
				left = q
			}
			if err != nil {
				all = errors.Join(all, fmt.Errorf("cannot read what is said of %s: %w", m.URL, err))
			}
		}
		found = append(found, look)
	}
	return found, left, all
}

// stops reports whether no more is to be asked after these errors: it would be refused, or waited for, once more.
func stops(err error) bool {
	_, limited := errors.AsType[*Limited](err)
	return limited || errors.Is(err, context.DeadlineExceeded)
}

// details adds to a look the checks and the reviews.
func (g GL) details(ctx context.Context, dir string, m *mergeRequest, look *record.PRLook) (Quota, error) {
	p, number, err := placeOfRequest(m.URL)
	if err != nil {
		return Quota{}, err
	}
	if err := g.checks(ctx, dir, p, number, look); err != nil {
		return Quota{}, err
	}
	var reviewers []struct {
		User  user
		State string
	}
	left, err := g.ask(ctx, dir, p, p.pathOf("merge_requests/%s/reviewers", number), &reviewers)
	if err != nil {
		return left, err
	}
	var asking []user
	for _, r := range reviewers {
		if r.State == "requested_changes" {
			asking = append(asking, r.User)
		}
	}
	if len(asking) > 0 {
		look.Reviews, err = g.reviews(ctx, dir, p, number, asking)
	}
	return left, err
}

// checks reads the jobs of the newest pipeline of the head. One that GitLab ran for the result of a merge is about
// another commit, and does not count.
func (g GL) checks(ctx context.Context, dir string, p place, number string, look *record.PRLook) error {
	var pipelines []struct {
		ID      int
		Project int `json:"project_id"` // of a fork it is the fork
		SHA     string
		Status  string
	}
	_, err := g.ask(ctx, dir, p, p.pathOf("merge_requests/%s/pipelines?per_page=100", number), &pipelines)
	if err != nil {
		return err
	}
	look.Checks = record.ChecksNone
	newest := -1
	for i := range pipelines {
		if pipelines[i].SHA == look.Commit && (newest < 0 || pipelines[i].ID > pipelines[newest].ID) {
			newest = i
		}
	}
	if newest < 0 {
		return nil
	}
	one := pipelines[newest]
	look.Checks = jobResult(one.Status, false)
	in := "projects/" + strconv.Itoa(one.Project)
	if one.Project == 0 {
		in = strings.TrimSuffix(p.pathOf(""), "/")
	}
	var jobs []struct {
		ID           int
		Name, Status string
		URL          string `json:"web_url"`
		Why          string `json:"failure_reason"`
		MayFail      bool   `json:"allow_failure"`
	}
	if _, err := g.ask(ctx, dir, p, fmt.Sprintf("%s/pipelines/%d/jobs?per_page=100", in, one.ID), &jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		look.Runs = append(look.Runs, record.PRCheck{ID: "job " + strconv.Itoa(j.ID), Name: short(j.Name),
			Result: jobResult(j.Status, j.MayFail), Address: j.URL, Said: short(j.Why),
			Log: fmt.Sprintf("%s/jobs/%d/trace", in, j.ID)})
	}
	return nil
}

// jobResult is what the status of a job, or of a pipeline, comes to. One that a person would have to start holds up
// nothing, and one that may fail is of no account where it did.
func jobResult(status string, mayFail bool) string {
	switch status {
	case "success", "skipped":
		return record.ChecksPass
	case "failed":
		if mayFail {
			return record.ChecksNone
		}
		return record.ChecksFail
	case "canceled", "canceling", "manual":
		return record.ChecksNone
	}
	return record.ChecksPending
}

// Log is the end of the log of a job.
func (g GL) Log(ctx context.Context, dir, address, log string, most int) (string, error) {
	p, _, err := placeOfRequest(address)
	if err != nil {
		return "", err
	}
	out, err := g.program().run(ctx, dir, "", "api", "--hostname", p.host, log)
	if err != nil {
		return "", fmt.Errorf("cannot read the log of a job of %s: %w", address, err)
	}
	return end(out.Stdout, most), nil
}

// note is what someone, or GitLab itself in their name, wrote.
type note struct {
	ID               int
	Body             string
	Author           user
	At               time.Time `json:"created_at"`
	System, Resolved bool
	Position         *struct {
		Path string `json:"new_path"`
		Line *int   `json:"new_line"`
	}
}

// version is what the merge request had at its head from a time on.
type version struct {
	Commit string    `json:"head_commit_sha"`
	At     time.Time `json:"created_at"`
}

// reviews reads what the reviewers say who ask for changes. GitLab does not say of which commit: it is the one that was
// the head when they asked. A note may be moved to a newer commit, so its own position does not tell.
func (g GL) reviews(ctx context.Context, dir string, p place, number string, asking []user) ([]record.PRReview,
	error) {
	var notes []note
	discussions := p.pathOf("merge_requests/%s/discussions?per_page=100", number)
	err := g.readPages(ctx, dir, p, discussions, func(page json.RawMessage) error {
		var some []struct{ Notes []note }
		err := json.Unmarshal(page, &some)
		for _, one := range some {
			notes = append(notes, one.Notes...)
		}
		return err
	})
	var versions []version
	if err == nil {
		_, err = g.ask(ctx, dir, p, p.pathOf("merge_requests/%s/versions?per_page=100", number), &versions)
	}
	if err != nil {
		return nil, err
	}
	var found []record.PRReview
	for _, who := range asking {
		r, known := reviewOf(who, notes, versions)
		if !known {
			continue
		}
		if r.Author, err = g.author(ctx, dir, p, who); err != nil {
			return found, err
		}
		found = append(found, r)
	}
	return found, nil
}

// reviewOf is the review of one person: GitLab notes in their name when they ask for changes, and what they wrote
// about the same commit, and no one has resolved, belongs to it. Without that note it is the last that they wrote.
func reviewOf(who user, notes []note, versions []version) (r record.PRReview, known bool) {
	var asked, last *note
	for i := range notes {
		n := &notes[i]
		if n.Author.Username != who.Username {
			continue
		}
		newer := func(than *note) bool { return than == nil || n.At.After(than.At) }
		switch {
		case n.System && strings.Contains(strings.ToLower(n.Body), "requested changes") && newer(asked):
			asked = n
		case !n.System && newer(last):
			last = n
		}
	}
	if asked == nil {
		asked = last
	}
	if asked == nil {
		return r, false
	}
	r = record.PRReview{ID: "note " + strconv.Itoa(asked.ID), State: record.ReviewChanges,
		Commit: headAt(versions, asked.At)}
	var said []string
	for i := range notes {
		n := &notes[i]
		if n.Author.Username != who.Username || n.System || n.Resolved || headAt(versions, n.At) != r.Commit {
			continue
		}
		if n.Position == nil {
			said = append(said, n.Body)
			continue
		}
		about := record.PRNote{Path: short(n.Position.Path), Said: short(n.Body)}
		if n.Position.Line != nil {
			about.Line = *n.Position.Line
		}
		r.Notes = append(r.Notes, about)
	}
	r.Said = short(strings.Join(said, "\n\n"))
	return r, true
}

// headAt is the commit that was the head at a time; empty where it is not known.
func headAt(versions []version, at time.Time) string {
	var head version
	for _, v := range versions {
		if !v.At.After(at) && (head.Commit == "" || v.At.After(head.At)) {
			head = v
		}
	}
	return head.Commit
}
