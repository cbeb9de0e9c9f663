package main

import (
	"fmt"
	"html"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Sizes of the picture, in its own units.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 12
)

// Colours of a terminal that has its own for nothing.
const (
	paper = "#1b1d23"
	ink   = "#c8ccd4"
)

func sixteen() [16]string {
	return [16]string{
		"#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
		"#5c6370", "#ef8a92", "#b5d99c", "#f0d399", "#8cc7ff", "#d8a0ea", "#7fd1da", "#ffffff",
	}
}

// svg draws a screen, as its escape codes tell it, as a picture.
func svg(screen string, columns, rows int) string {
	width, height := float64(columns)*cellWidth+2*margin, rows*cellHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+
		"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	b.WriteString(
		`<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" ` +
			`xml:space="preserve" style="white-space:pre">` + "\n")
	cells := uv.NewScreenBuffer(columns, rows)
	uv.NewStyledString(screen).Draw(cells, cells.Bounds())
	for y, line := range cells.Lines {
		drawLine(&b, line, y)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// drawLine draws cells that look alike as one piece.
func drawLine(b *strings.Builder, line uv.Line, y int) {
	for x := 0; x < len(line); {
		style := line[x].Style
		var text strings.Builder
		end := x
		for end < len(line) && line[end].Style.Equal(&style) {
			text.WriteString(line[end].Content)
			end += max(1, line[end].Width)
		}
		drawPiece(b, style, text.String(), x, end-x, y)
		x = end
	}
}

func drawPiece(b *strings.Builder, style uv.Style, text string, x, cells, y int) {
	fore, back := paint(style.Fg, ink), paint(style.Bg, "")
	if style.Attrs&uv.AttrReverse != 0 {
		if back == "" {
			back = paper
		}
		fore, back = back, fore
	}
	left, top := margin+float64(x)*cellWidth, margin+y*cellHeight
	if back != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, left, top,
			float64(cells)*cellWidth, cellHeight, back)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	more := ""
	if style.Attrs&uv.AttrBold != 0 {
		more += ` font-weight="bold"`
	}
	if style.Attrs&uv.AttrFaint != 0 {
		more += ` opacity="0.6"`
	}
	if style.Attrs&uv.AttrStrikethrough != 0 {
		more += ` text-decoration="line-through"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" fill="%s" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n",
		left, top+13, fore, float64(cells)*cellWidth, more, html.EscapeString(text))
}

// paint is a colour as the picture has it; the other one where there is none.
func paint(c color.Color, other string) string {
	switch c := c.(type) {
	case nil:
		return other
	case ansi.BasicColor:
		return sixteen()[c&15]
	}
	r, g, bl, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, bl>>8)
}
