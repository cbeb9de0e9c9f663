package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/screen"
)

// key is one row of the table from which everything about keys is made: what they do, the footer, the help and
// docs/keys.md.
type key struct {
	action string   // its name in config.yml
	usual  string   // its first name, whatever config.yml says
	names  []string // as Bubble Tea names them; the screen shows the first one
	does   string   // what it does, in words
	footer string   // one or two words for the footer; empty keeps it out of there
	// what the footer says instead, where that depends; nil for footer; an empty label keeps the key out
	label func(m *Model) string
	pages []page // where it works
	group string // where the help has it
	// closed is why the key does nothing now; empty when it does something. nil is never closed.
	closed func(m *Model) string
	press  func(m *Model) tea.Cmd
	// what it does with all tasks that the person marked; nil where it is about one
	many func(command.Commands, []command.Target) command.FirstStep
}

// Groups of keys, in the order of the help.
const (
	groupMove   = "Moving about"
	groupTask   = "The selected task"
	groupView   = "What is shown"
	groupReview = "The review of a task"
	groupElse   = "Everything else"
)

// footOrder are the keys of the footer, those first that people use most: where there is little room, the last ones are
// left out. Help and quit are at the end and are always there.
func footOrder() []string {
	return []string{"j", "k", "!", "enter", "i", "J", "D", "S", "m", "r", "M", "c", "v", "b", "p", "/", "]", "}", "V",
		"s", "e", "*", "f", "x", "w", "o", "a", "d", "R", ":", "?", "q"}
}

// groups are all groups, in the order of the help.
func groups() []string { return []string{groupTask, groupView, groupReview, groupElse, groupMove} }

func (k key) name() string { return screen.KeyName(k.names[0]) }

// allNames are the names on the screen of all keys that do the same.
func (k key) allNames() []string {
	var out []string
	for _, name := range k.names {
		out = append(out, screen.KeyName(name))
	}
	return out
}

// same reports whether another key is the same row of the table.
func (k key) same(other key) bool {
	return k.names[0] == other.names[0] && slices.Equal(k.pages, other.pages)
}

func (k key) works(on page) bool { return slices.Contains(k.pages, on) }

// why is why the key is closed; empty when it is open.
func (k key) why(m *Model) string {
	if k.closed == nil || k.many != nil && marking(m) {
		return ""
	}
	return k.closed(m)
}

type keymap []key

func (all keymap) find(name string, on page) (key, bool) {
	at := slices.IndexFunc(all, func(k key) bool { return k.works(on) && slices.Contains(k.names, name) })
	if at < 0 {
		return key{}, false
	}
	return all[at], true
}

// moved says which key does what a usual key no longer does, because config.yml gives it another one; empty where that
// is not so.
func (all keymap) moved(name string, on page) string {
	for _, k := range all {
		if k.works(on) && k.usual == name {
			return fmt.Sprintf("%s does nothing here: your config.yml gives its action, %s, the key %s",
				screen.KeyName(name), k.action, k.name())
		}
	}
	return ""
}

// footKey is a key in the footer, and the cells that it has there.
type footKey struct {
	key, text string
	from, to  int
}

// footer are the keys of the page that do something now, as many as fit, none of them in part. Help and quit are always
// there.
func (all keymap) footer(m *Model) []footKey {
	var open, last []footKey
	room := m.width
	for _, k := range all.withFooter(m.page) {
		label := k.footer
		if k.label != nil {
			label = k.label(m)
		}
		if label == "" {
			continue
		}
		one := footKey{key: k.names[0], text: m.style.Key.Render(k.name()) + " " + label}
		if k.usual == "!" {
			one.text = m.style.Bad.Render(k.name() + " " + label)
		}
		switch {
		case k.usual == "?" || k.usual == "q":
			last = append(last, one)
			room -= screen.Width(one.text) + len(partGap)
		case k.why(m) == "":
			open = append(open, one)
		}
	}
	var out []footKey
	for _, one := range open {
		if width := screen.Width(one.text) + len(partGap); width <= room {
			out = append(out, one)
			room -= width
		}
	}
	at := 0
	out = append(out, last...)
	for i := range out {
		out[i].from, out[i].to = at, at+screen.Width(out[i].text)
		at = out[i].to + len(partGap)
		if out[i].to > m.width {
			return out[:i]
		}
	}
	return out
}

// footerAt is the name of the key in the footer at a cell.
func (all keymap) footerAt(m *Model, x int) (name string, found bool) {
	for _, k := range all.footer(m) {
		if x >= k.from && x < k.to {
			return k.key, true
		}
	}
	return "", false
}

// pairsThatFit are keys with what they do, as many as fit: where there is no room the last ones are left out, but never
// the one that leads out.
func pairsThatFit(style *screen.Style, keys []string, width int) (parts []string) {
	var ways []bool // which of them lead out
	for i := 0; i+1 < len(keys); i += 2 {
		parts = append(parts, style.Key.Render(keys[i])+" "+keys[i+1])
		ways = append(ways, keys[i] == "Esc")
	}
	for at := len(parts) - 1; at > 0 && screen.Width(strings.Join(parts, partGap)) > width; at-- {
		if !ways[at] {
			parts = slices.Delete(parts, at, at+1)
		}
	}
	return parts
}

// withFooter are the keys of a page that have words for the footer, in its order.
func (all keymap) withFooter(on page) []key {
	out := slices.DeleteFunc(slices.Clone(all), func(k key) bool { return k.footer == "" || !k.works(on) })
	order := footOrder()
	slices.SortStableFunc(out, func(a, b key) int {
		return cmp.Compare(slices.Index(order, a.usual), slices.Index(order, b.usual))
	})
	return out
}

// press does what a key says. Where the person types a text, keys are letters.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	m.pending = pendingKey{} // any key replaces it
	switch name {
	case "ctrl+c":
		return m.quit()
	case "alt+esc": // two quick Escapes, which the terminal reports as one key
		once := tea.KeyPressMsg{Code: tea.KeyEscape}
		first := m.press(once)
		return tea.Batch(first, m.press(once))
	}
	switch {
	case m.page == pageForm && m.form != nil:
		m.messages.clear()
		m.warned = false
		return m.updateForm(msg)
	case m.page == pageReview && m.review.Searching:
		return searchReview(m, msg)
	case m.page == pageHelp && m.help.searching:
		return searchHelp(m, msg)
	case m.list.Searching:
		return m.search(msg)
	}
	return m.do(name)
}

// do does what a key does on this page. A key that is closed says why.
func (m *Model) do(name string) tea.Cmd {
	m.tasks.GivenUp, m.tasks.Touched = "", true
	m.messages.clear()
	m.pending = pendingKey{}
	if name != "q" {
		m.warned = false
	}
	k, found := m.keys.find(name, m.page)
	if !found {
		m.messages.answer = m.keys.moved(name, m.page)
		return nil
	}
	return perform(m, k)
}

// perform does what a key does, or says why it does nothing.
func perform(m *Model, k key) tea.Cmd {
	if why := k.why(m); why != "" {
		m.messages.answer = k.name() + ": " + why
		if t, found := m.tasks.Selected(); found && (why == command.ReadingWorkflow ||
			why == command.CheckingTerminal) {
			m.pending = pendingKey{key: k.names[0], task: t.ID, answer: m.messages.answer}
		}
		return nil
	}
	m.failures.passed = true
	if k.many != nil && marking(m) {
		return m.begin(k.many(m.commands, marked(m)))
	}
	return k.press(m)
}

// pendingKey is a key that was pressed before what it depends on was known. The screen presses it again then, so that a
// quick person need not.
type pendingKey struct{ key, task, answer string }

// pressPending presses the pending key, unless the person selected another task since. Any other key that they pressed
// replaced it. The messages that came meanwhile stay: the person has not read them yet.
func (m *Model) pressPending() tea.Cmd {
	t, found := m.tasks.Selected()
	if m.pending.key == "" || !found || t.ID != m.pending.task {
		return nil
	}
	before, passed := m.messages, m.failures.passed
	if before.answer == m.pending.answer {
		before.answer = ""
	}
	cmd := m.do(m.pending.key)
	m.messages.news, m.failures.passed = before.news, passed
	if before.answer != "" && (m.messages.answer == "" || m.pending.key != "") {
		m.messages.answer = before.answer
	}
	return cmd
}

// quit ends the dashboard. While that would cut work short or lose text, it first says so once.
func (m *Model) quit() tea.Cmd {
	lost := ""
	switch {
	case m.form != nil && m.form.Unsent():
		lost = "what you wrote is not sent"
	case len(m.jobs.running) > 0:
		lost = m.jobs.running[0].what + " is still at work"
	}
	if lost != "" && !m.warned {
		m.warned, m.messages.answer = true, lost+"; press again to leave it"
		return nil
	}
	if m.page == pageList || m.page == pageBoard {
		if cmd := keepView(m); cmd != nil { // the last key may not have been kept yet
			return tea.Sequence(cmd, tea.Quit)
		}
	}
	return tea.Quit
}

// search gives a key or a paste to the search of the list.
func (m *Model) search(msg tea.Msg) tea.Cmd {
	if k, pressed := msg.(tea.KeyPressMsg); pressed && k.String() == "esc" {
		m.messages.answer = ""
	}
	m.list.Search(msg, listSize(m))
	return m.lookUp()
}

// footerKeyLine has the keys of the footer, those of a form or of the search where the person types.
func (m *Model) footerKeyLine() string {
	var parts []string
	pairs := func(keys []string) { parts = pairsThatFit(m.style, keys, m.width) }
	switch {
	case m.page == pageForm && m.form != nil:
		pairs(m.form.Keys())
	case m.page == pageHelp && m.help.searching:
		pairs([]string{"Enter", "keeps it", "Esc", "leaves it"})
	case m.page == pageReview && m.review.Searching:
		pairs([]string{"Enter", "finds it", "Esc", "leaves it"})
	case m.list.Searching:
		pairs([]string{"Enter", "keeps it", "Esc", "leaves it", "↑ ↓", "other task"})
	default:
		for _, one := range m.keys.footer(m) {
			parts = append(parts, one.text)
		}
		return strings.Join(parts, partGap)
	}
	return screen.Cut(strings.Join(parts, partGap), m.width)
}
