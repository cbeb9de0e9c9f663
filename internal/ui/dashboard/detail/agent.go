package detail

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/ui/dashboard/screen"
)

// minPaneWidth is the least width of a terminal next to another one.
const minPaneWidth = 78

// paneLines draws the agents' terminals: next to each other where there is room, else one below the other, with only
// the last lines of each where not all fit.
func (r renderer) paneLines(panes []Pane) []string {
	if len(panes) == 0 {
		return []string{r.faint("no agent has a terminal now")}
	}
	n := len(panes)
	if each := (r.width - 3*(n-1)) / n; n > 1 && each >= minPaneWidth {
		return r.paneColumns(panes, each)
	}
	texts, needs := make([][]string, n), make([]int, n)
	for i, p := range panes {
		texts[i] = paneText(p, r.width)
		needs[i] = len(texts[i]) + 1
	}
	room := shares(needs, r.height-n+1) // one line between two
	var out []string
	for i, p := range panes {
		if i > 0 {
			out = append(out, "")
		}
		lines := texts[i]
		if most := room[i] - 1; n > 1 && len(lines) > most {
			lines = lines[len(lines)-most:]
		}
		out = append(append(out, r.paneTitle(p, r.width)), lines...)
	}
	return out
}

// shares divides lines among parts that need some: no part gets more than it needs, or less than two lines.
func shares(needs []int, lines int) []int {
	out := make([]int, len(needs))
	left := len(needs)
	for left > 0 {
		each, settled := max(2, lines/left), false
		for i, need := range needs {
			if out[i] == 0 && need <= each {
				out[i], settled = need, true
				lines -= need
				left--
			}
		}
		if settled {
			continue
		}
		for i := range needs {
			if out[i] == 0 {
				out[i] = each
			}
		}
		return out
	}
	return out
}

// paneColumns draws terminals next to each other, aligned at their last lines.
func (r renderer) paneColumns(panes []Pane, each int) []string {
	columns := make([][]string, len(panes))
	highest := 0
	for i, p := range panes {
		columns[i] = paneText(p, each)
		highest = max(highest, len(columns[i]))
	}
	out := make([]string, highest+1)
	for i, p := range panes {
		column := append(make([]string, highest-len(columns[i])), columns[i]...)
		for n, line := range append([]string{r.paneTitle(p, each)}, column...) {
			if i > 0 {
				out[n] += " " + r.faint("│") + " "
			}
			if i < len(panes)-1 {
				line = screen.Fit(line, each)
			}
			out[n] += line
		}
	}
	return out
}

func (r renderer) paneTitle(p Pane, width int) string {
	name := screen.CleanRaw(p.Role)
	if name == "" {
		name = "agent"
	}
	title := r.style.Header.Render(name)
	if p.Title != "" && p.Title != p.Role {
		title += r.faint("  " + screen.CleanRaw(p.Title))
	}
	if p.Dead {
		title += "  " + r.style.Bad.Render("✗ dead")
	}
	return screen.Cut(title, width)
}

const resetColour = "\x1b[0m"

// paneText is the text of a terminal. There a colour continues on the next lines until another one is set; here every
// line sets its own colours, and resets them.
func paneText(p Pane, width int) []string {
	content := paneContent(p)
	out := make([]string, 0, len(content))
	var carried []string
	add := func(line string) {
		begun := strings.Join(carried, "")
		carried = carry(carried, line)
		painted := begun != "" || strings.Contains(line, "\x1b")
		line = screen.Cut(begun+line, width)
		if painted {
			line += resetColour
		}
		out = append(out, line)
	}
	for _, line := range content {
		line = screen.KeepColours(strings.ToValidUTF8(line, "\uFFFD"))
		if !p.Dead {
			add(line) // a program draws its screen for a width
			continue
		}
		for _, part := range screen.Wrap(line, width) { // what one said last is read whole
			add(part)
		}
	}
	return out
}

// paneContent has the lines of a terminal up to the last one that is not blank, without the line that tmux writes at
// the bottom of a dead one: the title says that.
func paneContent(p Pane) []string {
	lines := p.Lines
	blank := func(line string) bool { return strings.TrimSpace(ansi.Strip(line)) == "" }
	trim := func() {
		for len(lines) > 0 && blank(lines[len(lines)-1]) {
			lines = lines[:len(lines)-1]
		}
	}
	trim()
	if last := len(lines) - 1; p.Dead && last >= 0 && strings.HasPrefix(ansi.Strip(lines[last]), "Pane is dead") {
		lines = lines[:last]
		trim()
	}
	return lines
}

// maxCarried limits the colours that a terminal sets one after another without a reset.
const maxCarried = 32

// carry has the sequences of the colours that continue after a line.
func carry(before []string, line string) []string {
	sequences := before
	var state byte
	for len(line) > 0 {
		sequence, width, n, next := ansi.DecodeSequence(line, state, nil)
		if n == 0 {
			break
		}
		state, line = next, line[n:]
		if width > 0 || !screen.IsColour(sequence) {
			continue
		}
		if first := sequence[2:]; strings.HasPrefix(first, "m") || strings.HasPrefix(first, "0m") ||
			strings.HasPrefix(first, "0;") || strings.HasPrefix(first, ";") {
			sequences = nil
			if strings.HasPrefix(first, "m") || strings.HasPrefix(first, "0m") {
				continue
			}
		}
		sequences = append(slices.DeleteFunc(sequences, func(one string) bool { return one == sequence }), sequence)
	}
	if len(sequences) > maxCarried {
		return nil // real output does not do that
	}
	return sequences
}
