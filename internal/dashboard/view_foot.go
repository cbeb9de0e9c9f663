package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/dashboard/screen"
	"orange/internal/dashboard/tasks"
)

// footer is what was said or went wrong, and the keys.
func (m *Model) footer() []string {
	return []string{m.wordLine(), m.keyLine()}
}

func (m *Model) wordLine() string {
	if m.list.Searching {
		text := screen.Clean(m.tasks.Text)
		if over := screen.Width(text) - max(1, m.width-8); over > 0 {
			text = ansi.TruncateLeft(text, over, "")
		}
		return screen.Cut("find: "+text+m.style.Chosen.Render(" "), m.width)
	}
	line := screen.Clean(m.trouble.line())
	var parts []string
	if len(m.jobs) > 0 {
		dots := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
		what := m.jobs[len(m.jobs)-1].what
		if more := len(m.jobs) - 1; more > 0 {
			what += fmt.Sprintf(" and %d more", more)
		}
		what, most := screen.Clean(what), m.width
		if m.said != "" || m.told != "" || line != "" {
			most = m.width / 3
		}
		parts = append(parts, m.style.Info.Render(string(dots[m.frame%len(dots)])+" "+screen.Squeeze(what, most)+" …"))
	}
	parts = append(parts, m.words(m.wordRoom(parts, line))...)
	if line != "" {
		parts = append(parts, m.style.Bad.Render("! "+line))
	}
	if len(parts) == 0 && m.tasks.Text != "" && m.place != inDetail {
		parts = append(parts, m.style.Faint.Render("holding "+fmt.Sprintf("%q", m.tasks.Text)+"; Esc shows all"))
	}
	return screen.Cut(strings.Join(parts, "  "), m.width)
}

// wordRoom is how many cells words have beside what is at work, and beside the beginning of what went wrong.
func (m *Model) wordRoom(before []string, trouble string) int {
	room := m.width
	for _, part := range before {
		room -= screen.Width(part) + len(footGap)
	}
	if trouble != "" {
		room -= min(screen.Width("! "+trouble), m.width/3) + len(footGap)
	}
	return max(room, 0)
}

// words are the answer to the last key and what was told meanwhile: neither hides the other, and a long name in
// one does not hide what became of the task.
func (m *Model) words(room int) []string {
	said, told := screen.Clean(m.said), screen.Clean(m.told)
	switch {
	case said == "" && told == "":
		return nil
	case told == "":
		return []string{screen.Squeeze(said, room)}
	case said == "":
		return []string{shorten(told, room)}
	}
	said = screen.Squeeze(said, room-min(screen.Width(told), room/3)-len(footGap))
	return []string{said, shorten(told, room-screen.Width(said)-len(footGap))}
}

// shorten makes what was told of a task at most so many cells wide: its name gives way first, then the end of
// what became of it.
func shorten(text string, width int) string {
	name, what, named := strings.Cut(text, ": ")
	if !named {
		return screen.Cut(text, width)
	}
	return screen.Cut(screen.Squeeze(name, max(width/3, width-screen.Width(what)-2))+": "+what, width)
}

// footKey is a key at the foot of the screen, and the cells that it has there.
type footKey struct {
	key, text string
	from, to  int
}

// footKeys are the keys of this place that fit, none of them in part: those that are open, then those that are
// closed, faint. How to get help and how to leave is always there.
func (m *Model) footKeys() []footKey {
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
		one := footKey{key: k.names[0], text: m.style.Key.Render(k.name()) + " " + label}
		switch {
		case k.names[0] == "?" || k.names[0] == "q":
			last = append(last, one)
			room -= screen.Width(one.text) + len(footGap)
		case k.why(m) == "":
			open = append(open, one)
		default:
			one.text = m.style.ClosedKey.Render(k.name() + " " + label)
			closed = append(closed, one)
		}
	}
	var out []footKey
	for _, one := range append(open, closed...) {
		if width := screen.Width(one.text) + len(footGap); width <= room {
			out = append(out, one)
			room -= width
		}
	}
	at := 0
	out = append(out, last...)
	for i := range out {
		out[i].from, out[i].to = at, at+screen.Width(out[i].text)
		at = out[i].to + len(footGap)
		if out[i].to > m.width {
			return out[:i]
		}
	}
	return out
}

// footed are the keys of this place that the footer knows, in its order.
func (m *Model) footed() []key {
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

func (m *Model) keyLine() string {
	switch {
	case m.place == inForm && m.form != nil:
		return screen.Cut(m.form.keyLine(m.style), m.width)
	case m.list.Searching:
		key := m.style.Key.Render
		return screen.Cut(key("Enter")+" keeps it"+footGap+key("Esc")+" leaves it"+footGap+key("↑ ↓")+" other task",
			m.width)
	}
	var texts []string
	for _, one := range m.footKeys() {
		texts = append(texts, one.text)
	}
	return strings.Join(texts, footGap)
}

// helpLines tell every key in words, why it does nothing now where that is so, and what the marks mean.
func (m *Model) helpLines() []string {
	out := []string{m.style.Title.Render("Keys") + m.style.Faint.Render("   Esc leaves the help"), ""}
	for _, group := range groups() {
		out = append(out, m.style.Header.Render(group))
		for _, k := range m.keys {
			if k.group == group {
				out = append(out, m.helpEntry(k)...)
			}
		}
		out = append(out, "")
	}
	out = append(out, m.style.Header.Render("Marks"))
	for _, one := range tasks.Marks() {
		out = append(out, m.entry(one.Style(m.style).Render(one.Sign), one.Means, "")...)
	}
	return append(out, m.entry("✓ ● ○", "of the way through the workflow: done, here, ahead", "")...)
}

func (m *Model) helpEntry(k key) []string {
	why := ""
	if k.works(m.cameFrom()) {
		why = k.why(m)
	}
	return m.entry(m.style.Key.Render(strings.Join(k.allNames(), " ")), k.does, why)
}

// entry is a name, and beside it what it means, wrapped; why it does nothing now stands beneath.
func (m *Model) entry(name, means, why string) []string {
	const indent, narrow = 2, 70
	column := 20
	if m.width < narrow {
		column = 10
	}
	room := max(10, m.width-indent-column-1)
	var text []string
	text = append(text, screen.Wrap(means, room)...)
	if why != "" {
		for _, line := range screen.Wrap("not now: "+screen.Clean(why), room) {
			text = append(text, m.style.Faint.Render(line))
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

func (m *Model) troubleLines() []string {
	out := []string{m.style.Title.Render("What went wrong") + m.style.Faint.Render("   Esc: I have read it"), ""}
	for i := len(m.trouble.told) - 1; i >= 0; i-- {
		one := m.trouble.told[i]
		if one.what != "" {
			for _, part := range screen.Wrap("cannot "+screen.Clean(one.what), max(10, m.width)) {
				out = append(out, m.style.Bad.Render(part))
			}
		}
		for _, line := range screen.CleanLines(one.text) {
			for _, part := range screen.Wrap(line, max(10, m.width-2)) {
				out = append(out, "  "+part)
			}
		}
		out = append(out, "")
	}
	return out
}

// scrollBy scrolls the body by n lines.
func (m *Model) scrollBy(n int) {
	height := m.body().Height
	switch m.place {
	case inHelp:
		m.help = m.help.By(n, len(m.helpLines()), height)
	case inTrouble:
		m.help = m.help.By(n, len(m.troubleLines()), height)
	case inDetail:
		m.detail.Move(n, m.detailSize())
	}
}
