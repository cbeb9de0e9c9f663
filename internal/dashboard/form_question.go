package dashboard

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/dashboard/screen"
)

// question has answers of one key each. Escape is the answer that does nothing.
type question struct {
	title, text string
	answers     []answer
}

type answer struct {
	key, label string
	what       string // the job's name
	work       func(ctx context.Context) (string, error)
}

func (m *Model) ask(q question) tea.Cmd {
	m.visit(inForm)
	m.form = &form{question: &q}
	return nil
}

// answer does what the key of an answer says. A key that is none does nothing: nobody deletes a task by leaning
// on the keyboard.
func (m *Model) answer(msg tea.Msg) tea.Cmd {
	k, pressed := msg.(tea.KeyPressMsg)
	if !pressed {
		return nil
	}
	for _, a := range m.form.question.answers {
		if a.key == k.String() {
			m.leavePlace()
			return m.start(a.what, a.work)
		}
	}
	switch k.String() {
	case "esc", "n", "q":
		m.leavePlace()
	}
	return nil
}

func (q *question) keys() []string {
	if len(q.answers) == 1 {
		return []string{q.answers[0].key, q.answers[0].label, "Esc", "leave it"}
	}
	var keys []string
	for _, a := range q.answers {
		keys = append(keys, a.key)
	}
	return []string{strings.Join(keys, " "), "choose", "Esc", "leave it"}
}

// boxWidth is how wide the text of a small box is at most.
const boxWidth = 64

func (q *question) picture(m *Model, width, height int) picture {
	lines, _, _ := screen.Overlay(m.behind(), q.box(m.style, width, height), width, height)
	return picture{lines: lines}
}

// box is the question in its frame. Where there is little room, it has no frame, and its text gives way before
// its answers do.
func (q *question) box(s *screen.Style, width, height int) []string {
	room := max(1, min(width-4, boxWidth))
	framed := true
	build := func(text []string) []string {
		out := []string{s.Title.Render(screen.Cut(screen.Clean(q.title), room))}
		out = append(out, text...)
		if framed {
			out = append(out, "")
		}
		for _, a := range q.answers {
			out = append(out, screen.Hanging(s.Key.Render(a.key)+"  ", screen.Clean(a.label), room)...)
		}
		return append(out, s.Key.Render("n")+"  "+s.Faint.Render("leave it, as Esc does"))
	}
	text := screen.Wrap(screen.Clean(q.text), room)
	lines := build(text)
	if len(lines)+2 <= height {
		return screen.Box(s, lines, width)
	}
	framed, room = false, max(1, width)
	for {
		lines = build(text)
		if len(lines) <= height || len(text) == 0 {
			break
		}
		text = text[:len(text)-1]
	}
	for i := range lines {
		lines[i] = screen.Fit(lines[i], width)
	}
	return lines[:min(len(lines), max(1, height))]
}
