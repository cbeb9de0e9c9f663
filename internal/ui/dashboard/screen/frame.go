package screen

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Problem renders an error message so that it is conspicuous without colours too.
func Problem(s *Style, text string, width, height int) []string {
	var out []string
	for _, line := range CleanLines(strings.TrimSpace(text)) {
		for _, part := range Wrap(line, max(1, width-2)) {
			sign := "  "
			if len(out) == 0 {
				sign = "! "
			}
			out = append(out, s.Bad.Render(sign+part))
		}
	}
	if len(out) > max(1, height) {
		out = out[:max(1, height)]
		out[len(out)-1] = s.Bad.Render("  …")
	}
	return out
}

// Box draws a rounded border around lines, as wide as they need.
func Box(s *Style, lines []string, width int) []string {
	text := lipgloss.NewStyle().MaxWidth(max(1, width-4)).Render(strings.Join(lines, "\n"))
	inner := lipgloss.Width(text)
	border := lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).Render(
		strings.TrimSuffix(strings.Repeat(strings.Repeat(" ", inner+2)+"\n", len(lines)), "\n"))
	return compose(inner+4, len(lines)+2, lipgloss.NewLayer(s.Faint.Render(border)), lipgloss.NewLayer(text).X(2).Y(1))
}

// Overlay draws front over the middle of behind, and returns the position of its corner.
func Overlay(behind, front []string, width, height int) (out []string, x, y int) {
	box := strings.Join(front, "\n")
	x, y = max(0, (width-lipgloss.Width(box))/2), max(0, (height-len(front))/2)
	back := strings.Join(Clip(behind, width, height), "\n")
	return compose(width, height, lipgloss.NewLayer(back), lipgloss.NewLayer(box).X(x).Y(y)), x, y
}

// The least size of a screen on which a list has a frame.
const (
	leastFrameWidth  = 40
	leastFrameHeight = 12
)

// FrameOver draws lines in a frame over the middle of behind, at most so large, and on all of a small screen. It
// returns the position of the first of them.
func FrameOver(s *Style, behind []string, size, most Size, draw func(Size) []string) (out []string, x, y int) {
	if size.Width < leastFrameWidth || size.Height < leastFrameHeight {
		out = Clip(draw(Size{max(1, size.Width), max(1, size.Height)}), size.Width, size.Height)
		return append(out, make([]string, max(0, size.Height-len(out)))...), 0, 0
	}
	room := Size{min(size.Width-4, most.Width), min(size.Height-2, most.Height)}
	out, x, y = Overlay(behind, Box(s, draw(room), size.Width), size.Width, size.Height)
	return out, x + 2, y + 1
}

// compose draws layers on top of each other and cuts them to a size.
func compose(width, height int, layers ...*lipgloss.Layer) []string {
	canvas := lipgloss.NewCanvas(width, height)
	lines := strings.Split(canvas.Compose(lipgloss.NewCompositor(layers...)).Render(), "\n")
	return append(lines, make([]string, max(0, height-len(lines)))...)[:height]
}

// Clip cuts lines to a width and a height, in place.
func Clip(lines []string, width, height int) []string {
	lines = lines[:min(len(lines), max(0, height))]
	for i := range lines {
		lines[i] = Cut(lines[i], width)
	}
	return lines
}

// Hanging wraps a text after a sign of three cells.
func Hanging(sign, text string, width int) []string {
	out := Wrap(text, max(1, width-3))
	for i := range out {
		if i > 0 {
			sign = "   "
		}
		out[i] = sign + out[i]
	}
	return out
}
