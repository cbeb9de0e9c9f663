package dashboard

import (
	"context"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"orange/internal/dashboard/screen"
)

// writing asks for a text.
type writing struct {
	title, text string
	needed      bool // an empty text is refused
	long        bool // it has several lines
	what        string
	work        func(ctx context.Context, text string) (string, error)

	line    line
	area    textarea.Model
	held    string // a text that is too large for the area: the editor has it
	problem string
	leaving bool // Escape was pressed once
	width   int
	shown   []string // the area as it looks: drawing it takes longer the longer the text is
}

// What fits into the area: it draws the whole of it with every key.
const (
	areaBytes = 8 << 10
	areaLines = 200
)

// write asks for a text. One that was sent before and did not arrive stands there again.
func (m *Model) write(w writing) tea.Cmd {
	m.visit(inForm)
	w.line, w.area = newLine(""), newArea()
	if text := m.unsent[w.what]; text != "" && !m.at(w.what) {
		w.problem = "This was not sent the last time."
		w.put(text)
	}
	m.form = &form{writing: &w}
	m.fitForm()
	return nil
}

func newArea() textarea.Model {
	a := textarea.New()
	a.Prompt, a.ShowLineNumbers, a.EndOfBufferCharacter = "", false, ' '
	a.MaxHeight, a.MaxWidth = 0, 0 // as many lines as there are
	a.SetVirtualCursor(false)
	a.SetStyles(textarea.Styles{})
	a.KeyMap.Paste.Unbind()
	a.KeyMap.InsertNewline.SetKeys("enter", "shift+enter", "alt+enter", "ctrl+j")
	a.Focus()
	return a
}

// value is what was written.
func (w *writing) value() string {
	switch {
	case w.held != "":
		return w.held
	case w.long:
		return w.area.Value()
	}
	return w.line.text()
}

// put makes a text what was written.
func (w *writing) put(text string) {
	w.held = ""
	switch text = newlines(text); {
	case !w.long:
		w.line.set(text)
	case len(text) > areaBytes || strings.Count(text, "\n") > areaLines:
		w.held = text
		w.area.Reset()
	default:
		w.area.SetValue(strings.Join(screen.CleanLines(strings.TrimRight(text, "\n")), "\n"))
	}
}

func (m *Model) updateWriting(msg tea.Msg) tea.Cmd {
	w := *m.form.writing
	k, pressed := msg.(tea.KeyPressMsg)
	if pressed && k.String() == "esc" {
		if w.leaving || strings.TrimSpace(w.value()) == "" {
			m.leavePlace()
			return nil
		}
		w.leaving = true
		m.form = &form{writing: &w}
		m.fitForm()
		return nil
	}
	if pressed {
		w.leaving = false
		switch name := k.String(); {
		case name == "ctrl+s", name == "ctrl+enter", name == "enter" && !w.long:
			return m.sendWriting(w)
		case name == "ctrl+e" && w.long:
			m.form = &form{writing: &w}
			return m.edit(w.value())
		}
	}
	w.take(msg)
	m.form = &form{writing: &w}
	m.fitForm()
	return nil
}

// take puts what is typed or pasted into the text.
func (w *writing) take(msg tea.Msg) {
	before := w.value()
	typed, pressed := msg.(tea.KeyPressMsg)
	pasted, isPaste := msg.(tea.PasteMsg)
	switch {
	case w.held != "":
		if pressed && typed.String() == "ctrl+u" {
			w.held = ""
		}
	case !w.long:
		w.line = w.line.update(msg)
	case isPaste:
		text := strings.Join(screen.CleanLines(newlines(pasted.Content)), "\n")
		if len(before)+len(text) > areaBytes || strings.Count(before+text, "\n") > areaLines {
			w.put(strings.TrimLeft(before+"\n"+text, "\n"))
			break
		}
		w.area, _ = w.area.Update(tea.PasteMsg{Content: text})
	case pressed:
		typed.Text = screen.Clean(typed.Text)
		w.area, _ = w.area.Update(typed)
	}
	if w.value() != before {
		w.problem = ""
	}
}

func (m *Model) sendWriting(w writing) tea.Cmd {
	text := strings.TrimSpace(w.value())
	if w.needed && text == "" {
		w.problem = "This cannot be empty. Esc leaves it."
		m.form = &form{writing: &w}
		m.fitForm()
		return nil
	}
	work := w.work
	m.keep(w.what, text)
	m.leavePlace()
	return m.start(w.what, func(ctx context.Context) (string, error) { return work(ctx, text) })
}

// learn takes in what the editor left.
func (w writing) learn(msg edited) writing {
	w.problem = ""
	if msg.err != nil {
		w.problem = msg.err.Error()
	} else {
		w.put(msg.text)
	}
	return w
}

func (w *writing) keys() []string {
	switch {
	case w.leaving:
		return leavingKeys()
	case !w.long:
		return []string{"Enter", "send", "Esc", "leave it"}
	case w.held != "":
		return []string{"ctrl+s", "send", "ctrl+e", "your editor", "ctrl+u", "empty it", "Esc", "leave it"}
	}
	return []string{"ctrl+s", "send", "ctrl+e", "your editor", "Esc", "leave it", "Enter", "new line"}
}

// top is what stands above the text.
func (w *writing) top(s *screen.Style, width, height int) []string {
	out := []string{s.Title.Render(screen.Cut(screen.Clean(w.title), width))}
	about := screen.Wrap(screen.Clean(w.text), max(1, width))
	if room := height - 4; w.long && len(about) > max(0, room) {
		about = about[:max(0, room)]
	}
	for _, line := range about {
		out = append(out, s.Faint.Render(line))
	}
	switch {
	case w.leaving:
		out = append(out, screen.Problem(s, leavingWord, width, 2)...)
	case w.problem != "":
		out = append(out, screen.Problem(s, w.problem, width, max(1, height-len(out)-2))...)
	}
	return out
}

// fit makes the area as large as the room beneath its words, and draws it.
func (w writing) fit(width, height int) writing {
	w.width = max(1, width-2)
	if !w.long {
		return w
	}
	rows := max(1, height-len(w.top(screen.NewStyle(), w.width, height))-1)
	if w.area.Width() != w.width || w.area.Height() != rows {
		w.area.SetWidth(w.width)
		w.area.SetHeight(rows)
		w.area, _ = w.area.Update(nil) // it keeps its cursor in sight
	}
	w.shown = strings.Split(w.area.View(), "\n")
	return w
}

func (w *writing) picture(m *Model, width, height int) picture {
	if w.long {
		return w.page(m.style, width, height)
	}
	front, x, y := w.box(m.style, width, height)
	out, left, top := screen.Overlay(m.behind(), front, width, height)
	return picture{lines: out, cursor: &tea.Position{X: left + x, Y: top + y}}
}

// box is what is asked, and the line that answers it, in a frame where there is room for one; and where in it the
// cursor is.
func (w *writing) box(s *screen.Style, width, height int) (lines []string, x, y int) {
	room := max(1, min(width-4, boxWidth))
	shown, cursor := w.line.draw(max(1, room-2))
	top := w.top(s, room, height)
	input := screen.Fit(s.Key.Render("> ")+shown, room)
	if len(top)+4 <= height {
		return screen.Box(s, append(top, "", input), width), 4 + cursor, len(top) + 2
	}
	top = top[:min(len(top), max(0, height-1))]
	return append(top, input), 2 + cursor, len(top)
}

// page is a long text and what is asked, on the whole of the body.
func (w *writing) page(s *screen.Style, width, height int) picture {
	var out []string
	for _, line := range w.top(s, max(1, width-2), height) {
		out = append(out, " "+line)
	}
	out = append(out, s.Faint.Render(screen.Cut(" "+strings.Repeat("─", max(1, width-2)), width)))
	if w.held != "" {
		first, _, _ := strings.Cut(strings.TrimLeft(w.held, "\n"), "\n")
		tell := fmt.Sprintf(" … %s: it is edited in your editor", size(w.held))
		out = append(out, " "+screen.Clean(first), s.Faint.Render(tell))
		return picture{lines: screen.Clip(out, width, height), cursor: &tea.Position{
			X: min(ansi.StringWidth(tell), width-1), Y: len(out) - 1}}
	}
	at := len(out)
	for _, line := range w.shown {
		out = append(out, " "+line)
	}
	p := picture{lines: screen.Clip(out, width, height)}
	if c := w.area.Cursor(); c != nil {
		p.cursor = &tea.Position{X: min(c.X+1, width-1), Y: at + c.Y}
	}
	return p
}
