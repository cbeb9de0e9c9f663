package form

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/screen"
)

// How the fields are laid out.
const (
	labelWidth    = 18 // the sign of the focus, and the name of a field
	valueWidth    = 26 // the hint of a field begins after so many cells of its value, or more on a wide screen
	minHintScreen = 72 // the width of the screen from which hints are next to the values
)

// Keys are the keys of the form.
func (c *Creation) Keys() []string {
	switch {
	case c.sent:
		return []string{"Esc", "leave it; it goes on being created"}
	case c.leaving:
		return keysToLeave()
	}
	out := []string{"ctrl+s", "create"}
	if c.focus == fields-1 {
		out = []string{"Enter", "create"}
	}
	switch {
	case c.focus.picked():
		out = append(out, "←→ or a letter", "choose")
	case c.focus == fieldContext:
		out = append(out, "ctrl+e", "your editor")
		if c.context != "" {
			out = append(out, "ctrl+u", "empty it")
		}
	}
	return append(out, "Tab", "next", "Esc", "leave it")
}

// View draws the form on the whole body.
func (c *Creation) View(_ []string, size screen.Size) ([]string, *tea.Position) {
	width, height := size.Width, size.Height
	top := c.top(width, height)
	var body []string
	var cursor *tea.Position
	focus := 0
	for f := range fields {
		line, at := c.drawField(f, width)
		if f == c.focus {
			focus = len(body)
			if at >= 0 {
				cursor = &tea.Position{X: at, Y: focus}
			}
		}
		body = append(body, line)
		if f == c.focus && width < minHintScreen {
			body = append(body, c.style.Faint.Render(screen.Cut("  "+screen.Clean(c.hint(f)), width)))
		}
	}
	room := max(1, height-len(top))
	from := max(0, min(focus-room/2, len(body)-room))
	body = body[from:min(len(body), from+room)]
	if cursor != nil {
		cursor.Y += len(top) - from
	}
	return screen.Clip(append(top, body...), width, height), cursor
}

func (c *Creation) top(width, height int) []string {
	title := c.style.Title.Render("Create a task")
	switch {
	case c.sent:
		title += c.style.Info.Render("  creating…")
	case !c.known && c.problem == "":
		title += c.style.Faint.Render("  looking…")
	}
	out := []string{title}
	switch {
	case c.leaving:
		out = append(out, screen.Problem(c.style, textToLeave, width, max(1, height-3))...)
	case c.problem != "":
		out = append(out, screen.Problem(c.style, c.problem, width, max(1, height-3))...)
	}
	if height-len(out) > int(fields) {
		out = append(out, "")
	}
	return out
}

// drawField is the line of a field, and the cell of its cursor; -1 where it has none.
func (c *Creation) drawField(f field, width int) (string, int) {
	focused := f == c.focus
	label := "  " + c.style.Faint.Render(f.String())
	if focused {
		label = c.style.Key.Render("> ") + c.style.Bold.Render(f.String())
	}
	out := screen.Fit(label, labelWidth)
	room := max(1, width-labelWidth-1)
	value, cursor := c.drawValue(f, room)
	if !focused {
		cursor = -1
	}
	out += value
	if cursor >= 0 {
		cursor += labelWidth
	}
	if width < minHintScreen {
		return out, cursor
	}
	column := max(valueWidth, room*2/5)
	if screen.Width(value) <= column { // else the hint makes room for the value
		out = screen.Fit(out, labelWidth+column+2) + c.style.Faint.Render(screen.Cut(screen.Clean(c.hint(f)),
			max(1, room-column-2)))
	}
	return out, cursor
}

// drawValue is the value of a field, and where in it the cursor is; -1 where it has none.
func (c *Creation) drawValue(f field, room int) (string, int) {
	focused := f == c.focus && !c.sent
	if f.picked() {
		return drawPick(c.style, c.picks[f], c.known || f == fieldStart, focused, room), -1
	}
	if f == fieldContext && c.context != "" {
		first, _, _ := strings.Cut(c.context, "\n")
		rest := " … " + length(c.context)
		text := screen.Cut(screen.Cut(screen.Clean(first), max(1,
			room-screen.Width(rest)-1))+c.style.Faint.Render(rest), room)
		// the editor comes back to a cursor: Bubble Tea does not hide one that it had before
		return text, min(screen.Width(text), room-1)
	}
	shown, cursor := c.lines[f].draw(room)
	if !focused {
		return screen.Cut(c.lines[f].text(), room), -1
	}
	return shown, cursor
}

func drawPick(s *screen.Style, p pick, known, focused bool, room int) string {
	switch {
	case !known:
		return s.Faint.Render("looking…")
	case len(p.options) == 0:
		return s.Faint.Render("none")
	case !focused:
		return screen.Cut(p.chosen().label, room)
	}
	arrows := ""
	if len(p.options) > 1 && room > 8 {
		arrows = s.Key.Render(" ◂ ▸")
	}
	return s.Chosen.Render(screen.Cut(p.chosen().label, max(1, room-4))) + arrows
}
