package form

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/screen"
)

// TextPrompt asks for a text. Set its exported fields, and call Open.
type TextPrompt struct {
	Style       *screen.Style
	Title, Text string
	Needed      bool // an empty text is refused
	Long        bool // the text has several lines
	// Under is the line of the body below which a short text is written, in the place of two lines; nil for a box over
	// the middle.
	Under func(size screen.Size) int
	// About draws what a long text is about, above the prompt; nil for nothing.
	About func(size screen.Size) []string
	What  string
	Work  func(ctx context.Context, text string) (string, error)
	Edit  func(text string) tea.Cmd // opens the person's editor, and answers Edited
	Many  bool                      // it is about all tasks that the person marked
	Draft string                    // what the text begins with; to leave it as it is loses nothing
	// Awaits reports whether a Drafted comes: until then the text is not sent, or the draft would be lost.
	Awaits bool

	line    line
	area    textarea.Model
	large   string // a text that is too large for the area: only the editor changes it
	problem string
	leaving bool   // Escape was pressed once
	early   bool   // the person sent the text before the draft was there: it is sent with that
	begun   string // the draft as it was put into the text
	width   int
	drawn   []string // the area, drawn once: that takes longer the longer the text is
}

// What fits into the area: it draws all of its text with every key.
const (
	areaBytes = 8 << 10
	areaLines = 200
)

// InPlace is how many lines a prompt takes that is written below a line of the body.
const InPlace = 2

// Open makes the prompt ready. unsent is a text that was sent before and did not arrive.
func (p *TextPrompt) Open(unsent string, size screen.Size) {
	p.line, p.area = newLine(""), newArea()
	if unsent != "" {
		p.problem = "This was not sent the last time."
		p.set(unsent)
	} else if p.Draft != "" {
		p.draft(p.Draft)
	}
	p.fit(size)
}

// Drafted is a draft for a prompt that is open already, which What names. It comes too late where the person has
// begun to write.
type Drafted struct {
	What, Text string
	Err        error // why there is none
}

func (p *TextPrompt) draft(text string) {
	if strings.TrimSpace(p.value()) == "" {
		p.set(text)
		p.begun = p.value()
	}
}

func newArea() textarea.Model {
	a := textarea.New()
	a.Prompt, a.ShowLineNumbers, a.EndOfBufferCharacter = "", false, ' '
	a.MaxHeight, a.MaxWidth = 0, 0 // as many lines as there are
	a.SetVirtualCursor(false)
	a.SetStyles(textarea.Styles{})
	a.KeyMap.Paste.Unbind()
	a.KeyMap.InsertNewline.SetKeys("enter", "shift+enter", "alt+enter", "ctrl+j")
	a.Focus()
	return a
}

func (p *TextPrompt) value() string {
	switch {
	case p.large != "":
		return p.large
	case p.Long:
		return p.area.Value()
	}
	return p.line.text()
}

func (p *TextPrompt) set(text string) {
	p.large = ""
	switch text = newlines(text); {
	case !p.Long:
		p.line.set(text)
	case len(text) > areaBytes || strings.Count(text, "\n") > areaLines:
		p.large = text
		p.area.Reset()
	default:
		p.area.SetValue(strings.Join(screen.CleanLines(strings.TrimRight(text, "\n")), "\n"))
	}
}

// Update takes a key, a paste, or the text of the editor.
func (p *TextPrompt) Update(msg tea.Msg, size screen.Size) Response {
	defer p.fit(size)
	k, pressed := msg.(tea.KeyPressMsg)
	if edited, is := msg.(Edited); is {
		p.edited(edited)
		return Response{}
	}
	if drafted, is := msg.(Drafted); is {
		return p.drafted(drafted)
	}
	if pressed && k.String() == "esc" {
		if p.leaving || !p.Unsent() {
			return Response{Close: true}
		}
		p.leaving = true
		return Response{}
	}
	if pressed {
		p.leaving, p.early = false, false
		switch name := k.String(); {
		case name == "ctrl+s", name == "ctrl+enter", name == "enter" && !p.Long:
			return p.send()
		case name == "ctrl+e" && p.Long:
			return Response{Cmd: p.Edit(p.value())}
		}
	}
	p.take(msg)
	return Response{}
}

// drafted takes the draft, and sends the text where the person wanted that before.
func (p *TextPrompt) drafted(msg Drafted) Response {
	if msg.What != p.What {
		return Response{}
	}
	early := p.early
	p.Awaits, p.early = false, false
	if msg.Err != nil {
		p.problem = msg.Err.Error()
		return Response{}
	}
	p.draft(msg.Text)
	if early {
		return p.send()
	}
	return Response{}
}

// take puts what is typed or pasted into the text.
func (p *TextPrompt) take(msg tea.Msg) {
	before := p.value()
	typed, pressed := msg.(tea.KeyPressMsg)
	pasted, isPaste := msg.(tea.PasteMsg)
	switch {
	case p.large != "":
		if pressed && typed.String() == "ctrl+u" {
			p.large = ""
		}
	case !p.Long:
		p.line = p.line.update(msg)
	case isPaste:
		text := strings.Join(screen.CleanLines(newlines(pasted.Content)), "\n")
		if len(before)+len(text) > areaBytes || strings.Count(before+text, "\n") > areaLines {
			p.set(strings.TrimLeft(before+"\n"+text, "\n"))
			break
		}
		p.area, _ = p.area.Update(tea.PasteMsg{Content: text})
	case pressed:
		typed.Text = screen.Clean(typed.Text)
		if key.Matches(typed, p.area.KeyMap.WordBackward) && p.blankBefore() {
			typed = tea.KeyPressMsg{Code: tea.KeyHome, Mod: tea.ModCtrl} // the area would look for a word without end
		}
		p.area, _ = p.area.Update(typed)
	}
	if p.value() != before {
		p.problem = ""
	}
}

// blankBefore reports whether nothing but blanks is before the cursor of the area.
func (p *TextPrompt) blankBefore() bool {
	lines := strings.Split(p.area.Value(), "\n")
	row := min(p.area.Line(), len(lines)-1)
	last := []rune(lines[row])
	before := strings.Join(lines[:row], "") + string(last[:min(p.area.Column(), len(last))])
	return strings.TrimSpace(before) == ""
}

func (p *TextPrompt) send() Response {
	text := strings.TrimSpace(p.value())
	if p.Needed && text == "" {
		p.problem = "This cannot be empty. Esc leaves it."
		return Response{}
	}
	if p.Awaits {
		p.early = true
		return Response{}
	}
	work := p.Work
	return Response{Close: true, Start: &Operation{What: p.What, Text: text, Many: p.Many,
		Work: func(ctx context.Context) (string, error) { return work(ctx, text) }}}
}

func (p *TextPrompt) edited(msg Edited) {
	p.problem = ""
	if msg.Err != nil {
		p.problem = msg.Err.Error()
	} else {
		p.set(msg.Text)
	}
}

// Unsent reports whether the person wrote anything.
func (p *TextPrompt) Unsent() bool { return strings.TrimSpace(p.value()) != "" && p.value() != p.begun }

// Keys are the keys of the prompt.
func (p *TextPrompt) Keys() []string {
	switch {
	case p.leaving:
		return keysToLeave()
	case !p.Long:
		return []string{"Enter", "send", "Esc", "leave it"}
	case p.large != "":
		return []string{"ctrl+s", "send", "ctrl+e", "your editor", "ctrl+u", "empty it", "Esc", "leave it"}
	}
	return []string{"ctrl+s", "send", "ctrl+e", "your editor", "Esc", "leave it", "Enter", "new line"}
}

// top has the lines above the text.
func (p *TextPrompt) top(width, height int) []string {
	out := []string{p.Style.Title.Render(screen.Cut(screen.Clean(p.Title), width))}
	about := screen.Wrap(screen.Clean(p.Text), max(1, width))
	if room := height - 4; p.Long && len(about) > max(0, room) {
		about = about[:max(0, room)]
	}
	for _, line := range about {
		out = append(out, p.Style.Faint.Render(line))
	}
	switch {
	case p.leaving:
		out = append(out, screen.Problem(p.Style, textToLeave, width, 2)...)
	case p.problem != "":
		out = append(out, screen.Problem(p.Style, p.problem, width, max(1, height-len(out)-2))...)
	}
	return out
}

// fit makes the area as large as the room below its words, and draws it.
func (p *TextPrompt) fit(size screen.Size) {
	p.width = max(1, size.Width-2)
	if !p.Long {
		return
	}
	height := size.Height - len(p.about(size))
	rows := max(1, height-len(p.top(p.width, height))-1)
	if p.area.Width() != p.width || p.area.Height() != rows {
		p.area.SetWidth(p.width)
		p.area.SetHeight(rows)
		p.area, _ = p.area.Update(nil) // makes its cursor visible again
	}
	p.drawn = strings.Split(p.area.View(), "\n")
}

// View draws a short text in a box over what is behind it, and a long one on the whole body.
func (p *TextPrompt) View(behind []string, size screen.Size) ([]string, *tea.Position) {
	if p.Long {
		return p.page(size)
	}
	if p.Under != nil {
		return p.inPlace(behind, size)
	}
	front, x, y := p.box(size.Width, size.Height)
	out, left, top := screen.Overlay(behind, front, size.Width, size.Height)
	return out, &tea.Position{X: left + x, Y: top + y}
}

// inPlace writes the prompt and its line between two lines of what is behind it.
func (p *TextPrompt) inPlace(behind []string, size screen.Size) ([]string, *tea.Position) {
	at := max(0, min(p.Under(size)+1, size.Height-InPlace))
	for len(behind) < at {
		behind = append(behind, "")
	}
	out := append(slices.Clone(behind[:at]), "", "")
	out = screen.Clip(append(out, behind[at:]...), size.Width, size.Height)
	title := p.Style.Key.Render(screen.Clean(p.Title))
	if hint := "  " + screen.Clean(p.Text); screen.Width(title)+screen.Width(hint) <= size.Width {
		title += p.Style.Faint.Render(hint)
	}
	switch {
	case p.leaving:
		title = p.Style.Bad.Render(textToLeave)
	case p.problem != "":
		title = p.Style.Bad.Render(screen.Clean(p.problem))
	}
	shown, cursor := p.line.draw(max(1, size.Width-2))
	if at < len(out) {
		out[at] = screen.Cut(title, size.Width)
	}
	if at+1 < len(out) {
		out[at+1] = screen.Cut(p.Style.Key.Render("> ")+shown, size.Width)
	}
	return out, &tea.Position{X: min(2+cursor, size.Width-1), Y: min(at+1, size.Height-1)}
}

// box is the prompt and its line in a border where there is room for one, and the position of the cursor in it.
func (p *TextPrompt) box(width, height int) (lines []string, x, y int) {
	room := max(1, min(width-4, boxWidth))
	shown, cursor := p.line.draw(max(1, room-2))
	top := p.top(room, height)
	input := screen.Fit(p.Style.Key.Render("> ")+shown, room)
	if len(top)+4 <= height {
		return screen.Box(p.Style, append(top, "", input), width), 4 + cursor, len(top) + 2
	}
	top = top[:min(len(top), max(0, height-1))]
	return append(top, input), 2 + cursor, len(top)
}

// leastPage is the height of a page that has room for nothing above its words.
const leastPage = 8

// about has what the text is about, in less than half of the room, and a line below it.
func (p *TextPrompt) about(size screen.Size) []string {
	if p.About == nil || size.Height < leastPage {
		return nil
	}
	out := p.About(screen.Size{Width: size.Width, Height: size.Height/2 - 1})
	if len(out) == 0 {
		return nil
	}
	return append(out, p.rule(size.Width))
}

func (p *TextPrompt) rule(width int) string {
	return p.Style.Faint.Render(screen.Cut(" "+strings.Repeat("─", max(1, width-2)), width))
}

func (p *TextPrompt) page(size screen.Size) ([]string, *tea.Position) {
	width, height := size.Width, size.Height
	out := p.about(size)
	for _, line := range p.top(max(1, width-2), height-len(out)) {
		out = append(out, " "+line)
	}
	out = append(out, p.rule(width))
	if p.large != "" {
		first, _, _ := strings.Cut(strings.TrimLeft(p.large, "\n"), "\n")
		rest := fmt.Sprintf(" … %s: it is edited in your editor", length(p.large))
		out = append(out, " "+screen.Clean(first), p.Style.Faint.Render(rest))
		return screen.Clip(out, width, height), &tea.Position{
			X: min(screen.Width(rest), width-1), Y: len(out) - 1}
	}
	at := len(out)
	for _, line := range p.drawn {
		out = append(out, " "+line)
	}
	lines := screen.Clip(out, width, height)
	if c := p.area.Cursor(); c != nil {
		return lines, &tea.Position{X: min(c.X+1, width-1), Y: at + c.Y}
	}
	return lines, nil
}
