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

// reviewKeys is what a person does in the review of a task.
type reviewKeys struct {
	*asks
	review *review.Model
}

// keys are those of the review.
func (r *reviewKeys) keys() []key {
	within := func(action, name, does, footer string, closed func() string, press func() tea.Cmd) key {
		return key{action: action, names: []string{name}, does: does, footer: footer, pages: []page{pageReview},
			closed: closed, press: press}
	}
	open := taskKey("review", "D", "review: the files, hunks and lines that the branch changes", "review",
		r.on(command.Target.NoTask), only(func() {
			r.pages.visit(pageReview)
			r.review.Refresh()
		}), nil)
	open.label = either(func() bool {
		return r.pages.page == pageDetail || r.target().NoChanges() == ""
	}, "review", "")
	noFile := func() string {
		_, _, why := r.review.File()
		return why
	}
	return []key{
		open,
		within("comment", "c", "write a comment on the line, the range, or the first change of a hunk", "comment",
			r.review.NoLine, r.newComment),
		within("range", "V", "begin a range of lines, or give it up", "range", r.review.NoLine,
			only(r.review.ToggleMark)),
		within("drop-comment", "d", "take the comment away", "", r.review.NoComment, r.dropComment),
		within("open-file", "enter",
			"in the list of files: to the file; on a line: write a comment; on a comment: change it", "", nil, r.enter),
		within("next-hunk", "]", "the next hunk: its first change", "hunk", nil, r.jump(r.review.NextHunk, 1, "hunk")),
		within("previous-hunk", "[", "the hunk before: its first change", "", nil,
			r.jump(r.review.NextHunk, -1, "hunk")),
		within("next-file", "}", "the next file: its first change", "file", nil, r.jump(r.review.NextFile, 1, "file")),
		within("previous-file", "{", "the file before: its first change", "", nil,
			r.jump(r.review.NextFile, -1, "file")),
		within("next-remark", ">", "the next comment, or finding of the reviewer", "", nil,
			r.jump(r.review.NextRemark, 1, "comment or finding")),
		within("previous-remark", "<", "the comment or finding before", "", nil,
			r.jump(r.review.NextRemark, -1, "comment or finding")),
		within("search", "/", "search in the changes", "search", nil, only(r.review.StartSearch)),
		within("next-found", "n", "the next place that has what was searched for", "", r.noSearch,
			r.jump(r.review.NextMatch, 1, "place that has it")),
		within("previous-found", "N", "the place before that has it", "", r.noSearch,
			r.jump(r.review.NextMatch, -1, "place that has it")),
		within("since-review", "s", "only what changed since the last review of another commit, or all",
			"since the last review", r.review.NoSince, only(r.toggleSince)),
		within("wrap", "w", "wrap long lines, or cut them", "", nil, only(r.toggleWrap)),
		within("editor", "e", "open the file in your editor, at the line", "editor", noFile, r.editFile),
		within("pager", "P", "show the changes in your pager", "", r.review.NoText, r.pageText),
	}
}

// back gives up the range of lines, or leaves the review.
func (r *reviewKeys) back() {
	if r.review.Marking() {
		r.review.Unmark()
		return
	}
	r.pages.leave()
}

func (r *reviewKeys) noSearch() string {
	if text, _ := r.review.Searched(); text == "" {
		return "nothing was searched for; " + r.style.Keys.Of("search") + " does that"
	}
	return ""
}

// jump is a key that goes to the next of something.
func (r *reviewKeys) jump(to func(int, screen.Size) bool, direction int, what string) func() tea.Cmd {
	return only(func() {
		if !to(direction, r.layout.body()) {
			r.foot.answer = "there is no other " + what + " in this direction"
		}
	})
}

func (r *reviewKeys) toggleSince() {
	r.review.ToggleSince()
	r.foot.answer = "all that the branch changes"
	if r.review.Since() {
		r.foot.answer = "only what changed since the last review"
	}
}

func (r *reviewKeys) toggleWrap() {
	r.foot.answer = "long lines are cut"
	if r.review.ToggleWrap() {
		r.foot.answer = "long lines are wrapped"
	}
}

func (r *reviewKeys) enter() tea.Cmd {
	if r.review.Enter(r.layout.body()) {
		return nil
	}
	if why := r.review.NoLine(); why != "" {
		r.foot.answer = r.style.Keys.Of("open-file") + ": " + why
		return nil
	}
	return r.changeComment()
}

// changer changes the comments on the selected task, in a command.
func (r *reviewKeys) changer() func(context.Context, func([]diff.Comment) []diff.Comment) error {
	t, comments := r.target().Task, r.backend.Comments
	return func(ctx context.Context, change func([]diff.Comment) []diff.Comment) error {
		_, err := comments.ChangeComments(ctx, t.Project, t.ID, change)
		return err
	}
}

// newComment asks for another comment on the selected lines, or on those of the comment that is selected.
func (r *reviewKeys) newComment() tea.Cmd {
	c, _ := r.review.Selected()
	c.Text = ""
	return r.writeComment(c, "Comment on "+c.String())
}

// changeComment asks for the text of the selected comment, or for one on the selected lines where none is.
func (r *reviewKeys) changeComment() tea.Cmd {
	c, there := r.review.Selected()
	if !there {
		return r.newComment()
	}
	return r.writeComment(c, "Change the comment on "+c.String())
}

// writeComment asks for the text of a comment, in the place of the one that it has.
func (r *reviewKeys) writeComment(c diff.Comment, title string) tea.Cmd {
	before, change := c.Text, r.changer()
	r.review.Unmark()
	prompt := &form.TextPrompt{
		Style: r.style, Edit: r.commands.Edit, Title: title, Long: true, Needed: true,
		Draft: before, About: r.review.Excerpt(c),
		Text: fmt.Sprintf("It is kept until you send it: %s sends all comments to the worker of %s.",
			r.style.Keys.Of("request-changes"), tasks.Name(r.target().Task)),
		What: "keep the comment on " + c.String(),
	}
	prompt.Work = func(ctx context.Context, text string) (string, error) {
		now := c
		now.Text = text
		return "commented on " + c.String(), change(ctx, func(all []diff.Comment) []diff.Comment {
			return append(without(all, c.Place, before), now)
		})
	}
	return r.begin(command.FirstStep{Prompt: prompt})
}

// without are the comments but one.
func without(all []diff.Comment, place diff.Place, text string) []diff.Comment {
	return slices.DeleteFunc(all, func(c diff.Comment) bool { return c.Place == place && c.Text == text })
}

func (r *reviewKeys) dropComment() tea.Cmd {
	c, _ := r.review.Here()
	change := r.changer()
	return r.begin(command.FirstStep{Ask: &form.Question{
		Style: r.style, Title: "Take away the comment on " + c.String() + "?", Text: screen.OneLine(c.Text, 200),
		Answers: []form.Answer{{Key: "y", Label: "take it away", What: "take away the comment on " + c.String(),
			Work: func(ctx context.Context) (string, error) {
				return "the comment is gone", change(ctx, func(all []diff.Comment) []diff.Comment {
					return without(all, c.Place, c.Text)
				})
			}}},
	}})
}

// editFile gives the terminal to the person's editor, at the line of the cursor.
func (r *reviewKeys) editFile() tea.Cmd {
	path, line, _ := r.review.File()
	ctx, terminal := r.ctx, r.backend.Terminal
	return lend(func() error { return terminal.EditAt(ctx, path, line) }, func(err error) tea.Msg {
		if err != nil {
			return failureNews{"open the file in your editor", err}
		}
		return review.Reread{}
	})
}

// pageText gives the terminal to the person's pager, with all changes.
func (r *reviewKeys) pageText() tea.Cmd {
	text, line := r.review.Text()
	ctx, terminal := r.ctx, r.backend.Terminal
	return lend(func() error { return terminal.Page(ctx, text, line) }, func(err error) tea.Msg {
		if err != nil {
			return failureNews{"show the changes in your pager", err}
		}
		return nil
	})
}
