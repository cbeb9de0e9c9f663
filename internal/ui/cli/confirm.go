package cli

import (
	"bufio"
	"io"
	"strings"

	"orange/internal/rules/task"
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
