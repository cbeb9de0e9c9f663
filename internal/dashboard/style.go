package dashboard

import (
	"charm.land/lipgloss/v2"
)

// style is how things look. Only the sixteen colours that a terminal has by itself are used: the person chose
// those, for light or dark. Without colour, bold, underline and reverse are left, and every mark is a letter of
// its own.
type style struct {
	title, faint, bold, chosen, bar      lipgloss.Style
	good, bad, warn, info, added, header lipgloss.Style
	key, closedKey, code                 lipgloss.Style
}

func newStyle() style {
	plain := lipgloss.NewStyle()
	colour := func(number string) lipgloss.Style { return plain.Foreground(lipgloss.Color(number)) }
	return style{
		title: plain.Bold(true), bold: plain.Bold(true), faint: plain.Faint(true), chosen: plain.Reverse(true),
		bar:  plain.Reverse(true),
		good: colour("2"), bad: colour("1").Bold(true), warn: colour("3"), info: colour("6"), added: colour("2"),
		header: colour("4").Bold(true),
		key:    colour("6").Bold(true), closedKey: plain.Faint(true), code: colour("5"),
	}
}
