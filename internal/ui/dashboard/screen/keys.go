package screen

import (
	"cmp"
	"slices"
)

// KeyTable has the keys of the actions, by the names of these, as Bubble Tea names them. Every text that names the key
// of an action takes it from here: a person may have given the action another one.
type KeyTable map[string][]string

// Of is the first key of an action, as the screen shows it.
func (k KeyTable) Of(action string) string {
	if names := k[action]; len(names) > 0 {
		return KeyName(names[0])
	}
	return action
}

// Has reports whether a key that was pressed is one of an action.
func (k KeyTable) Has(action, pressed string) bool { return slices.Contains(k[action], pressed) }

// KeyName is a key as the screen shows it.
func KeyName(name string) string {
	signs := map[string]string{"enter": "Enter", "esc": "Esc", "tab": "Tab", "space": "Space", "up": "↑", "down": "↓",
		"left": "←", "right": "→"}
	return cmp.Or(signs[name], name)
}
