package dashboard

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"orange/internal/dashboard/screen"
)

// diffLines draws what git says of a change: the files first, then every line by its kind.
func (s sheet) diffLines(diff string, live bool) []string {
	if strings.TrimSpace(diff) == "" {
		if live {
			return []string{s.faint("nothing is changed yet")}
		}
		return []string{s.faint("nothing that the default branch does not have")}
	}
	var out []string
	var at hunk
	started := false // the lines begin after the list of files
	for _, line := range strings.Split(strings.TrimRight(diff, "\n"), "\n") {
		line = screen.CleanRaw(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
		if started = started || strings.HasPrefix(line, "diff --"); !started {
			out = append(out, s.statLine(line))
			continue
		}
		look := at.look(s.style, line)
		for _, piece := range screen.Break(line, s.width) {
			out = append(out, screen.Raw(look, piece).Render())
		}
	}
	return out
}

// statLine is one line of the list of files: " name | 3 ++-".
func (s sheet) statLine(line string) string {
	bar := strings.LastIndex(line, "|")
	switch {
	case strings.HasPrefix(line, " new, not added: "):
		return screen.Cut(screen.Raw(&s.style.Added, line).Render(), s.width)
	case bar < 0:
		return screen.Cut(screen.Raw(&s.style.Faint, line).Render(), s.width)
	}
	graph := strings.TrimLeft(line[bar:], "| 0123456789")
	if strings.Trim(graph, "+-") != "" {
		return screen.Cut(line, s.width) // a binary file
	}
	plus := strings.Count(graph, "+")
	return screen.Cut(line[:len(line)-len(graph)]+screen.Raw(&s.style.Added,
		graph[:plus]).Render()+screen.Raw(&s.style.Bad,
		graph[plus:]).Render(), s.width)
}

// hunk counts the lines that a part of a diff still has, so that a removed line of dashes is not taken for the
// name of a file.
type hunk struct{ old, new int }

func (h *hunk) look(s *screen.Style, line string) *lipgloss.Style {
	if h.old <= 0 && h.new <= 0 || line != "" && !strings.ContainsRune(` +-\`, rune(line[0])) {
		h.old, h.new = 0, 0
		switch {
		case strings.HasPrefix(line, "diff --"):
			return &s.Bold
		case strings.HasPrefix(line, "@@"):
			h.open(line)
			return &s.Info
		}
		return &s.Faint
	}
	switch {
	case strings.HasPrefix(line, "+"):
		h.new--
		return &s.Added
	case strings.HasPrefix(line, "-"):
		h.old--
		return &s.Bad
	case strings.HasPrefix(line, `\`):
		return &s.Faint
	}
	h.old--
	h.new--
	return nil
}

// open reads how many lines follow: "@@ -1,4 +1,5 @@", where a 1 may be left out.
func (h *hunk) open(line string) {
	h.old, h.new = 0, 0
	words := strings.Fields(line)
	if len(words) < 3 {
		return
	}
	h.old, h.new = hunkLength(words[1]), hunkLength(words[2])
}

func hunkLength(word string) int {
	_, count, said := strings.Cut(word, ",")
	if !said {
		return 1
	}
	n := 0
	if _, err := fmt.Sscanf(count, "%d", &n); err != nil {
		return 0
	}
	return n
}
