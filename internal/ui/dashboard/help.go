package dashboard

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// help explains the keys and the marks, for the page that the person came from.
type help struct {
	keyboard *keyboard
	style    *screen.Style
	scroll   screen.Scroll
	search   screen.LineInput // only what holds it is shown
}

// open begins at the first line, with all.
func (h *help) open() { h.scroll, h.search = screen.Scroll{}, screen.LineInput{} }

// Two columns have room where each has this many cells, and a gap between them.
const (
	helpColumn = 72
	helpGap    = 3
)

// lines explain the keys: those first that do something now, then all others, with the reason where one does nothing
// now. The marks of tasks on the screen below come first, the others last. Where there is room, what can be done now is
// at the left and the rest at the right.
func (h *help) lines(width int) []string {
	hint := "   " + h.style.Keys.Of("find-in-help") + " searches, Esc leaves the help"
	top := []string{h.style.Title.Render("Keys") + h.style.Faint.Render(hint), ""}
	if h.search.Text != "" {
		hint = fmt.Sprintf("   that hold %q; Esc shows all", h.search.Text)
		top[0] = screen.Cut(h.style.Title.Render("Keys")+hint, width)
	}
	if column := (width - helpGap) / 2; column >= helpColumn {
		first, last := h.marks(column)
		now, others := h.openNow(column), slices.Concat(first, h.others(column), last)
		if len(now) > 0 && len(others) > 0 {
			return append(top, screen.SideBySide(now, others, screen.Size{Width: column + helpGap}, "")...)
		}
	}
	first, last := h.marks(width)
	out := slices.Concat(top, first, h.openNow(width), h.others(width), last)
	if len(out) == len(top) {
		out = append(out, "no key or mark has that text; Esc shows all")
	}
	return out
}

// openNow explains the keys that do something now.
func (h *help) openNow(width int) []string {
	return h.section("Now, in "+h.keyboard.pages.top().String(), h.entries(h.keyboard.open(), width))
}

// others explains all other keys by their groups.
func (h *help) others(width int) (out []string) {
	now := h.keyboard.open()
	for _, group := range groups() {
		out = append(out, h.section(group, h.entries(slices.DeleteFunc(slices.Clone(h.keyboard.keys), func(k key) bool {
			return k.group != group || slices.ContainsFunc(now, k.same)
		}), width))...)
	}
	return out
}

// marks explain the marks: first those of the tasks on the screen below, and last the others.
func (h *help) marks(width int) (first, last []string) {
	var here, others []string
	for _, one := range append(tasks.Marks(), tasks.Mark{Sign: "✓ ● ○",
		Means: "of the way through the workflow: done, here, ahead"}) {
		if !h.holds(one.Sign, one.Means) {
			continue
		}
		line := h.entry(one.Style(h.style).Render(one.Sign), one.Means, "", width)
		if h.keyboard.pages.top().ofAll() && h.keyboard.tasks.Marked(one.Sign) {
			here = append(here, line...)
		} else {
			others = append(others, line...)
		}
	}
	title := "Marks"
	if len(here) > 0 {
		title = "Other marks"
	}
	return h.section("Marks", here), h.section(title, others)
}

// section is a title with its lines and a blank one, or nothing where it has none.
func (h *help) section(title string, lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return slices.Concat([]string{h.style.Header.Render(title)}, lines, []string{""})
}

// holds reports whether one of some texts holds what is searched for.
func (h *help) holds(texts ...string) bool {
	return slices.ContainsFunc(texts, func(one string) bool {
		return strings.Contains(strings.ToLower(one), strings.ToLower(h.search.Text))
	})
}

func (h *help) entries(keys []key, width int) (out []string) {
	for _, k := range keys {
		if names := strings.Join(k.allNames(), " "); h.holds(names, k.does) {
			why, style := "", h.style.Key
			if k.works(h.keyboard.pages.top()) {
				why = h.keyboard.why(k)
			}
			if why != "" {
				style = h.style.ClosedKey
			}
			out = append(out, h.entry(style.Render(names), k.does, why, width)...)
		}
	}
	return out
}

// Search takes a key or a paste while the person types what to search for.
func (h *help) Search(msg tea.Msg, _ screen.Size) (found bool) {
	h.search.Type(msg)
	h.scroll = screen.Scroll{}
	return true
}

// Searched is what is searched for, and whether the person still types it.
func (h *help) Searched() (text string, typing bool) { return h.search.Text, h.search.Typing }

// SearchKeys are the keys of the search.
func (h *help) SearchKeys() []string { return []string{"Enter", "keeps it", "Esc", "leaves it"} }

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
	h.scroll = h.scroll.By(n, len(h.lines(size.Width)), h.room(size))
}

// room is how many lines of the help fit: the last line says how many there are below.
func (h *help) room(size screen.Size) int { return max(1, size.Height-1) }

// View draws the help.
func (h *help) View(size screen.Size) []string {
	lines, room := h.lines(size.Width), h.room(size)
	out := h.scroll.Draw(lines, size.Width, room)
	switch below := len(lines) - h.scroll.Clamp(len(lines), room) - room; {
	case below == 1:
		out = append(out, h.style.Faint.Render("↓ 1 more line below"))
	case below > 0:
		out = append(out, h.style.Faint.Render(fmt.Sprintf("↓ %d more lines below", below)))
	}
	return out
}
