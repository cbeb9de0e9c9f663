package dashboard

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// key is one row of the table from which everything about keys is made: what they do, the footer, the help and
// docs/keys.md.
type key struct {
	names  []string // as Bubble Tea names them; the first one is shown
	does   string   // what it does, in words
	footer string   // one or two words for the foot of the screen; empty keeps it out of there
	// what the footer says instead, where that depends; nil for footer; an empty word keeps it out
	label  func(m *Model) string
	places []place // where it works
	group  string  // where the help has it
	// closed says why the key does nothing now; empty when it does. nil is never closed.
	closed func(m *Model) string
	press  func(m *Model) tea.Cmd
}

// Groups of keys, in the order of the help.
const (
	groupMove = "Moving about"
	groupTask = "The selected task"
	groupView = "What is shown"
	groupElse = "Everything else"
)

// footOrder are the keys of the footer, those first that are wanted most often: where there is little room the
// last ones go. Help and leaving stand at the end and are always there.
func footOrder() []string {
	return []string{"j", "k", "!", "enter", "J", "r", "m", "n", "c", "v", "b", "p", "/", "f", "x", "w", "o", "a",
		"d", "R", "?", "q"}
}

// groups are all groups, in the order of the help.
func groups() []string { return []string{groupTask, groupView, groupElse, groupMove} }

// name is how the key is written on the screen.
func (k key) name() string { return written(k.names[0]) }

// allNames are all keys that do the same, as they are written on the screen.
func (k key) allNames() []string {
	var out []string
	for _, name := range k.names {
		out = append(out, written(name))
	}
	return out
}

func written(name string) string {
	switch name {
	case "enter":
		return "Enter"
	case "esc":
		return "Esc"
	case "tab":
		return "Tab"
	case "space":
		return "Space"
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	}
	return name
}

func (k key) works(in place) bool { return slices.Contains(k.places, in) }

// why is why the key is closed, empty when it is open.
func (k key) why(m *Model) string {
	if k.closed == nil {
		return ""
	}
	return k.closed(m)
}

// press does what a key says. Where the person writes, keys are letters.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	m.waits = waiting{} // whatever is pressed takes its place
	switch name {
	case "ctrl+c":
		return m.leave()
	case "alt+esc": // two Escapes so quick that the terminal hands them on as one
		once := tea.KeyPressMsg{Code: tea.KeyEscape}
		first := m.press(once)
		second := m.press(once)
		return tea.Batch(first, second)
	}
	switch {
	case m.place == inForm && m.form != nil:
		return m.updateForm(msg)
	case m.list.Searching:
		return m.search(msg)
	}
	return m.do(name)
}

// do is what a key does here. A key that is closed says why.
func (m *Model) do(name string) tea.Cmd {
	m.tasks.GivenUp = ""
	m.said, m.told, m.waits = "", "", waiting{}
	if name != "q" {
		m.warned = false
	}
	for _, k := range m.keys {
		if !k.works(m.place) || !slices.Contains(k.names, name) {
			continue
		}
		if why := k.why(m); why != "" {
			m.said = k.name() + ": " + why
			if t, found := m.selected(); found && (why == stillReading || why == stillLooking) {
				m.waits = waiting{key: name, task: t.ID, said: m.said}
			}
			return nil
		}
		return k.press(m)
	}
	return nil
}

// Why a key is closed for a moment: what it rests on is being looked up.
const (
	stillReading = "the task's workflow is being read"
	stillLooking = "its terminal is being looked at"
)

// waiting is a key that came before what it rests on was known: a quick hand is not told to press it again. It
// said so meanwhile.
type waiting struct{ key, task, said string }

// pressAgain presses the key that waits, unless the person has turned to another task since. Whatever else they
// did took its place. It is not they who press it now: what they were told or answered meanwhile is still to be
// read.
func (m *Model) pressAgain() tea.Cmd {
	t, found := m.selected()
	if m.waits.key == "" || !found || t.ID != m.waits.task {
		return nil
	}
	said, told := m.said, m.told
	if said == m.waits.said {
		said = ""
	}
	cmd := m.do(m.waits.key)
	if m.told = told; said != "" && (m.said == "" || m.waits.key != "") {
		m.said = said
	}
	return cmd
}

// leave ends the screen. While something runs that would be cut short, or was written and not sent, it says so once.
func (m *Model) leave() tea.Cmd {
	lost := ""
	switch {
	case m.form != nil && m.form.written():
		lost = "what you wrote is not sent"
	case len(m.jobs) > 0:
		lost = m.jobs[0].what + " is still at work"
	}
	if lost != "" && !m.warned {
		m.warned, m.said = true, lost+"; press again to leave it"
		return nil
	}
	return tea.Quit
}

// search gives a key or a paste to the search of the list.
func (m *Model) search(msg tea.Msg) tea.Cmd {
	if k, pressed := msg.(tea.KeyPressMsg); pressed && k.String() == "esc" {
		m.said = ""
	}
	m.list.Search(msg, m.body())
	return m.lookUp()
}

// paste takes text that the person pasted.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.place == inForm && m.form != nil:
		return m.updateForm(msg)
	case m.list.Searching:
		return m.search(msg)
	}
	return nil
}
