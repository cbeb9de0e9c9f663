package cli

import (
	"bufio"
	"strings"

	"orange/internal/rules/task"
)

// sure asks a person whether to go on, unless they said so already. Only people are asked: an agent has no one to
// answer for it, and what it asks for is judged like everything else. Where no person can answer, nothing is
// done.
func (p *Program) sure(actor task.Actor, yes bool, question, not string) error {
	switch {
	case yes || actor.Role != task.RoleHuman:
		return nil
	case !p.Terminal:
		return usage("%s: no person can be asked here; add --yes", not)
	}
	if !p.agrees(question) {
		return usage("%s", not)
	}
	return nil
}

// agrees asks the person at the terminal.
func (p *Program) agrees(question string) bool {
	answer := strings.ToLower(p.asked(question + " [y/N] "))
	return answer == "y" || answer == "yes"
}

// asked is what the person at the terminal answers, without blanks around it; empty where they answer nothing.
func (p *Program) asked(question string) string {
	if p.line != nil {
		p.line.hold(true)
		defer p.line.hold(false)
	}
	p.talk("%s", question)
	line, err := bufio.NewReader(p.In).ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}
