package dashboard

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/diff"
	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/review"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// inReview lets a key of a task work in its review too.
func inReview(k key) key {
	k.pages = append(k.pages, pageReview)
	return k
}

func reviewKeys() []key {
	noTask := onTarget(command.Target.NoTask)
	within := func(name, does, footer string, closed func(*Model) string, press func(*Model) tea.Cmd) key {
		return key{names: []string{name}, does: does, footer: footer, pages: []page{pageReview}, closed: closed,
			press: press}
	}
	noLine := func(m *Model) string { return m.review.NoLine() }
	open := taskKey("D", "review: the files, hunks and lines that the branch changes", "review", noTask, showReview)
	open.label = either(func(m *Model) bool {
		return m.page == pageDetail || m.target().NoChanges() == ""
	}, "review", "")
	return []key{
		open,
		within("c", "write a comment on the line, the range, or the first change of a hunk", "comment", noLine,
			newComment),
		within("V", "begin a range of lines, or give it up", "range", noLine, func(m *Model) tea.Cmd {
			m.review.ToggleMark()
			return nil
		}),
		within("d", "take the comment away", "", func(m *Model) string { return m.review.NoComment() }, dropComment),
		within("enter", "in the list of files: to the file; on a line: write a comment; on a comment: change it",
			"", nil, enterReview),
		within("]", "the next hunk: its first change", "hunk", nil, reviewJump((*review.Model).NextHunk, 1, "hunk")),
		within("[", "the hunk before: its first change", "", nil, reviewJump((*review.Model).NextHunk, -1, "hunk")),
		within("}", "the next file: its first change", "file", nil, reviewJump((*review.Model).NextFile, 1, "file")),
		within("{", "the file before: its first change", "", nil, reviewJump((*review.Model).NextFile, -1, "file")),
		within(">", "the next comment, or finding of the reviewer", "", nil,
			reviewJump((*review.Model).NextRemark, 1, "comment or finding")),
		within("<", "the comment or finding before", "", nil,
			reviewJump((*review.Model).NextRemark, -1, "comment or finding")),
		within("/", "search in the changes", "search", nil, func(m *Model) tea.Cmd {
			m.review.StartSearch()
			return nil
		}),
		within("n", "the next place that has what was searched for", "", noSearch,
			reviewJump((*review.Model).NextMatch, 1, "place that has it")),
		within("N", "the place before that has it", "", noSearch,
			reviewJump((*review.Model).NextMatch, -1, "place that has it")),
		within("s", "only what changed since the last review of another commit, or all", "since the last review",
			func(m *Model) string { return m.review.NoSince() }, toggleSince),
		within("w", "wrap long lines, or cut them", "", nil, toggleWrap),
		within("e", "open the file in your editor, at the line", "editor", func(m *Model) string {
			_, _, why := m.review.File()
			return why
		}, editFile),
		within("P", "show the changes in your pager", "", func(m *Model) string { return m.review.NoText() },
			pageReviewed),
	}
}

// reviewing reports whether the review is on the screen, or behind a form.
func reviewing(m *Model) bool {
	return m.page == pageReview || m.page == pageForm && m.back.top() == pageReview
}

func showReview(m *Model) tea.Cmd {
	m.visit(pageReview)
	m.review.Refresh()
	return nil
}

// leaveReview gives up the range of lines, or leaves the review.
func leaveReview(m *Model) {
	if m.review.Marking() {
		m.review.Unmark()
		return
	}
	m.leavePage()
}

func noSearch(m *Model) string {
	if m.review.Searched() == "" {
		return "nothing was searched for; " + m.style.Keys.Of("search") + " does that"
	}
	return ""
}

// reviewJump is a key that goes to the next of something.
func reviewJump(to func(*review.Model, int, screen.Size) bool, direction int, what string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if !to(m.review, direction, m.body()) {
			m.messages.answer = "there is no other " + what + " in this direction"
		}
		return nil
	}
}

func searchReview(m *Model, msg tea.Msg) tea.Cmd {
	m.messages.clear()
	m.warned = false
	if !m.review.Search(msg, m.body()) {
		m.messages.answer = "nothing in the changes has that text"
	}
	return nil
}

func toggleSince(m *Model) tea.Cmd {
	m.review.ToggleSince()
	m.messages.answer = "all that the branch changes"
	if m.review.Since() {
		m.messages.answer = "only what changed since the last review"
	}
	return nil
}

func toggleWrap(m *Model) tea.Cmd {
	m.messages.answer = "long lines are cut"
	if m.review.ToggleWrap() {
		m.messages.answer = "long lines are wrapped"
	}
	return nil
}

func enterReview(m *Model) tea.Cmd {
	if m.review.Enter(m.body()) {
		return nil
	}
	if why := m.review.NoLine(); why != "" {
		m.messages.answer = m.style.Keys.Of("open-file") + ": " + why
		return nil
	}
	return changeComment(m)
}

// changer changes the comments on the selected task, in a command.
func changer(m *Model) func(context.Context, func([]diff.Comment) []diff.Comment) error {
	t, comments := m.target().Task, m.backend.Comments
	return func(ctx context.Context, change func([]diff.Comment) []diff.Comment) error {
		_, err := comments.ChangeComments(ctx, t.Project, t.ID, change)
		return err
	}
}

// newComment asks for another comment on the selected lines, or on those of the comment that is selected.
func newComment(m *Model) tea.Cmd {
	c, _ := m.review.Selected()
	c.Text = ""
	return writeComment(m, c, "Comment on "+c.String())
}

// changeComment asks for the text of the selected comment, or for one on the selected lines where none is.
func changeComment(m *Model) tea.Cmd {
	c, there := m.review.Selected()
	if !there {
		return newComment(m)
	}
	return writeComment(m, c, "Change the comment on "+c.String())
}

// writeComment asks for the text of a comment, in the place of the one that it has.
func writeComment(m *Model, c diff.Comment, title string) tea.Cmd {
	before, change := c.Text, changer(m)
	m.review.Unmark()
	prompt := &form.TextPrompt{
		Style: m.style, Edit: m.commands.Edit, Title: title, Long: true, Needed: true,
		Draft: before, About: m.review.Excerpt(c),
		Text: fmt.Sprintf("It is kept until you send it: %s sends all comments to the worker of %s.",
			m.style.Keys.Of("request-changes"), tasks.Name(m.target().Task)),
		What: "keep the comment on " + c.String(),
	}
	prompt.Work = func(ctx context.Context, text string) (string, error) {
		now := c
		now.Text = text
		return "commented on " + c.String(), change(ctx, func(all []diff.Comment) []diff.Comment {
			return append(without(all, c.Place, before), now)
		})
	}
	return m.begin(command.FirstStep{Prompt: prompt})
}

// without are the comments but one.
func without(all []diff.Comment, place diff.Place, text string) []diff.Comment {
	return slices.DeleteFunc(all, func(c diff.Comment) bool { return c.Place == place && c.Text == text })
}

func dropComment(m *Model) tea.Cmd {
	c, _ := m.review.Here()
	change := changer(m)
	return m.begin(command.FirstStep{Ask: &form.Question{
		Style: m.style, Title: "Take away the comment on " + c.String() + "?", Text: screen.OneLine(c.Text, 200),
		Answers: []form.Answer{{Key: "y", Label: "take it away", What: "take away the comment on " + c.String(),
			Work: func(ctx context.Context) (string, error) {
				return "the comment is gone", change(ctx, func(all []diff.Comment) []diff.Comment {
					return without(all, c.Place, c.Text)
				})
			}}},
	}})
}

func requestChanges(m *Model) tea.Cmd { return m.begin(m.commands.RequestChanges(m.target())) }

// editFile gives the terminal to the person's editor, at the line of the cursor.
func editFile(m *Model) tea.Cmd {
	path, line, _ := m.review.File()
	ctx, terminal := m.ctx, m.backend.Terminal
	return lend(func() error { return terminal.EditAt(ctx, path, line) }, func(err error) tea.Msg {
		if err != nil {
			return failed{"open the file in your editor", err}
		}
		return review.Reread{}
	})
}

// pageReviewed gives the terminal to the person's pager, with all changes.
func pageReviewed(m *Model) tea.Cmd {
	text, line := m.review.Text()
	ctx, terminal := m.ctx, m.backend.Terminal
	return lend(func() error { return terminal.Page(ctx, text, line) }, func(err error) tea.Msg {
		if err != nil {
			return failed{"show the changes in your pager", err}
		}
		return nil
	})
}
