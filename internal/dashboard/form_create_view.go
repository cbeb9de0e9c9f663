package dashboard

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"orange/internal/dashboard/screen"
)

// How the fields are laid out.
const (
	labelWidth = 18 // the sign of the focus, and the name of a field
	valueWidth = 26 // from where on what a field means stands beside it, if the value lets it
	hintBeside = 72 // the width of the screen from which it does
)

func (c *creation) keys() []string {
	switch {
	case c.job != 0:
		return []string{"Esc", "leave it; it goes on being created"}
	case c.leaving:
		return leavingKeys()
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

func (c *creation) picture(s *screen.Style, width, height int) picture {
	top := c.top(s, width, height)
	var body []string
	var cursor *tea.Position
	focus := 0
	for f := range fields {
		line, at := c.drawField(s, f, width)
		if f == c.focus {
			focus = len(body)
			if at >= 0 {
				cursor = &tea.Position{X: at, Y: focus}
			}
		}
		body = append(body, line)
		if f == c.focus && width < hintBeside {
			body = append(body, s.Faint.Render(screen.Cut("  "+screen.Clean(c.hint(f)), width)))
		}
	}
	room := max(1, height-len(top))
	from := max(0, min(focus-room/2, len(body)-room))
	body = body[from:min(len(body), from+room)]
	if cursor != nil {
		cursor.Y += len(top) - from
	}
	return picture{lines: screen.Clip(append(top, body...), width, height), cursor: cursor}
}

// top is the title, and what is wrong.
func (c *creation) top(s *screen.Style, width, height int) []string {
	title := s.Title.Render("Create a task")
	switch {
	case c.job != 0:
		title += s.Info.Render("  creating…")
	case !c.known && c.problem == "":
		title += s.Faint.Render("  looking…")
	}
	out := []string{title}
	switch {
	case c.leaving:
		out = append(out, screen.Problem(s, leavingWord, width, max(1, height-3))...)
	case c.problem != "":
		out = append(out, screen.Problem(s, c.problem, width, max(1, height-3))...)
	}
	if height-len(out) > int(fields) {
		out = append(out, "")
	}
	return out
}

// drawField is the line of a field, and the cell of its cursor; -1 where it has none.
func (c *creation) drawField(s *screen.Style, f field, width int) (string, int) {
	focused := f == c.focus
	label := "  " + s.Faint.Render(f.String())
	if focused {
		label = s.Key.Render("> ") + s.Bold.Render(f.String())
	}
	out := screen.Fit(label, labelWidth)
	room := max(1, width-labelWidth-1)
	value, cursor := c.drawValue(s, f, room)
	if !focused {
		cursor = -1
	}
	out += value
	if cursor >= 0 {
		cursor += labelWidth
	}
	if width < hintBeside {
		return out, cursor
	}
	used := max(ansi.StringWidth(value), valueWidth)
	hint := screen.Clean(c.hint(f))
	if left := room - used - 2; used == valueWidth || ansi.StringWidth(hint) <= left {
		out = screen.Fit(out, labelWidth+used+2) + s.Faint.Render(screen.Cut(hint, left))
	}
	return out, cursor
}

// drawValue is the value of a field, and where in it the cursor is; -1 where it has none.
func (c *creation) drawValue(s *screen.Style, f field, room int) (string, int) {
	focused := f == c.focus && c.job == 0
	if f.picked() {
		return drawPick(s, c.picks[f], c.known || f == fieldStart, focused, room), -1
	}
	if f == fieldContext && c.context != "" {
		first, _, _ := strings.Cut(c.context, "\n")
		tell := " … " + size(c.context)
		told := screen.Cut(screen.Cut(screen.Clean(first), max(1,
			room-ansi.StringWidth(tell)-1))+s.Faint.Render(tell), room)
		// the editor comes back to a cursor: Bubble Tea does not hide one that it had before
		return told, min(ansi.StringWidth(told), room-1)
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
		return screen.Cut(p.label(), room)
	}
	arrows := ""
	if len(p.options) > 1 && room > 8 {
		arrows = s.Key.Render(" ◂ ▸")
	}
	return s.Chosen.Render(screen.Cut(p.label(), max(1, room-4))) + arrows
}
