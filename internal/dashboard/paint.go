package dashboard

import (
	"bytes"
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// painter draws what changed, as soon as it changed.
//
// Bubble Tea has a painter of its own, which looks at fixed beats whether there is something to draw: enough of
// them for a key to be seen at once would take more than a hundredth of a processor all day. It goes on reading
// keys, sizes and signals, and what it draws is dropped.
type painter struct {
	out    io.Writer
	env    []string
	buffer bytes.Buffer // of what the renderer wants written
	render *uv.TerminalRenderer
	cells  uv.ScreenBuffer
	width  int
	height int

	on     bool // the screen is ours
	drawn  string
	cursor *tea.Cursor
}

func newPainter(out io.Writer, env []string) *painter {
	return &painter{out: out, env: env, cells: uv.NewScreenBuffer(0, 0)}
}

// begin takes the whole screen.
func (p *painter) begin() error {
	p.buffer.Reset()
	p.render = uv.NewTerminalRenderer(&p.buffer, p.env)
	p.render.SetColorProfile(colorprofile.Detect(p.out, p.env))
	p.render.SetTabStops(-1)
	p.render.SetScrollOptim(true)
	p.render.SetFullscreen(true)
	p.render.SetRelativeCursor(false)
	p.resize(p.width, p.height)
	p.on = true
	start := ansi.SetModeAltScreenSaveCursor + ansi.ResetModeTextCursorEnable + ansi.SetModeBracketedPaste +
		ansi.SetModifyOtherKeys2 + ansi.PushKittyKeyboard(ansi.KittyDisambiguateEscapeCodes) +
		ansi.SetWindowTitle("orange") +
		ansi.SetModeMouseButtonEvent + ansi.SetModeMouseExtSgr
	_, err := io.WriteString(p.out, start)
	return err
}

// end gives the screen back as it was. It may be called twice.
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

// resize is told of the screen's size; the next drawing is a whole one.
func (p *painter) resize(width, height int) {
	p.width, p.height, p.drawn, p.cursor = width, height, "", nil
	p.cells.Resize(width, height)
	if p.render != nil {
		p.render.Resize(width, height)
		p.render.Erase()
	}
}

// draw writes what is not on the screen yet.
func (p *painter) draw(v tea.View) error {
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
	// A terminal that knows how shows all of it at one stroke; another one does not heed the first and last word.
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

// copied is a text that goes to the person's clipboard.
type copied struct{ text string }

// copy asks the terminal to put a text into its clipboard, wherever that terminal is.
func (p *painter) copy(text string) {
	_, _ = io.WriteString(p.out, ansi.SetSystemClipboard(text)) // many terminals refuse, and none says so
}

func sameCursor(a, b *tea.Cursor) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.X == b.X && a.Y == b.Y
}

// host is care that gives the screen away while somebody else has the terminal.
type host struct {
	Care
	painter *painter
}

func (h host) away(do func() error) error {
	if err := h.painter.end(); err != nil {
		return err
	}
	err := do()
	return errors.Join(err, h.painter.begin())
}

// Attach gives the screen back until the person returns.
func (h host) Attach(ctx context.Context, id, role string) error {
	return h.away(func() error { return h.Care.Attach(ctx, id, role) })
}

// Edit does too.
func (h host) Edit(ctx context.Context, text string) (changed string, err error) {
	err = h.away(func() error {
		changed, err = h.Care.Edit(ctx, text)
		return err
	})
	return changed, err
}

// muted is a terminal that drops what is written to it, and is one in all else.
type muted struct{ terminal }

// terminal is what Bubble Tea wants of one.
type terminal interface {
	io.ReadWriteCloser
	Fd() uintptr
}

func (muted) Write(text []byte) (int, error) { return len(text), nil }
