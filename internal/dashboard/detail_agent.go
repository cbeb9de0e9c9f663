package dashboard

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/dashboard/screen"
)

// besideWidth is the least width of a terminal that stands beside another one.
const besideWidth = 78

// paneLines draws the agents' terminals: beside each other where there is room, else one below the other, then only the
// last lines of each where all do not fit.
func (s sheet) paneLines(panes []Pane) []string {
	if len(panes) == 0 {
		return []string{s.faint("no agent has a terminal now")}
	}
	n := len(panes)
	if each := (s.width - 3*(n-1)) / n; n > 1 && each >= besideWidth {
		return s.beside(panes, each)
	}
	texts, needs := make([][]string, n), make([]int, n)
	for i, p := range panes {
		texts[i] = paneText(p, s.width)
		needs[i] = len(texts[i]) + 1
	}
	room := shares(needs, s.height-n+1) // one line between two
	var out []string
	for i, p := range panes {
		if i > 0 {
			out = append(out, "")
		}
		lines := texts[i]
		if most := room[i] - 1; n > 1 && len(lines) > most {
			lines = lines[len(lines)-most:]
		}
		out = append(append(out, s.paneTitle(p, s.width)), lines...)
	}
	return out
}

// shares divides lines among those that need some: nobody gets more than it needs, nor less than two lines.
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

// beside draws terminals next to each other, aligned at their ends, where the last words are.
func (s sheet) beside(panes []Pane, each int) []string {
	columns := make([][]string, len(panes))
	highest := 0
	for i, p := range panes {
		columns[i] = paneText(p, each)
		highest = max(highest, len(columns[i]))
	}
	out := make([]string, highest+1)
	for i, p := range panes {
		column := append(make([]string, highest-len(columns[i])), columns[i]...)
		for n, line := range append([]string{s.paneTitle(p, each)}, column...) {
			if i > 0 {
				out[n] += " " + s.faint("│") + " "
			}
			if i < len(panes)-1 {
				line = screen.Fit(line, each)
			}
			out[n] += line
		}
	}
	return out
}

func (s sheet) paneTitle(p Pane, width int) string {
	name := screen.CleanRaw(p.Role)
	if name == "" {
		name = "agent"
	}
	title := s.style.Header.Render(name)
	if p.Title != "" && p.Title != p.Role {
		title += s.faint("  " + screen.CleanRaw(p.Title))
	}
	if p.Dead {
		title += "  " + s.style.Bad.Render("✗ dead")
	}
	return screen.Cut(title, width)
}

const resetColour = "\x1b[0m"

// paneText is what stands in a terminal. A colour goes on from line to line there until another one is set;
// here every line has all of its own, and ends it.
func paneText(p Pane, width int) []string {
	said := lastSaid(p)
	out := make([]string, len(said))
	var carried []string
	for i, line := range said {
		line = screen.KeepColours(strings.ToValidUTF8(line, "\uFFFD"))
		begun := strings.Join(carried, "")
		carried = carry(carried, line)
		painted := begun != "" || strings.Contains(line, "\x1b")
		line = screen.Cut(begun+line, width)
		if painted {
			line += resetColour
		}
		out[i] = line
	}
	return out
}

// lastSaid is what stands in a terminal, down to the last line that says something. What tmux itself writes at
// the bottom of a dead one is left out: the title says that.
func lastSaid(p Pane) []string {
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

// mostCarried bounds the colours that are set one upon the other without any of them being taken back.
const mostCarried = 32

// carry is the colours that hold after a line.
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
	if len(sequences) > mostCarried {
		return nil // nobody's text looks like that
	}
	return sequences
}
