package form

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"orange/internal/ui/dashboard/screen"
)

// line is a text of one line that the person writes.
type line struct{ input textinput.Model }

func newLine(text string) line {
	in := textinput.New()
	in.Prompt = ""
	in.SetVirtualCursor(false) // the terminal has one
	in.KeyMap.Paste.Unbind()   // it would ask other programs for the clipboard; terminals paste by themselves
	in.Focus()
	l := line{in}
	l.set(text)
	return l
}

func (l *line) set(text string) {
	l.input.SetValue(single(text))
	l.input.CursorEnd()
}

func (l line) text() string { return l.input.Value() }

func (l line) update(msg tea.Msg) line {
	switch typed := msg.(type) {
	case tea.KeyPressMsg:
		typed.Text = screen.Clean(typed.Text)
		last := utf8.RuneCountInString(l.text()) - 1
		if key.Matches(typed, l.input.KeyMap.DeleteWordForward) && l.input.Position() >= last {
			typed = tea.KeyPressMsg{Code: tea.KeyDelete} // of the last letter the input looks for the one behind it
		}
		msg = typed
	case tea.PasteMsg:
		typed.Content = single(typed.Content)
		msg = typed
	}
	l.input, _ = l.input.Update(msg)
	return l
}

// single makes one clean line of a text.
func single(text string) string {
	return screen.Clean(strings.Trim(newlines(text), "\n"))
}

// newlines makes all line ends the same: terminals paste "\r".
func newlines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// draw shows the part of the line around the cursor that fits, and the cell in it where the cursor is.
func (l line) draw(width int) (shown string, cursor int) {
	letters := []rune(l.text())
	before := ansi.StringWidth(string(letters[:min(l.input.Position(), len(letters))]))
	whole := ansi.StringWidth(string(letters)) + 1 // and the cursor behind it
	if whole <= width {
		return string(letters), before
	}
	from := max(0, min(before-width*2/3, whole-width))
	shown, skipped := window(string(letters), from, width)
	return shown, min(before-skipped, max(0, width-1))
}

// window is the part of a clean text that is in some cells, whole letters only, and how many cells come before it.
func window(text string, from, width int) (shown string, skipped int) {
	var b strings.Builder
	var state byte
	have := 0
	for len(text) > 0 {
		letter, cells, n, next := ansi.DecodeSequence(text, state, nil)
		if n == 0 {
			break
		}
		state, text = next, text[n:]
		switch {
		case b.Len() == 0 && skipped < from:
			skipped += cells
		case have+cells > width:
			return b.String(), skipped
		default:
			b.WriteString(letter)
			have += cells
		}
	}
	return b.String(), skipped
}
