// Package settings reads which keys and colours a person wants in the dashboard.
//
// It owns what config.yml may say below keys: and theme:, and finds every mistake in it with its place. It does not own
// the actions and their usual keys: the dashboard hands them in.
package settings

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orange/internal/rules/yaml"
	"orange/internal/ui/dashboard/screen"
)

// Action is something that a key does.
type Action struct {
	Name   string
	Keys   []string // its usual keys
	Places []string // where they work
}

// Settings is what a person wants.
type Settings struct {
	Keys  map[string][]string // by the name of the action; what is not there has its usual keys
	Theme screen.Theme
}

// Reserved are keys that no one can lose: help, quit, back. They keep their meaning, and no other action gets them.
func Reserved() []string { return []string{"?", "q", "ctrl+c", "esc"} }

// Parse reads the settings from the text of config.yml. Other keys of the file are not looked at. The error is a
// yaml.Problems; the settings are those that a file without any has then.
func Parse(file string, text []byte, actions []Action) (Settings, error) {
	p := parser{reader: yaml.Reader{File: file}, actions: actions, bound: map[string]binding{},
		out: Settings{Keys: map[string][]string{}, Theme: screen.Theme{}}}
	if strings.TrimSpace(string(text)) == "" {
		return p.out, nil
	}
	if root := p.reader.Document(text); root != nil {
		p.reader.Pairs(root, "the configuration", func(name, value *yaml.Node) {
			switch name.Value {
			case "keys":
				p.reader.Pairs(value, "keys", p.key)
			case "theme":
				p.reader.Pairs(value, "theme", p.style)
			}
		})
		p.findDoubled()
	}
	if err := p.reader.Err(); err != nil {
		return Settings{}, err
	}
	return p.out, nil
}

type parser struct {
	reader  yaml.Reader
	actions []Action
	bound   map[string]binding // by the name of the action
	order   []string           // the actions of the file, in its order
	out     Settings
}

// binding is the keys of an action, with where the file has each.
type binding struct {
	keys []string
	at   []yaml.Pos
}

func (p *parser) key(name, value *yaml.Node) {
	r := &p.reader
	at := slices.IndexFunc(p.actions, func(a Action) bool { return a.Name == name.Value })
	if at < 0 {
		names := make([]string, len(p.actions))
		for i, a := range p.actions {
			names[i] = a.Name
		}
		r.Problem(yaml.PosOf(name), "unknown-key",
			"found the unknown action %q in keys, expected one of docs/keys.md%s", name.Value,
			yaml.Guess(name.Value, names))
		return
	}
	for _, own := range p.actions[at].Keys {
		if slices.Contains(Reserved(), own) {
			r.Problem(yaml.PosOf(name), "reserved", "found the action %q in keys, expected another: its key %q "+
				"stays, so that it can always be found", name.Value, own)
			return
		}
	}
	var b binding
	r.OneOrMore(value, "the key of "+name.Value, func(n *yaml.Node) {
		found := r.Name(n, "the key of "+name.Value)
		if found == "" {
			return
		}
		if why := wrongKey(found); why != "" {
			r.Problem(yaml.PosOf(n), "key", "found the key %q for %q, expected another: %s", found, name.Value, why)
			return
		}
		if slices.Contains(b.keys, found) {
			r.Problem(yaml.PosOf(n), "duplicate", "found the key %q twice for %q, expected it once", found, name.Value)
			return
		}
		b.keys, b.at = append(b.keys, found), append(b.at, yaml.PosOf(n))
	})
	if len(b.keys) == 0 {
		if r.Err() == nil {
			r.Problem(yaml.PosOf(value), "value", "found no key for %q, expected one", name.Value)
		}
		return
	}
	p.bound[name.Value], p.out.Keys[name.Value] = b, b.keys
	p.order = append(p.order, name.Value)
}

// findDoubled reports each key that two actions have in one place.
func (p *parser) findDoubled() {
	for i, name := range p.order {
		mine := p.action(name)
		for j, key := range p.bound[name].keys {
			for _, other := range p.actions {
				earlier := slices.Index(p.order, other.Name)
				if other.Name == name || earlier > i || !slices.Contains(p.keysOf(other), key) ||
					!slices.ContainsFunc(other.Places, func(place string) bool {
						return slices.Contains(mine.Places, place)
					}) {
					continue
				}
				p.reader.Problem(p.bound[name].at[j], "doubled",
					"found the key %q for %q, expected another: %q has it; give that one another key too", key, name,
					other.Name)
			}
		}
	}
}

func (p *parser) action(name string) Action {
	return p.actions[slices.IndexFunc(p.actions, func(a Action) bool { return a.Name == name })]
}

// keysOf are the keys that an action has with the file.
func (p *parser) keysOf(a Action) []string {
	if b, is := p.bound[a.Name]; is {
		return b.keys
	}
	return a.Keys
}

func (p *parser) style(name, value *yaml.Node) {
	r := &p.reader
	if names := screen.ThemeNames(); !slices.Contains(names, name.Value) {
		r.Problem(yaml.PosOf(name), "unknown-key", "found the unknown colour %q in theme, %s", name.Value,
			yaml.Expected(name.Value, names))
		return
	}
	text := r.Name(value, "the colour "+name.Value)
	style, wrong := screen.ParseStyle(text)
	if wrong != "" {
		words := screen.StyleWords()
		r.Problem(yaml.PosOf(value), "colour", "found %q in the colour %q, expected a number to 255, #rrggbb, \"on\" "+
			"before a background, or one of %s%s", wrong, name.Value, strings.Join(words, ", "),
			yaml.Guess(wrong, words))
		return
	}
	p.out.Theme[name.Value] = style
}

// NamedKeys are the keys that have names instead of letters or signs.
func NamedKeys() []string {
	out := []string{"enter", "tab", "space", "backspace", "delete", "insert", "up", "down", "left", "right", "home",
		"end", "pgup", "pgdown"}
	for n := 1; n <= 12; n++ {
		out = append(out, fmt.Sprintf("f%d", n))
	}
	return out
}

// wrongKey is why something is no key that an action can have; empty where it is one.
func wrongKey(key string) string {
	if slices.Contains(Reserved(), key) || strings.HasSuffix(key, "+esc") {
		return "it is reserved, so that no one loses help, quit and back"
	}
	same := map[string]string{"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "esc", " ": "space"}
	if other := same[key]; other != "" {
		return fmt.Sprintf("a terminal sends it as %q", other)
	}
	rest, modified := key, []string(nil)
	for _, modifier := range []string{"ctrl+", "alt+", "shift+"} {
		if after, has := strings.CutPrefix(rest, modifier); has && after != "" {
			rest, modified = after, append(modified, modifier)
		}
	}
	letter, size := utf8.DecodeRuneInString(rest)
	switch {
	case slices.Contains(NamedKeys(), rest):
		return ""
	case size != len(rest) || !unicode.IsGraphic(letter) || unicode.IsSpace(letter):
		return "it is none that Orange knows: write a letter or sign, or one of " +
			strings.Join(NamedKeys(), ", ") + ", after ctrl+, alt+ or shift+ where you want" +
			yaml.Guess(rest, NamedKeys())
	case slices.Contains(modified, "shift+"):
		return "a letter with Shift is written as what it types, such as A"
	case slices.Contains(modified, "ctrl+") && (letter < 'a' || letter > 'z'):
		return "a terminal sends Ctrl with the letters a to z alone"
	}
	return ""
}
