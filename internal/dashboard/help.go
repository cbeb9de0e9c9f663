package dashboard

import (
	"strings"

	"orange/internal/dashboard/screen"
	"orange/internal/dashboard/tasks"
)

type help struct {
	style  *screen.Style
	keys   keymap
	closed func(k key) string // why a key does nothing on the page that the person came from
	scroll screen.Scroll
}

// lines explain every key, why it does nothing now where that is so, and the marks.
func (h *help) lines(width int) []string {
	out := []string{h.style.Title.Render("Keys") + h.style.Faint.Render("   Esc leaves the help"), ""}
	for _, group := range groups() {
		out = append(out, h.style.Header.Render(group))
		for _, k := range h.keys {
			if k.group == group {
				name := h.style.Key.Render(strings.Join(k.allNames(), " "))
				out = append(out, h.entry(name, k.does, h.closed(k), width)...)
			}
		}
		out = append(out, "")
	}
	out = append(out, h.style.Header.Render("Marks"))
	for _, one := range tasks.Marks() {
		out = append(out, h.entry(one.Style(h.style).Render(one.Sign), one.Means, "", width)...)
	}
	return append(out, h.entry("✓ ● ○", "of the way through the workflow: done, here, ahead", "", width)...)
}

// entry is a name with its meaning next to it, wrapped, and below that why it does nothing now.
func (h *help) entry(name, means, why string, width int) []string {
	const indent, narrow = 2, 70
	column := 20
	if width < narrow {
		column = 10
	}
	room := max(10, width-indent-column-1)
	text := screen.Wrap(means, room)
	if why != "" {
		for _, line := range screen.Wrap("not now: "+screen.Clean(why), room) {
			text = append(text, h.style.Faint.Render(line))
		}
	}
	blank := strings.Repeat(" ", indent)
	var out []string
	if screen.Width(name) > column {
		out, name = append(out, blank+name), ""
	}
	for i, line := range text {
		if i > 0 {
			name = ""
		}
		out = append(out, blank+screen.Fit(name, column)+" "+line)
	}
	return out
}

// Move scrolls by n lines.
func (h *help) Move(n int, size screen.Size) {
	h.scroll = h.scroll.By(n, len(h.lines(size.Width)), size.Height)
}

// View draws the help.
func (h *help) View(size screen.Size) []string {
	return h.scroll.Draw(h.lines(size.Width), size.Width, size.Height)
}
