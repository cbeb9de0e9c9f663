package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// LineInput is a short text that the person types, such as what to search for.
type LineInput struct {
	Typing bool
	Text   string
}

// Type takes a key or a paste. Enter keeps the text and Escape takes it away; both end the typing.
func (f *LineInput) Type(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		f.Text += Clean(strings.TrimSpace(msg.Content))
	case tea.KeyPressMsg:
		switch msg.String() {
		case "enter":
			f.Typing = false
		case "esc":
			*f = LineInput{}
		case "backspace":
			letters := []rune(f.Text)
			f.Text = string(letters[:max(0, len(letters)-1)])
		case "ctrl+u":
			f.Text = ""
		default:
			f.Text += Clean(msg.Text)
		}
	}
}
