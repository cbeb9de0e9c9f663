package dashboard

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/screen"
)

// form is what the person fills in: one of its kinds.
type form struct {
	question *question
	writing  *writing
	creation *creation
}

// Messages of forms.
type (
	choicesRead struct {
		choices Choices
		err     error
	}
	edited struct {
		text string
		err  error
	}
)

// picture is a form as it stands on the screen, and where its cursor is; nil where it has none.
type picture struct {
	lines  []string
	cursor *tea.Position
}

// updateForm is what follows from a key, a paste, or anything else while a form is open.
func (m *Model) updateForm(msg tea.Msg) tea.Cmd {
	if _, pressed := msg.(tea.KeyPressMsg); pressed {
		m.said, m.told, m.warned = "", "", false
	}
	switch {
	case m.form.question != nil:
		return m.answer(msg)
	case m.form.writing != nil:
		return m.updateWriting(msg)
	case m.form.creation != nil:
		return m.updateCreation(msg)
	}
	return nil
}

// learnForm takes in what was looked up or done for a form. The form may be gone by then.
func (m *Model) learnForm(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case created:
		return m.learnCreated(msg)
	case choicesRead:
		if m.form != nil && m.form.creation != nil {
			c := m.form.creation.learn(msg)
			m.form = &form{creation: &c}
		}
	case edited:
		switch {
		case m.form == nil:
		case m.form.writing != nil:
			w := m.form.writing.learn(msg)
			m.form = &form{writing: &w}
		case m.form.creation != nil:
			c := m.form.creation.learnEdited(msg)
			m.form = &form{creation: &c}
		}
	}
	m.fitForm()
	return nil
}

// fitForm makes a form as large as the screen lets it be.
func (m *Model) fitForm() {
	if m.form != nil && m.form.writing != nil {
		w := m.form.writing.fit(m.width, m.formHeight())
		m.form = &form{writing: &w}
	}
}

// formHeight is how many lines a form has.
func (m *Model) formHeight() int { return m.body().Height }

func (f *form) picture(m *Model, width, height int) picture {
	switch {
	case f.question != nil:
		return f.question.picture(m, width, height)
	case f.writing != nil:
		return f.writing.picture(m, width, height)
	case f.creation != nil:
		return f.creation.picture(m.style, width, height)
	}
	return picture{}
}

func (f *form) draw(m *Model, width, height int) []string {
	return f.picture(m, width, height).lines
}

// written says whether anything would be lost with the form.
func (f *form) written() bool {
	switch {
	case f.writing != nil:
		return strings.TrimSpace(f.writing.value()) != ""
	case f.creation != nil:
		return f.creation.written() && f.creation.job == 0
	}
	return false
}

// formCursor is where the terminal's own cursor belongs; nil hides it.
func (m *Model) formCursor() *tea.Cursor {
	at := m.form.picture(m, m.width, m.formHeight()).cursor
	if at == nil || at.X < 0 || at.X >= m.width || at.Y+1 >= m.height-footLines {
		return nil
	}
	return tea.NewCursor(at.X, at.Y+1) // the header is above
}

// keyLine tells the keys of a form.
func (f *form) keyLine(s *screen.Style) string {
	var pairs []string // a key, and what it does
	switch {
	case f.question != nil:
		pairs = f.question.keys()
	case f.writing != nil:
		pairs = f.writing.keys()
	case f.creation != nil:
		pairs = f.creation.keys()
	}
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, s.Key.Render(pairs[i])+" "+pairs[i+1])
	}
	return strings.Join(out, "  ")
}

// edit gives the terminal to the person's editor, with a text in it.
func (m *Model) edit(text string) tea.Cmd {
	ctx, care := m.ctx, m.house.Care
	left := text
	return lend(func() (err error) {
		left, err = care.Edit(ctx, text)
		return err
	}, func(err error) tea.Msg { return edited{left, err} })
}

// leavingKeys are the keys of a form that asked whether its text may be lost.
func leavingKeys() []string { return []string{"Esc", "throws it away", "any other key", "goes on"} }

const leavingWord = "What you wrote is not sent. Esc again throws it away."

// behind is what the person would see without the form.
func (m *Model) behind() []string {
	under := *m
	under.place, under.form = m.cameFrom(), nil
	return under.drawBody()
}

// size tells how long a text is, in words.
func size(text string) string {
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	letters := utf8.RuneCountInString(text)
	if lines == 1 {
		return fmt.Sprintf("%d letters", letters)
	}
	return fmt.Sprintf("%d lines, %d letters", lines, letters)
}

// keep notes a text that is on its way, so that it can be had again if it does not arrive.
func (m *Model) keep(what, text string) {
	if m.unsent != nil {
		m.unsent[what] = text
	}
}

// at is whether a job of that name runs.
func (m *Model) at(what string) bool {
	for _, j := range m.jobs {
		if j.what == what {
			return true
		}
	}
	return false
}
