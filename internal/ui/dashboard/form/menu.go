package form

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/screen"
)

// Menu lets the person choose one of several items. What an item leads to it says before it is chosen, so that no other
// question has to.
type Menu struct {
	Style *screen.Style
	Title string
	// Read reads the items; it runs next to the screen.
	Read func(ctx context.Context) ([]Item, error)

	items   []Item
	known   bool
	problem string
	at, top int
}

// Item is a line of a menu.
type Item struct {
	Name   string
	State  string   // a word behind the name: "open"
	Sign   string   // before the name of one that can be chosen at a price; empty for the usual one
	Open   bool     // it can be chosen
	About  []string // what it leads to, or what it lacks
	Choose func() Response
}

// MenuRead has the items of a menu.
type MenuRead struct {
	of    *Menu
	items []Item
	err   error
}

// Load reads the items.
func (m *Menu) Load(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		items, err := m.Read(ctx)
		return MenuRead{m, items, err}
	}
}

// Update moves the cursor, or chooses the item under it.
func (m *Menu) Update(msg tea.Msg, size screen.Size) Response {
	if read, is := msg.(MenuRead); is && read.of == m {
		m.items, m.known = read.items, true
		m.at = max(0, slices.IndexFunc(m.items, func(one Item) bool { return one.Open })) // what can be chosen
		if read.err != nil {
			m.problem = read.err.Error()
		}
		return Response{}
	}
	k, pressed := msg.(tea.KeyPressMsg)
	if !pressed {
		return Response{}
	}
	keys, name := m.Style.Keys, k.String()
	has := func(action string, always ...string) bool {
		return keys.Has(action, name) || slices.Contains(always, name)
	}
	switch {
	case has("move", "esc", "q"):
		return Response{Close: true}
	case name == "enter":
		return m.choose()
	case has("down", "down", "tab"):
		m.move(1)
	case has("up", "up", "shift+tab"):
		m.move(-1)
	case has("first", "home"):
		m.move(-len(m.items))
	case has("last", "end"):
		m.move(len(m.items))
	}
	return Response{}
}

func (m *Menu) move(n int) {
	m.at = max(0, min(m.at+n, len(m.items)-1))
	m.problem = ""
}

func (m *Menu) choose() Response {
	if m.at >= len(m.items) {
		return Response{}
	}
	if one := m.items[m.at]; one.Open {
		out := one.Choose()
		out.Close = true
		return out
	}
	m.problem = "This move is closed: see what is missing."
	return Response{}
}

// Unsent reports that there is no text.
func (m *Menu) Unsent() bool { return false }

// Keys are the keys of the menu.
func (m *Menu) Keys() []string {
	others := m.Style.Keys.Of("down") + " " + m.Style.Keys.Of("up")
	if m.at < len(m.items) && m.items[m.at].Open {
		return []string{"Enter", "choose", others, "another one", "Esc", "leave it"}
	}
	return []string{others, "another one", "Esc", "leave it"}
}

// menuWidth is the largest width of the text in a menu.
const menuWidth = 76

// View draws the menu over what is behind it, or on the whole body where that is small.
func (m *Menu) View(behind []string, size screen.Size) ([]string, *tea.Position) {
	out, _, _ := screen.FrameOver(m.Style, behind, size, screen.Size{Width: menuWidth, Height: size.Height}, m.lines)
	return out, nil
}

// lines are the title, the items that fit, and what is to be known of the one under the cursor.
func (m *Menu) lines(room screen.Size) []string {
	width, height := room.Width, room.Height
	out := []string{m.Style.Title.Render(screen.Cut(screen.Clean(m.Title), width))}
	about := m.about(width)
	switch {
	case !m.known:
		return append(out, m.Style.Faint.Render("looking…"))
	case len(m.items) == 0 && m.problem != "":
		return append(out, screen.Problem(m.Style, m.problem, width, max(1, height-1))...)
	case len(m.items) == 0:
		return append(out, m.Style.Faint.Render("no move leads out of here"))
	}
	about = about[:min(len(about), max(0, height-1-min(len(m.items), max(3, height/2))))]
	visible := max(1, height-1-len(about))
	m.top = screen.Follow(m.top, m.at, visible, len(m.items))
	for i := m.top; i < len(m.items) && i < m.top+visible; i++ {
		out = append(out, m.itemLine(i, width))
	}
	return append(out, about...)
}

func (m *Menu) itemLine(i, width int) string {
	one := m.items[i]
	sign, style := "○ ", &m.Style.Faint
	switch {
	case one.Open && one.Sign != "":
		sign, style = one.Sign+" ", &m.Style.Warn
	case one.Open:
		sign, style = "✓ ", &m.Style.Good
	}
	name, state := screen.Clean(one.Name), screen.Clean(one.State)
	if i == m.at {
		return m.Style.Chosen.Render(screen.Fit("> "+sign+name+"  "+state, width))
	}
	return screen.Cut("  "+style.Render(sign)+name+"  "+style.Render(state), width)
}

// about is what there is to know of the item under the cursor, behind an empty line.
func (m *Menu) about(width int) []string {
	if m.at >= len(m.items) {
		return nil
	}
	out := []string{""}
	if m.problem != "" {
		out = append(out, screen.Problem(m.Style, m.problem, width, 1)...)
	}
	for _, text := range m.items[m.at].About {
		out = append(out, screen.Wrap(screen.Clean(text), max(1, width))...)
	}
	if n := len(m.items); n > 1 {
		rule := fmt.Sprintf("%s %d of %d", strings.Repeat("─", max(1, width-9)), m.at+1, n)
		out[0] = m.Style.Faint.Render(screen.Cut(rule, width))
	}
	return out
}
