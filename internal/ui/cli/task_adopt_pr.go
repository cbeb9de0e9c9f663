package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/document"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// fromForge says from what a new task begins at the place where pull requests are.
type fromForge struct {
	issue, pr int
	trust     string
}

func (f *fromForge) flags(c *cobra.Command) {
	c.Flags().IntVar(&f.issue, "issue", 0, "the number of an issue on GitHub or GitLab: where its author may write "+
		"to the repository, its title, quoted, is the summary, and its text, quoted, part of the context")
	c.Flags().IntVar(&f.pr, "pr", 0, "the number of an open pull request (on GitLab: a merge request), which becomes "+
		"the task's: its branch is fetched; title and text are used as those of an issue")
	c.Flags().StringVar(&f.trust, "trust", "", "AUTHOR@COMMIT of a pull request from a fork that you have looked at; "+
		"without it Orange names both")
}

// fill fills a new task from an issue or a pull request.
func (f *fromForge) fill(ctx context.Context, p *finder, h *Services, n task.New) (task.New, error) {
	switch {
	case f.pr < 0:
		return n, usage("found %d as --pr, expected the number of a pull request", f.pr)
	case f.pr > 0 && f.issue != 0:
		return n, usage("a task begins from an issue or from a pull request: leave --issue or --pr out")
	case f.pr == 0 && f.trust != "":
		return n, usage("--trust is for a pull request: give its number with --pr")
	case f.pr == 0:
		return fromIssue(ctx, p, h, n, f.issue)
	case n.Branch != "":
		return n, usage("the task gets the branch of the pull request: leave the branch %q out", n.Branch)
	}
	if err := h.Identity.Person(ctx, "make a task from a pull request"); err != nil {
		return n, err
	}
	project, err := p.projectOf(ctx, h)
	if err != nil {
		return n, err
	}
	a, err := h.Pool.Request(ctx, project.Name, f.pr)
	if err != nil {
		return n, err
	}
	if against := a.Against(project.DefaultBranch, f.trust); against != "" {
		return n, fmt.Errorf("cannot make a task from pull request %d (%s): %s", f.pr, a.URL, against)
	}
	if err := notYetATask(ctx, h, project, a); err != nil {
		return n, err
	}
	if err := h.Pool.Bring(ctx, project.Name, a); err != nil {
		return n, err
	}
	if pushing := a.Pushing(); pushing != "" {
		p.warn("pull request %d is by %s, at %s; %s", f.pr, printable.Line(a.Author.Name), a.Commit, pushing)
	}
	n.Branch, n.PRURL = a.Branch, a.URL
	// a person who trusts its files trusts its text
	return withOutside(&p.printer, n, a.Issue, fmt.Sprintf("pull request %d", f.pr), a.Foreign), nil
}

// notYetATask refuses a pull request that is a live task's, or whose branch is.
func notYetATask(ctx context.Context, h *Services, project task.Project, a record.Adoptee) error {
	all, err := h.Queries.Tasks(ctx, record.Filter{Project: project.Name, Live: true})
	if err != nil {
		return err
	}
	for i := range all {
		if t := &all[i]; t.PRURL == a.URL || t.Branch == a.Branch {
			return fmt.Errorf("cannot make a task from pull request %d (%s): task %s has it, on the branch %q; look "+
				"at it with orange task show %s, or link it with orange task create-pr %s", a.Number, a.URL, t.ID,
				t.Branch, t.ID, t.ID)
		}
	}
	return nil
}

// withOutside puts what others wrote into a new task: the title, quoted, as its summary, the text, quoted, before the
// context. Both stay out where someone wrote them who may not write to the repository, and is not trusted: an agent
// would read them.
func withOutside(p *printer, n task.New, from record.Issue, what string, trusted bool) task.New {
	author, address := printable.Line(from.Author.Name), printable.Line(from.Address)
	title := printable.Line(strings.TrimSpace(from.Title))
	stranger := !from.Author.Writes && !trusted
	if n.Summary == "" {
		n.Summary = strings.ToUpper(what[:1]) + what[1:]
		if title != "" && !stranger {
			n.Summary += `: "` + title + `"`
		}
	}
	switch {
	case stranger:
		p.warn("title and text of %s are left out: %s may not write to the repository; read them (%s, %q), and type "+
			"yourself what an agent should read: the summary, and --context", what, author, address, title)
		address += ", by someone who may not write here"
	case strings.TrimSpace(from.Text) != "":
		who := "who may write to the repository"
		if !from.Author.Writes {
			who = "whom you trust"
		}
		p.warn("the text of %s is by %s, %s: an agent will read it", what, author, who)
		quote := document.Quote(document.Outside{From: author + ", in " + address, Text: from.Text})
		n.Context = strings.TrimSpace(quote + "\n" + n.Context)
	}
	if !strings.Contains(n.Context, address) {
		n.Context = strings.TrimSpace(fmt.Sprintf("It is about %s.\n\n%s", address, n.Context))
	}
	return n
}
