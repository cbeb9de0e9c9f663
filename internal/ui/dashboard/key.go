package dashboard

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/settings"
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
	label func() string
	pages []page // where it works
	group string // where the help has it
	place int    // among the keys of the foot, whose order is that of footOrder; those of no place come last
	// closed is why the key does nothing now; empty when it does something. nil is never closed.
	closed func() string
	press  func() tea.Cmd
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

// taskKey is a key for the selected task, or for all that are marked.
func taskKey(action, name, does, footer string, closed func() string, press func() tea.Cmd,
	many func(command.Commands, []command.Target) command.FirstStep) key {
	return key{action: action, names: []string{name}, does: does, footer: footer, pages: taskPages(), closed: closed,
		press: press, many: many}
}

// only is what a key does that nothing follows from.
func only(do func()) func() tea.Cmd {
	return func() tea.Cmd {
		do()
		return nil
	}
}

// either is the label of a key that depends on something.
func either(is func() bool, yes, no string) func() string {
	return func() string {
		if is() {
			return yes
		}
		return no
	}
}

// Pages on which keys work.
func taskPages() []page      { return []page{pageList, pageBoard, pageDetail} }
func overview() []page       { return []page{pageList, pageBoard} }
func scrollingPages() []page { return []page{pageDetail, pageReview, pageHelp, pageFailures} }

type keymap []key

// add adds the keys of a group.
func (all keymap) add(group string, keys []key) keymap {
	order := footOrder()
	for _, k := range keys {
		k.group, k.usual, k.place = group, k.names[0], len(order)
		if at := slices.Index(order, k.usual); at >= 0 {
			k.place = at
		}
		all = append(all, k)
	}
	return all
}

// named are the keys by the names of their actions, for the texts that name one.
func (all keymap) named() screen.KeyTable {
	out := screen.KeyTable{}
	for _, k := range all {
		out[k.action] = k.names
	}
	return out
}

// many are the names of the keys that act on all marked tasks.
func (all keymap) many() (names []string) {
	for _, k := range all {
		if k.many != nil {
			names = append(names, k.name())
		}
	}
	return names
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
