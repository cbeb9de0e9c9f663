package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// footer is what was said or went wrong, and the keys.
func (m Model) footer() []string {
	return []string{m.wordLine(), m.keyLine()}
}

func (m Model) wordLine() string {
	if m.list.typing {
		text := clean(m.list.text)
		if over := visible(text) - max(1, m.width-8); over > 0 {
			text = ansi.TruncateLeft(text, over, "")
		}
		return cut("find: "+text+m.style.chosen.Render(" "), m.width)
	}
	line := clean(m.trouble.line())
	var parts []string
	if len(m.jobs) > 0 {
		dots := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
		what := m.jobs[len(m.jobs)-1].what
		if more := len(m.jobs) - 1; more > 0 {
			what += fmt.Sprintf(" and %d more", more)
		}
		what, most := clean(what), m.width
		if m.said != "" || m.told != "" || line != "" {
			most = m.width / 3
		}
		parts = append(parts, m.style.info.Render(string(dots[m.frame%len(dots)])+" "+squeeze(what, most)+" …"))
	}
	parts = append(parts, m.words(m.wordRoom(parts, line))...)
	if line != "" {
		parts = append(parts, m.style.bad.Render("! "+line))
	}
	if len(parts) == 0 && m.list.text != "" && m.place != inDetail {
		parts = append(parts, m.style.faint.Render("holding "+fmt.Sprintf("%q", m.list.text)+"; Esc shows all"))
	}
	return cut(strings.Join(parts, "  "), m.width)
}

// wordRoom is how many cells words have beside what is at work, and beside the beginning of what went wrong.
func (m Model) wordRoom(before []string, trouble string) int {
	room := m.width
	for _, part := range before {
		room -= visible(part) + len(footGap)
	}
	if trouble != "" {
		room -= min(visible("! "+trouble), m.width/3) + len(footGap)
	}
	return max(room, 0)
}

// words are the answer to the last key and what was told meanwhile: neither hides the other, and a long name in
// one does not hide what became of the task.
func (m Model) words(room int) []string {
	said, told := clean(m.said), clean(m.told)
	switch {
	case said == "" && told == "":
		return nil
	case told == "":
		return []string{squeeze(said, room)}
	case said == "":
		return []string{shorten(told, room)}
	}
	said = squeeze(said, room-min(visible(told), room/3)-len(footGap))
	return []string{said, shorten(told, room-visible(said)-len(footGap))}
}

// shorten makes what was told of a task at most so many cells wide: its name gives way first, then the end of
// what became of it.
func shorten(text string, width int) string {
	name, what, named := strings.Cut(text, ": ")
	if !named {
		return cut(text, width)
	}
	return cut(squeeze(name, max(width/3, width-visible(what)-2))+": "+what, width)
}

// footKey is a key at the foot of the screen, and the cells that it has there.
type footKey struct {
	key, text string
	from, to  int
}

// footKeys are the keys of this place that fit, none of them in part: those that are open, then those that are
// closed, faint. How to get help and how to leave is always there.
func (m Model) footKeys() []footKey {
	var open, closed, last []footKey
	room := m.width
	for _, k := range m.footed() {
		label := k.footer
		if k.label != nil {
			label = k.label(m)
		}
		if label == "" {
			continue
		}
		one := footKey{key: k.names[0], text: m.style.key.Render(k.name()) + " " + label}
		switch {
		case k.names[0] == "?" || k.names[0] == "q":
			last = append(last, one)
			room -= visible(one.text) + len(footGap)
		case k.why(m) == "":
			open = append(open, one)
		default:
			one.text = m.style.closedKey.Render(k.name() + " " + label)
			closed = append(closed, one)
		}
	}
	var out []footKey
	for _, one := range append(open, closed...) {
		if width := visible(one.text) + len(footGap); width <= room {
			out = append(out, one)
			room -= width
		}
	}
	at := 0
	out = append(out, last...)
	for i := range out {
		out[i].from, out[i].to = at, at+visible(out[i].text)
		at = out[i].to + len(footGap)
		if out[i].to > m.width {
			return out[:i]
		}
	}
	return out
}

// footed are the keys of this place that the footer knows, in its order.
func (m Model) footed() []key {
	var out []key
	for _, k := range m.keys {
		if k.footer != "" && k.works(m.place) {
			out = append(out, k)
		}
	}
	order := footOrder()
	slices.SortStableFunc(out, func(a, b key) int {
		return cmp.Compare(slices.Index(order, a.names[0]), slices.Index(order, b.names[0]))
	})
	return out
}

// footGap is between two keys at the foot.
const footGap = "  "

func (m Model) keyLine() string {
	switch {
	case m.place == inForm && m.form != nil:
		return cut(m.form.keyLine(m.style), m.width)
	case m.list.typing:
		key := m.style.key.Render
		return cut(key("Enter")+" keeps it"+footGap+key("Esc")+" leaves it"+footGap+key("↑ ↓")+" other task", m.width)
	}
	var texts []string
	for _, one := range m.footKeys() {
		texts = append(texts, one.text)
	}
	return strings.Join(texts, footGap)
}

// helpLines tell every key in words, why it does nothing now where that is so, and what the marks mean.
func (m Model) helpLines() []string {
	out := []string{m.style.title.Render("Keys") + m.style.faint.Render("   Esc leaves the help"), ""}
	for _, group := range groups() {
		out = append(out, m.style.header.Render(group))
		for _, k := range m.keys {
			if k.group == group {
				out = append(out, m.helpEntry(k)...)
			}
		}
		out = append(out, "")
	}
	out = append(out, m.style.header.Render("Marks"))
	for _, one := range m.marks {
		out = append(out, m.entry(one.style(m.style).Render(one.sign), one.means, "")...)
	}
	return append(out, m.entry("✓ ● ○", "of the way through the workflow: done, here, ahead", "")...)
}

func (m Model) helpEntry(k key) []string {
	why := ""
	if k.works(m.cameFrom()) {
		why = k.why(m)
	}
	return m.entry(m.style.key.Render(strings.Join(k.allNames(), " ")), k.does, why)
}

// entry is a name, and beside it what it means, wrapped; why it does nothing now stands beneath.
func (m Model) entry(name, means, why string) []string {
	const indent, narrow = 2, 70
	column := 20
	if m.width < narrow {
		column = 10
	}
	room := max(10, m.width-indent-column-1)
	var text []string
	text = append(text, wrap(means, room)...)
	if why != "" {
		for _, line := range wrap("not now: "+clean(why), room) {
			text = append(text, m.style.faint.Render(line))
		}
	}
	blank := strings.Repeat(" ", indent)
	var out []string
	if visible(name) > column {
		out, name = append(out, blank+name), ""
	}
	for i, line := range text {
		if i > 0 {
			name = ""
		}
		out = append(out, blank+fit(name, column)+" "+line)
	}
	return out
}

func (m Model) troubleLines() []string {
	out := []string{m.style.title.Render("What went wrong") + m.style.faint.Render("   Esc: I have read it"), ""}
	for i := len(m.trouble.told) - 1; i >= 0; i-- {
		one := m.trouble.told[i]
		if one.what != "" {
			for _, part := range wrap("cannot "+clean(one.what), max(10, m.width)) {
				out = append(out, m.style.bad.Render(part))
			}
		}
		for _, line := range cleanLines(one.text) {
			for _, part := range wrap(line, max(10, m.width-2)) {
				out = append(out, "  "+part)
			}
		}
		out = append(out, "")
	}
	return out
}

// scroll is how far down a text is read.
type scroll struct{ top int }

// draw shows the part of lines that is in sight.
func (s scroll) draw(lines []string, width, height int) []string {
	height = max(0, height)
	top := s.clamp(len(lines), height)
	end := min(len(lines), top+height)
	out := make([]string, 0, height)
	for _, line := range lines[top:end] {
		out = append(out, cut(line, width))
	}
	return out
}

func (s scroll) clamp(lines, height int) int { return max(0, min(s.top, lines-height)) }

// by scrolls on, and no further than there is anything to see.
func (s scroll) by(n, lines, height int) scroll {
	return scroll{max(0, min(s.clamp(lines, height)+n, lines-height))}
}

func (m Model) scrollBy(n int) Model {
	height := m.bodyHeight() + 1
	switch m.place {
	case inHelp:
		m.help = m.help.by(n, len(m.helpLines()), height)
	case inTrouble:
		m.help = m.help.by(n, len(m.troubleLines()), height)
	case inDetail:
		m = m.scrollDetail(n)
	}
	return m
}
