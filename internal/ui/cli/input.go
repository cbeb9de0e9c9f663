package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// input reads what a person or a program gives a command, and asks the person at the terminal.
type input struct {
	printer

	In io.Reader
	// Terminal reports whether a person sits at In.
	Terminal bool

	// texts are those of the files that flags name, where another host sent the command; nil for a command of this one
	texts map[string]string
}

// sure asks a person whether to go on, unless they said so already. Only people are asked: an agent has no one to
// answer for it, and what it asks for is judged like everything else. Where no person can answer, nothing is
// done.
func (i *input) sure(actor task.Actor, yes bool, question, not string) error {
	switch {
	case yes || actor.Role != task.RoleHuman:
		return nil
	case !i.Terminal:
		return usage("%s: no person can be asked here; add --yes", not)
	}
	if !i.agrees(question) {
		return usage("%s", not)
	}
	return nil
}

// agrees asks the person at the terminal.
func (i *input) agrees(question string) bool {
	answer := strings.ToLower(i.answerTo(question + " [y/N] "))
	return answer == "y" || answer == "yes"
}

// answerTo is what the person at the terminal answers, without blanks around it; empty where they answer nothing.
func (i *input) answerTo(question string) string {
	if i.line != nil {
		i.line.hold(true)
		defer i.line.hold(false)
	}
	i.talk("%s", question)
	line, err := bufio.NewReader(i.In).ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}

// dashOr is a word, or for "-" the text at the standard input.
func (i *input) dashOr(word string) (string, error) {
	if word == "-" {
		return i.readText(word)
	}
	return word, nil
}

// readText reads a file, or standard input for "-"; nothing for an empty name.
func (i *input) readText(from string) (string, error) { return i.read("the context", from) }

// read reads a text of at most so many bytes as a context has; what says what it is.
func (i *input) read(what, from string) (string, error) {
	var text []byte
	var err error
	sent, is := i.texts[from]
	switch {
	case from == "":
		return "", nil
	case from == "-":
		text, err = io.ReadAll(io.LimitReader(i.In, task.MaxContext+1))
	case is:
		text = []byte(sent)
	case i.texts != nil:
		err = fmt.Errorf("the text of %q was not sent", from)
	default:
		text, err = proc.ReadFile(from)
	}
	if err != nil {
		return "", usage("cannot read %s: %v", what, err)
	}
	if len(text) > task.MaxContext {
		return "", usage("%s has more than %d bytes", what, task.MaxContext)
	}
	return string(text), nil
}

// withInput puts the text at the standard input in the place of a value that is a dash.
func (i *input) withInput(words []string) ([]string, error) {
	var out []string
	read := false
	for _, word := range words {
		if name, value, _ := strings.Cut(word, "="); value == "-" {
			if read {
				return nil, usage("cannot set %s and another variable from one standard input; set them one by one",
					name)
			}
			text, err := io.ReadAll(i.In)
			if err != nil {
				return nil, fmt.Errorf("read the value of %s: %w", name, err)
			}
			read, word = true, name+"="+strings.TrimSuffix(string(text), "\n")
		}
		out = append(out, word)
	}
	return out, nil
}
