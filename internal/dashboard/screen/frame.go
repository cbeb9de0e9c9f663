package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
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

// Box draws a border around lines, as wide as they need.
func Box(s *Style, lines []string, width int) []string {
	inner := 0
	for _, line := range lines {
		inner = max(inner, ansi.StringWidth(line))
	}
	inner = max(1, min(inner, width-4))
	side := s.Faint.Render("│")
	out := []string{s.Faint.Render("╭" + strings.Repeat("─", inner+2) + "╮")}
	for _, line := range lines {
		out = append(out, side+" "+Fit(line, inner)+" "+side)
	}
	return append(out, s.Faint.Render("╰"+strings.Repeat("─", inner+2)+"╯"))
}

// Overlay draws front over the middle of behind, and returns the position of its corner.
func Overlay(behind, front []string, width, height int) (out []string, x, y int) {
	wide := 0
	for _, line := range front {
		wide = max(wide, ansi.StringWidth(line))
	}
	x, y = max(0, (width-wide)/2), max(0, (height-len(front))/2)
	out = make([]string, height)
	for i := range min(height, len(behind)) {
		out[i] = Cut(behind[i], width)
	}
	for i, line := range front {
		if y+i >= height {
			break
		}
		back := Fit(out[y+i], width)
		left := Fit(ansi.Truncate(back, x, ""), x)
		right := ansi.TruncateLeft(back, x+wide, "")
		out[y+i] = Cut(left+Fit(line, wide)+right, width)
	}
	return out, x, y
}

// Clip cuts lines to a width and a height.
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
