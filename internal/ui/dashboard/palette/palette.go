// Package palette lets the person find every action of the dashboard by its words or its key, and do it.
package palette

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/screen"
)

// Entry is an action.
type Entry struct {
	Name   string // as config.yml has it
	Key    string // as the screen shows it
	Does   string
	Group  string
	Closed string // why it does nothing now; empty where it does something
	Press  func() tea.Cmd
}

// Model is the list of the actions that hold what the person types.
type Model struct {
	Style *screen.Style
	All   []Entry

	search  screen.LineInput
	at, top int
	problem string
}

// most is the length of the longest text that is searched for.
const most = 60

// Update takes a letter of what is searched for, moves the cursor, or does the action under it.
func (m *Model) Update(msg tea.Msg, _ screen.Size) form.Response {
	k, pressed := msg.(tea.KeyPressMsg)
	if pressed {
		m.problem = ""
	}
	switch k.String() {
	case "esc":
		return form.Response{Close: true}
	case "enter":
		return m.choose()
	case "down", "tab", "ctrl+n", "ctrl+j":
		m.move(1)
	case "up", "shift+tab", "ctrl+p", "ctrl+k":
		m.move(-1)
	case "pgdown":
		m.move(10)
	case "pgup":
		m.move(-10)
	case "home":
		m.move(-len(m.All))
	case "end":
		m.move(len(m.All))
	default:
		if k.String() == "backspace" && m.search.Text == "" {
			return form.Response{Close: true}
		}
		before := m.search.Text
		m.search.Type(msg)
		if letters := []rune(m.search.Text); len(letters) > most {
			m.search.Text = string(letters[:most])
		}
		if m.search.Text != before {
			m.at, m.top = 0, 0
		}
	}
	return form.Response{}
}

func (m *Model) move(n int) { m.at = max(0, min(m.at+n, len(m.found())-1)) }

func (m *Model) choose() form.Response {
	found := m.found()
	if m.at >= len(found) {
		return form.Response{}
	}
	if one := found[m.at]; one.Closed == "" {
		return form.Response{Close: true, Then: one.Press}
	}
	m.problem = "This does nothing now: " + found[m.at].Closed
	return form.Response{}
}

// found are the entries that hold every word that the person typed: those that are open first, among them the one with
// that very key or name, then those whose name begins with it.
func (m *Model) found() []Entry {
	text := strings.ToLower(strings.TrimSpace(m.search.Text))
	var out []Entry
	for _, one := range m.All {
		in := strings.ToLower(one.Name + " " + one.Key + " " + one.Does + " " + one.Group)
		if !slices.ContainsFunc(strings.Fields(text), func(word string) bool { return !strings.Contains(in, word) }) {
			out = append(out, one)
		}
	}
	rank := func(e Entry) int {
		switch {
		case text == "":
			return 0
		case e.Key == strings.TrimSpace(m.search.Text) || e.Name == text:
			return -2
		case strings.HasPrefix(e.Name, text):
			return -1
		}
		return 0
	}
	closed := func(e Entry) int { return min(len(e.Closed), 1) }
	slices.SortStableFunc(out, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(closed(a), closed(b)), cmp.Compare(rank(a), rank(b)))
	})
	return out
}

// Unsent reports that nothing is lost with what was typed.
func (m *Model) Unsent() bool { return false }

// Keys are the keys of the palette.
func (m *Model) Keys() []string {
	return []string{"Enter", "does it", "↑ ↓", "another one", "Esc", "leave it"}
}

// width is the largest width of the text in the palette.
const width = 84

// height is the largest height of the palette.
const height = 24

// View draws the palette over what is behind it, or on the whole body where that is small.
func (m *Model) View(behind []string, size screen.Size) ([]string, *tea.Position) {
	room := 0
	out, x, y := screen.FrameOver(m.Style, behind, size, screen.Size{Width: width, Height: height},
		func(in screen.Size) []string {
			room = in.Width
			return m.lines(in.Width, in.Height)
		})
	return out, &tea.Position{X: x + min(screen.Width(m.field()), room-1), Y: y}
}

func (m *Model) field() string { return ": " + m.search.Text }

func (m *Model) lines(width, height int) []string {
	found := m.found()
	out := []string{m.Style.Title.Render(screen.Fit(screen.Cut(m.field(), width), width))}
	foot := m.foot(found, width)
	foot = foot[:min(len(foot), max(0, height-4))]
	room := max(1, height-1-len(foot))
	m.top = screen.Follow(m.top, m.at, room, len(found))
	for i := m.top; i < m.top+room; i++ {
		if i < len(found) {
			out = append(out, m.line(found[i], i == m.at, width))
		} else {
			out = append(out, "")
		}
	}
	return append(out, foot...)[:max(1, min(height, len(out)+len(foot)))]
}

func keyRoom(width int) int { return min(12, max(1, width/3)) }

// doesRoom is the room for what an action does, behind its key.
func doesRoom(width int) int { return max(1, width-keyRoom(width)-3) }

func (m *Model) line(e Entry, chosen bool, width int) string {
	key := screen.Fit(e.Key, keyRoom(width))
	room := doesRoom(width)
	switch does := screen.Clean(e.Does); {
	case chosen:
		return m.Style.Chosen.Render(screen.Fit("> "+key+" "+screen.Cut(does, room), width))
	case e.Closed != "":
		return m.Style.Faint.Render(screen.Cut("  "+key+" "+does, width))
	default:
		return "  " + m.Style.Key.Render(key) + " " + screen.Cut(does, room)
	}
}

// foot says what there is to know of the action under the cursor.
func (m *Model) foot(found []Entry, width int) []string {
	if m.at >= len(found) {
		return []string{m.Style.Faint.Render("no action has these words")}
	}
	one := found[m.at]
	rule := fmt.Sprintf(" %s  %d of %d", one.Name, m.at+1, len(found))
	line := strings.Repeat("─", max(0, width-screen.Width(rule))) + screen.Cut(rule, width)
	out := []string{m.Style.Faint.Render(line)}
	if m.problem != "" {
		return append(out, screen.Problem(m.Style, m.problem, width, footLines-1)...)
	}
	text := one.Group
	switch {
	case one.Closed != "":
		text = "not now: " + one.Closed
	case screen.Width(one.Does) > doesRoom(width):
		text = one.Does // its line cuts it
	}
	for _, line := range screen.Wrap(screen.Clean(text), max(1, width)) {
		out = append(out, m.Style.Faint.Render(line))
	}
	out = append(out, "")
	return out[:footLines]
}

// footLines is the height of the foot: a rule and two lines.
const footLines = 3
