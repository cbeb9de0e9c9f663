package dashboard

import (
	"bytes"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"orange/internal/ui/dashboard/elsewhere"
)

// painter draws changes of the screen at once.
//
// Bubble Tea has a renderer of its own, which checks at a fixed rate whether there is something to draw. A rate at
// which a key has an effect at once would use more than a hundredth of a processor all day. So Bubble Tea only reads
// keys, sizes and signals, and what it draws is dropped.
type painter struct {
	out    io.Writer
	env    []string
	buffer bytes.Buffer // what the renderer writes
	render *uv.TerminalRenderer
	cells  uv.ScreenBuffer
	width  int
	height int

	on     bool // the painter has the screen
	drawn  string
	cursor *tea.Cursor
	title  string // of the window
}

func newPainter(out io.Writer, env []string) *painter {
	return &painter{out: out, env: env, cells: uv.NewScreenBuffer(0, 0)}
}

// usualTitle is the window's title where nothing needs the person.
const usualTitle = "orange"

// begin takes the whole screen of the terminal.
func (p *painter) begin() error {
	p.buffer.Reset()
	p.render = uv.NewTerminalRenderer(&p.buffer, p.env)
	p.render.SetColorProfile(colorprofile.Detect(p.out, p.env))
	p.render.SetTabStops(-1)
	p.render.SetScrollOptim(true)
	p.render.SetFullscreen(true)
	p.render.SetRelativeCursor(false)
	p.resize(p.width, p.height)
	p.on, p.title = true, usualTitle
	start := ansi.SetModeAltScreenSaveCursor + ansi.ResetModeTextCursorEnable + ansi.SetModeBracketedPaste +
		ansi.SetModifyOtherKeys2 + ansi.PushKittyKeyboard(ansi.KittyDisambiguateEscapeCodes) +
		ansi.SetWindowTitle(usualTitle) +
		ansi.SetModeMouseButtonEvent + ansi.SetModeMouseExtSgr
	_, err := io.WriteString(p.out, start)
	return err
}

// end restores the terminal. It may be called twice.
func (p *painter) end() error {
	if !p.on {
		return nil
	}
	p.on = false
	_, err := io.WriteString(p.out, ansi.ResetModeMouseButtonEvent+ansi.ResetModeMouseExtSgr+
		ansi.ResetModifyOtherKeys+ansi.PopKittyKeyboard(1)+
		ansi.ResetModeBracketedPaste+ansi.ResetModeAltScreenSaveCursor+ansi.SetModeTextCursorEnable+
		ansi.SetWindowTitle(""))
	return err
}

// resize takes the size of the screen. The next draw draws all of it.
func (p *painter) resize(width, height int) {
	p.width, p.height, p.drawn, p.cursor = width, height, "", nil
	p.cells.Resize(width, height)
	if p.render != nil {
		p.render.Resize(width, height)
		p.render.Erase()
	}
}

// draw writes what changed.
func (p *painter) draw(v tea.View) error {
	if p.on && v.WindowTitle != p.title {
		p.title = v.WindowTitle
		if _, err := io.WriteString(p.out, ansi.SetWindowTitle(p.title)); err != nil {
			return err
		}
	}
	if !p.on || p.width == 0 || v.Content == p.drawn && sameCursor(v.Cursor, p.cursor) {
		return nil
	}
	p.cells.Clear()
	uv.NewStyledString(v.Content).Draw(p.cells, p.cells.Bounds())
	p.render.Render(p.cells.RenderBuffer)
	if v.Cursor != nil {
		p.render.MoveTo(v.Cursor.X, v.Cursor.Y)
	}
	if err := p.render.Flush(); err != nil {
		return err
	}
	// Terminals with synchronized output show the frame at once; others ignore the first and last sequence.
	var frame bytes.Buffer
	frame.WriteString(ansi.SetModeSynchronizedOutput + ansi.ResetModeTextCursorEnable)
	frame.Write(p.buffer.Bytes())
	p.buffer.Reset()
	if v.Cursor != nil {
		frame.WriteString(ansi.SetModeTextCursorEnable)
	}
	frame.WriteString(ansi.ResetModeSynchronizedOutput)
	p.drawn, p.cursor = v.Content, v.Cursor
	_, err := p.out.Write(frame.Bytes())
	return err
}

// copied is a text for the person's clipboard.
type copied struct{ text string }

// copy asks the terminal to put a text into its clipboard, which works over ssh too.
func (p *painter) copy(text string) {
	_, _ = io.WriteString(p.out, ansi.SetSystemClipboard(text)) // many terminals refuse, and none reports it
}

// tell rings the bell, and has the terminal show a notification, as the person wants it.
func (p *painter) tell(news told) {
	text := ""
	if news.signals.Bell {
		text = "\a"
	}
	if news.signals.Notification {
		text += elsewhere.Notification(p.env, news.text)
	}
	if p.on && text != "" {
		_, _ = io.WriteString(p.out, text) // no terminal reports whether it did
	}
}

func sameCursor(a, b *tea.Cursor) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.X == b.X && a.Y == b.Y
}
