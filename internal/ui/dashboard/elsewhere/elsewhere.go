// Package elsewhere is what the dashboard does for a person who looks elsewhere: it tells of tasks that came to need
// them by the terminal's own means, and remembers how they left the screen.
//
// It owns which signals there are, when one is due and how it is written.
package elsewhere

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Keeper has what a person prefers, and keeps how they left the screen.
type Keeper interface {
	// Signals are those that the person wants.
	Signals() (bell, title, notification bool, err error)
	// LastView is how the screen of a project was left, in words; empty where that is unknown.
	LastView(project string) (words string, err error)
	KeepView(project, words string) error
}

// Signals are the ways to tell a person something.
type Signals struct{ Bell, Title, Notification bool }

// Read has what the Keeper has.
type Read struct {
	Signals Signals
	View    string
	Err     error
}

// Model knows which tasks the dashboard told the person of.
type Model struct {
	Signals Signals
	Environ []string // of the terminal
	begun   time.Time
	told    map[string]bool // by task
	view    keptView
}

// keptView is how the screen is to be kept. Commands that keep it may run in any order: each keeps the latest words.
type keptView struct {
	mu      sync.Mutex
	words   string // empty before the kept ones were read
	dirty   bool   // they are not kept yet
	writing sync.Mutex
}

// New begins at a time: what needed the person before is no news.
func New(now time.Time) *Model { return &Model{begun: now, told: map[string]bool{}} }

// Load reads what the Keeper has.
func Load(keeper Keeper, project string) tea.Cmd {
	return func() tea.Msg {
		var out Read
		var err error
		if out.View, out.Err = keeper.LastView(project); out.Err != nil {
			out.View = ""
		}
		out.Signals.Bell, out.Signals.Title, out.Signals.Notification, err = keeper.Signals()
		if out.Err == nil {
			out.Err = err
		}
		return out
	}
}

// SetKept takes the words of the view as it is kept.
func (m *Model) SetKept(words string) { m.view.words = words }

// Keep keeps the words of a view where they changed; failed makes a message of an error.
func (m *Model) Keep(keeper Keeper, project, words string, failed func(error) tea.Msg) tea.Cmd {
	m.view.mu.Lock()
	defer m.view.mu.Unlock()
	if m.view.words == "" || !m.view.dirty && m.view.words == words {
		return nil
	}
	m.view.words, m.view.dirty = words, true
	return func() tea.Msg {
		if err := m.Flush(keeper, project); err != nil {
			return failed(err)
		}
		return nil
	}
}

// Flush keeps the words that are not kept yet, and waits for those that are being kept: the screen may end before a
// command does.
func (m *Model) Flush(keeper Keeper, project string) error {
	m.view.writing.Lock()
	defer m.view.writing.Unlock()
	m.view.mu.Lock()
	words, dirty := m.view.words, m.view.dirty
	m.view.dirty = false
	m.view.mu.Unlock()
	if !dirty {
		return nil
	}
	return keeper.KeepView(project, words)
}

// patience is how long a need that follows from the task alone waits for the look at its agent, which has its words.
const patience = 10 * time.Second

// News are the words about the tasks that came to need the person since the last call; empty where none did. It
// has each task once, until the task needs no one any more.
func (m *Model) News(all []tasks.Row, project string, now time.Time) string {
	var news []string
	for i := range all {
		r := &all[i]
		need, needs := r.Need()
		switch known := m.told[r.Task.ID]; {
		case !needs:
			delete(m.told, r.Task.ID)
			continue
		case known || project != "" && r.Task.Project != project,
			r.Agent.Need.Kind == "" && now.Sub(need.Since) < patience:
			continue
		}
		m.told[r.Task.ID] = true
		if !need.Since.Before(m.begun) {
			news = append(news, tasks.Name(*r.Task)+": "+need.Reason)
		}
	}
	if len(news) == 0 {
		return ""
	}
	const most = 120
	text := screen.Cut(screen.CleanRaw(news[0]), most)
	if more := len(news) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Tell rings the bell, and has the terminal show a notification, as the person wants it. No terminal reports whether
// it did.
func (m *Model) Tell(news string) tea.Cmd {
	text := ""
	if m.Signals.Bell {
		text = "\a"
	}
	if m.Signals.Notification {
		text += Notification(m.Environ, news)
	}
	if text == "" {
		return nil
	}
	return tea.Raw(text)
}

// Title is the window's title where some tasks need the person.
func (m *Model) Title(needs int) string {
	const name = "orange"
	switch {
	case !m.Signals.Title || needs == 0:
		return name
	case needs == 1:
		return name + " · 1 needs you"
	}
	return fmt.Sprintf("%s · %d need you", name, needs)
}

// Notification is what makes a terminal with an environment show a text as a notification of the desktop; empty where
// the terminal is not known to do that. In tmux it is for the terminal around it, which gets it where tmux has
// "allow-passthrough on".
func Notification(environ []string, text string) string {
	get := func(name string) string {
		for _, one := range slices.Backward(environ) {
			if value, is := strings.CutPrefix(one, name+"="); is {
				return value
			}
		}
		return ""
	}
	text = screen.CleanRaw(text)
	plain := "\x1b]9;orange: " + text + "\x1b\\"
	if get("TMUX") != "" {
		return "\x1bPtmux;" + strings.ReplaceAll(plain, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	term := get("TERM")
	switch {
	case slices.Contains([]string{"iTerm.app", "WezTerm", "ghostty"}, get("TERM_PROGRAM")),
		get("LC_TERMINAL") == "iTerm2", strings.Contains(term, "kitty"), strings.Contains(term, "ghostty"):
		return plain
	case strings.HasPrefix(term, "foot"), strings.HasPrefix(term, "rxvt"), get("VTE_VERSION") != "":
		return "\x1b]777;notify;orange;" + text + "\x1b\\"
	}
	return ""
}
