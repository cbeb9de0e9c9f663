package detail

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"orange/internal/ui/dashboard/screen"
)

// diffLines draws the output of git diff: the list of files first, then each line with the colour of its kind.
func (r renderer) diffLines(diff string, live bool) []string {
	if strings.TrimSpace(diff) == "" {
		if live {
			return []string{r.faint("nothing is changed yet")}
		}
		return []string{r.faint("nothing that the default branch does not have")}
	}
	var out []string
	var at hunk
	started := false // the diff begins after the list of files
	for _, line := range strings.Split(strings.TrimRight(diff, "\n"), "\n") {
		line = screen.CleanRaw(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
		if started = started || strings.HasPrefix(line, "diff --"); !started {
			out = append(out, r.statLine(line))
			continue
		}
		style := at.style(r.style, line)
		for _, piece := range screen.Break(line, r.width) {
			out = append(out, screen.Raw(style, piece).Render())
		}
	}
	return out
}

// statLine is one line of the list of files: " name | 3 ++-".
func (r renderer) statLine(line string) string {
	bar := strings.LastIndex(line, "|")
	switch {
	case strings.HasPrefix(line, " new, not added: "):
		return screen.Cut(screen.Raw(&r.style.Added, line).Render(), r.width)
	case bar < 0:
		return screen.Cut(screen.Raw(&r.style.Faint, line).Render(), r.width)
	}
	graph := strings.TrimLeft(line[bar:], "| 0123456789")
	if strings.Trim(graph, "+-") != "" {
		return screen.Cut(line, r.width) // a binary file
	}
	plus := strings.Count(graph, "+")
	return screen.Cut(line[:len(line)-len(graph)]+screen.Raw(&r.style.Added,
		graph[:plus]).Render()+screen.Raw(&r.style.Bad,
		graph[plus:]).Render(), r.width)
}

// hunk counts the remaining lines of a hunk, so that a removed line that begins with dashes is not mistaken for the
// name of a file.
type hunk struct{ old, new int }

// style is the style of the next line; nil for a plain one.
func (h *hunk) style(s *screen.Style, line string) *lipgloss.Style {
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

// open reads how many lines follow: "@@ -1,4 +1,5 @@". Git omits a length of 1.
func (h *hunk) open(line string) {
	h.old, h.new = 0, 0
	words := strings.Fields(line)
	if len(words) < 3 {
		return
	}
	h.old, h.new = hunkLength(words[1]), hunkLength(words[2])
}

func hunkLength(word string) int {
	_, count, found := strings.Cut(word, ",")
	if !found {
		return 1
	}
	n, _ := strconv.Atoi(count) // 0 where it is none
	return n
}
