package dashboard

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/palette"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/settings"
)

// actions are the names that config.yml has for what the keys do, by the group of a key and its usual name.
func actions() map[string]map[string]string {
	return map[string]map[string]string{
		groupMove: {"j": "down", "k": "up", "pgdown": "page-down", "pgup": "page-up", "J": "task-down", "K": "task-up",
			"g": "first", "G": "last", "l": "right", "h": "left", "esc": "back"},
		groupTask: {"enter": "start", "r": "request-changes", "m": "merge", "p": "pull-request", "M": "move",
			"S": "say", "o": "override", "x": "cancel", "d": "delete", "t": "retry", "y": "copy-id",
			"P": "open-pull-request", "Y": "copy-address"},
		groupView: {"v": "document", "tab": "next-part", "shift+tab": "previous-part", "1": "part-1", "2": "part-2",
			"3": "part-3", "4": "part-4", "5": "part-5", "6": "part-6", "0": "part-that-fits",
			"space": "split", "b": "board",
			"f": "filter", "/": "find", "n": "next-match", "N": "previous-match", "i": "inbox", "s": "sort",
			"*": "mark", "A": "mark-all", "a": "all-projects", "w": "workspaces", "enter": "holder"},
		groupReview: {"D": "review", "c": "comment", "V": "range", "d": "drop-comment", "enter": "open-file",
			"]": "next-hunk", "[": "previous-hunk", "}": "next-file", "{": "previous-file", ">": "next-remark",
			"<": "previous-remark", "/": "search", "n": "next-found", "N": "previous-found", "s": "since-review",
			"w": "wrap", "e": "editor", "P": "pager"},
		groupElse: {"c": "create", "R": "look-again", "!": "failures", ":": "actions", "/": "find-in-help", "?": "help",
			"q": "quit", "ctrl+c": "quit-at-once"},
	}
}

// settable are the actions with their usual keys, as config.yml may change them.
func (all keymap) settable() []settings.Action {
	out := make([]settings.Action, len(all))
	for i, k := range all {
		out[i] = settings.Action{Name: k.action, Keys: k.names}
		for _, p := range k.pages {
			out[i].Places = append(out[i].Places, p.String())
		}
	}
	return out
}

// prefer takes the keys and colours of config.yml. Where something in it is wrong, all stay as usual, and the screen
// says so until the person has read it.
func prefer(m *Model, read func() (path string, text []byte, err error)) {
	path, text, err := read()
	var wanted settings.Settings
	if err == nil {
		wanted, err = settings.Parse(path, text, m.keys.settable())
	}
	if err != nil {
		m.failures.add("use your keys and colours, so the usual ones are in use", err)
		return
	}
	for i, k := range m.keys {
		if names, changed := wanted.Keys[k.action]; changed {
			m.keys[i].names, m.style.Keys[k.action] = names, names
		}
	}
	m.style.Paint(wanted.Theme)
}

// named are the keys by the names of their actions, for the texts that name one.
func (all keymap) named() screen.KeyTable {
	out := screen.KeyTable{}
	for _, k := range all {
		out[k.action] = k.names
	}
	return out
}

// openPalette opens the list of all actions.
func openPalette(m *Model) tea.Cmd {
	here := m.page
	p := &palette.Model{Style: m.style}
	inOrder := slices.Clone(m.keys)
	slices.SortStableFunc(inOrder, func(a, b key) int {
		return cmp.Compare(slices.Index(groups(), a.group), slices.Index(groups(), b.group))
	})
	for _, k := range inOrder {
		one := palette.Entry{Name: k.action, Key: k.name(), Does: k.does, Group: k.group,
			Press: func() tea.Cmd { return perform(m, k) }}
		if one.Closed = fmt.Sprintf("it works in %s", k.pages[0]); k.works(here) {
			one.Closed = k.why(m)
		}
		if k.usual != ":" {
			p.All = append(p.All, one)
		}
	}
	m.openForm(p)
	return nil
}
