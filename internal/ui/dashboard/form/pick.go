package form

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// pick is one of several options. The person chooses with the arrows or by the first letter.
type pick struct {
	options []option
	at      int
	touched bool // the person chose it
}

type option struct{ value, label string }

// chosen is the present option; empty where there is none.
func (p pick) chosen() option {
	if p.at >= len(p.options) {
		return option{}
	}
	return p.options[p.at]
}

func (p pick) value() string { return p.chosen().value }

// with chooses a value. A value that is not among the options changes nothing.
func (p pick) with(value string) pick {
	if at := slices.IndexFunc(p.options, func(o option) bool { return o.value == value }); at >= 0 {
		p.at = at
	}
	return p
}

// offer replaces the options. The value stays where it is among them; otherwise it is the first one.
func (p pick) offer(options []option) pick {
	value := p.value()
	p.options, p.at = options, 0
	return p.with(value)
}

func (p pick) update(msg tea.Msg) pick {
	k, pressed := msg.(tea.KeyPressMsg)
	if !pressed || len(p.options) == 0 {
		return p
	}
	n := len(p.options)
	switch name := k.String(); name {
	case "right", "space":
		p.at, p.touched = (p.at+1)%n, true
	case "left":
		p.at, p.touched = (p.at+n-1)%n, true
	default:
		letter := []rune(k.Text)
		for step := 1; step <= n && len(letter) == 1; step++ {
			at := (p.at + step) % n
			first := []rune(strings.TrimLeft(p.options[at].label, "("))
			if len(first) > 0 && unicode.ToLower(first[0]) == unicode.ToLower(letter[0]) {
				p.at, p.touched = at, true
				break
			}
		}
	}
	return p
}
