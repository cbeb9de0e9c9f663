package form

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/screen"
)

// Question has answers of one key each. Escape is the answer that does nothing.
type Question struct {
	Style       *screen.Style
	Title, Text string
	Answers     []Answer
}

// Answer is one answer of a question.
type Answer struct {
	Key, Label string
	What       string // the job's name
	Work       func(ctx context.Context) (string, error)
	Many       bool // it is about all tasks that the person marked
}

// Update does what the key of an answer says. Any other key does nothing: nothing is deleted because something lies on
// the keyboard.
func (q *Question) Update(msg tea.Msg, _ screen.Size) Response {
	k, pressed := msg.(tea.KeyPressMsg)
	if !pressed {
		return Response{}
	}
	for _, a := range q.Answers {
		if a.Key == k.String() {
			return Response{Close: true, Start: &Operation{What: a.What, Work: a.Work, Many: a.Many}}
		}
	}
	switch k.String() {
	case "esc", "n", "q":
		return Response{Close: true}
	}
	return Response{}
}

// Unsent reports that there is no text.
func (q *Question) Unsent() bool { return false }

// Keys are the keys of the answers.
func (q *Question) Keys() []string {
	if len(q.Answers) == 1 {
		return []string{q.Answers[0].Key, q.Answers[0].Label, "Esc", "leave it"}
	}
	var keys []string
	for _, a := range q.Answers {
		keys = append(keys, a.Key)
	}
	return []string{strings.Join(keys, " "), "choose", "Esc", "leave it"}
}

// boxWidth is the largest width of the text in a box.
const boxWidth = 64

// View draws the question over what is behind it.
func (q *Question) View(behind []string, size screen.Size) ([]string, *tea.Position) {
	lines, _, _ := screen.Overlay(behind, q.box(size.Width, size.Height), size.Width, size.Height)
	return lines, nil
}

// box is the question in a border. Where there is little room, it has no border, and its text is cut before its
// answers are, with a sign that it was.
func (q *Question) box(width, height int) []string {
	s := q.Style
	room := max(1, min(width-4, boxWidth))
	framed := true
	build := func(text []string) []string {
		out := []string{s.Title.Render(screen.Cut(screen.Clean(q.Title), room))}
		out = append(out, text...)
		if framed {
			out = append(out, "")
		}
		for _, a := range q.Answers {
			out = append(out, screen.Hanging(s.Key.Render(a.Key)+"  ", screen.Clean(a.Label), room)...)
		}
		return append(out, s.Key.Render("n")+"  "+s.Faint.Render("leave it, as Esc does"))
	}
	text := screen.Wrap(screen.Clean(q.Text), room)
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
		if last := len(text) - 1; last >= 0 {
			text[last] = screen.Cut(text[last], room-2) + " …"
		}
	}
	for i := range lines {
		lines[i] = screen.Fit(lines[i], width)
	}
	return lines[:min(len(lines), max(1, height))]
}
