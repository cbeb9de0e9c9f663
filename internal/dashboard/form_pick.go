package dashboard

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// pick is one of several things, chosen with the arrows or by its first letter.
type pick struct {
	options []option
	at      int
	touched bool // the person chose it
}

type option struct{ value, label string }

func (p pick) value() string {
	if p.at >= len(p.options) {
		return ""
	}
	return p.options[p.at].value
}

func (p pick) label() string {
	if p.at >= len(p.options) {
		return ""
	}
	return p.options[p.at].label
}

// with puts the pick on a value. One that is not among the options leaves it where it was.
func (p pick) with(value string) pick {
	for i, o := range p.options {
		if o.value == value {
			p.at = i
		}
	}
	return p
}

// offer is the pick with other options. It stays on its value where it can, else it goes to the first.
func (p pick) offer(options []option) pick {
	value := p.value()
	p.options, p.at = options, 0
	return p.with(value)
}

// update is the pick after a key.
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
