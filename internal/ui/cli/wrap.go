package cli

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// wrapped breaks the lines of a text between words, so that they fit a terminal. What follows in a line is below its
// beginning, hang columns further to the right than where the line begins. A command stays whole: people copy it.
func wrapped(text string, width, hang int) string {
	if width <= 0 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		out.WriteString(wrappedLine(line, width, hang))
		if ended {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

func wrappedLine(line string, width, hang int) string {
	body := strings.TrimLeft(line, " ")
	indent := len(line) - len(body)
	room := width - indent - hang
	if ansi.StringWidth(line) <= width || room < leastRoom || strings.HasPrefix(body, "orange ") {
		return line
	}
	letters := []rune(body)
	begin, rest := letters[:min(hang, len(letters))], letters[min(hang, len(letters)):]
	below := "\n" + strings.Repeat(" ", indent+hang)
	text := string(rest)
	if !strings.ContainsAny(text, glue+hyphen) { // such letters of another's are no glue
		text = glued(text)
	}
	lines := strings.ReplaceAll(ansi.Wordwrap(text, room, ""), "\n", below)
	return strings.Repeat(" ", indent) + string(begin) + strings.NewReplacer(glue, " ", hyphen, "-").Replace(lines)
}

const (
	leastRoom = 20 // columns: in fewer, lines are left to the terminal
	// between the words of a command while lines are broken, and for each hyphen: private letters
	glue, hyphen = "\ue000", "\ue001"
)

// glued is a text in which the words of each command hold together: from "orange" to the end of the sentence. No word
// breaks at a hyphen: names have many.
func glued(text string) string {
	words := strings.Split(text, " ")
	var out strings.Builder
	command := false
	for i, word := range words {
		if i > 0 {
			if command {
				out.WriteString(glue)
			} else {
				out.WriteString(" ")
			}
		}
		out.WriteString(strings.ReplaceAll(word, "-", hyphen))
		switch {
		case strings.TrimLeft(word, `"'(`) == "orange":
			command = true
		case strings.ContainsAny(word, `";,)`):
			command = false
		}
	}
	return out.String()
}
