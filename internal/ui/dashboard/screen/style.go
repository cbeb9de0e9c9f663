// Package screen has what every part of the dashboard draws with: styles, functions that make untrusted text safe to
// print, and functions that cut, wrap, frame and scroll text.
package screen

import (
	"charm.land/lipgloss/v2"

	"orange/internal/rules/printable"
)

// Style has the styles of the screen, and the keys that its texts name. It uses only the sixteen colours of the
// terminal's own palette, which the person chose for a light or a dark background. Without colour, bold, underline and
// reverse remain, and every mark has a letter of its own.
type Style struct {
	Plain, Title, Faint, Bold, Chosen    lipgloss.Style
	Good, Bad, Warn, Info, Added, Header lipgloss.Style
	Key, ClosedKey, Code                 lipgloss.Style
	Removed                              lipgloss.Style
	Keyword, String, Number, Comment     lipgloss.Style // in code

	Keys  KeyTable
	Links bool // the terminal shows links
}

// Link has the terminal lead from a text to an address from outside, where it shows links.
func (s *Style) Link(text, address string) string {
	if !s.Links {
		return text
	}
	return printable.Link(text, address)
}

// NewStyle makes the styles.
func NewStyle() *Style {
	plain := lipgloss.NewStyle()
	colour := func(number string) lipgloss.Style { return plain.Foreground(lipgloss.Color(number)) }
	return &Style{
		Plain: plain, Title: plain.Bold(true), Bold: plain.Bold(true),
		Faint: plain.Faint(true), Chosen: plain.Reverse(true),
		Good: colour("2"), Bad: colour("1").Bold(true), Warn: colour("3"), Info: colour("6"), Added: colour("2"),
		Header: colour("4").Bold(true),
		Key:    colour("6").Bold(true), ClosedKey: plain.Faint(true), Code: colour("5"),
		Removed: colour("1"), Keyword: colour("4"), String: colour("3"), Number: colour("5"), Comment: colour("6"),
		Keys: KeyTable{},
	}
}
