package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"orange/internal/api/socket"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// input reads what a person or a program gives a command, and asks the person at the terminal.
type input struct {
	printer

	In io.Reader
	// Terminal reports whether a person sits at In.
	Terminal bool

	sent  *sent             // by another process, which asks this one; nil for a command of this process
	given map[string]string // what the person answered to a question, for a server that did not use it
}

// sent is what a process that asks this one has sent along, and what more it is to send.
type sent struct {
	items []socket.Input
	need  *socket.Need // what was not sent
	more  bool         // the process can send more
}

// errNeed ends a command that needs something which was not sent. It is done again, with that.
var errNeed = errors.New("something was not sent along")

// AnswerFor does a command line of another process, which has sent what it needed when it was done before: only what
// may be asked for from elsewhere than a terminal. need is what the command needs besides.
func (p *Program) AnswerFor(ctx context.Context, args []string, items []socket.Input) (status int, need *socket.Need,
	refused error) {
	root := p.root()
	if c, _, err := root.Find(args); err != nil || !isServed(c, args) {
		return 0, nil, errors.New("it does no such command for others")
	}
	p.sent = &sent{items: items, more: true}
	status = p.execute(ctx, root, args)
	return status, p.sent.need, nil
}

// take is what was sent for a need. A text may be read twice; an answer is to one question, which may be asked again.
func (s *sent) take(need socket.Need) (string, error) {
	at := slices.IndexFunc(s.items, func(i socket.Input) bool { return i.Need == need })
	switch {
	case at < 0 && !s.more:
		return "", fmt.Errorf("the text of %q was not sent", need.File)
	case at < 0:
		s.need = &need
		return "", errNeed
	case s.items[at].Wrong != "":
		return "", errors.New(s.items[at].Wrong)
	}
	text := s.items[at].Text
	if need.Question != "" {
		s.items = slices.Delete(slices.Clone(s.items), at, at+1)
	}
	return text, nil
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
	agreed, err := i.agrees(question)
	if err == nil && !agreed {
		err = usage("%s", not)
	}
	return err
}

// agrees asks the person at the terminal of who asks.
func (i *input) agrees(question string) (bool, error) {
	answer, err := i.answerTo(question + yesOrNo)
	return isYes(answer), err
}

// agreed asks the person at this process's terminal.
func (i *input) agreed(question string) bool { return isYes(i.asked(question + yesOrNo)) }

const yesOrNo = " [y/N] "

func isYes(answer string) bool {
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes"
}

// answerTo is what the person at the terminal answers, without blanks around it; empty where they answer nothing.
func (i *input) answerTo(question string) (string, error) {
	if i.sent != nil {
		return i.sent.take(socket.Need{Question: question})
	}
	return i.asked(question), nil
}

// asked asks the person at this process's terminal.
func (i *input) asked(question string) string {
	if answer, is := i.given[question]; is {
		delete(i.given, question)
		return answer
	}
	return i.ask(question)
}

func (i *input) ask(question string) string {
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
	if from == "" {
		return "", nil
	}
	text, err := i.bytesOf(from)
	if errors.Is(err, errNeed) {
		return "", err
	}
	if err != nil {
		return "", usage("cannot read %s: %v", what, err)
	}
	if len(text) > task.MaxContext {
		return "", usage("%s has more than %d bytes", what, task.MaxContext)
	}
	return string(text), nil
}

// bytesOf is the text of a file, or that at the standard input for "-"; of one that is too large at least one byte more
// than a context has.
func (i *input) bytesOf(from string) ([]byte, error) {
	switch {
	case i.sent != nil:
		text, err := i.sent.take(socket.Need{File: from})
		return []byte(text), err
	case from == "-":
		return io.ReadAll(io.LimitReader(i.In, task.MaxContext+1))
	}
	return proc.ReadFile(from)
}

// supply reads what a server needs for a command of this process. This process can read it again, where the server does
// not do the command after all.
func (i *input) supply(need socket.Need) socket.Input {
	item := socket.Input{Need: need}
	if need.Question != "" {
		item.Text = i.asked(need.Question)
		i.given = map[string]string{need.Question: item.Text}
		return item
	}
	text, err := i.bytesOf(need.File)
	if err != nil {
		item.Wrong = err.Error()
		return item
	}
	if need.File == "-" {
		i.In = bytes.NewReader(text)
	}
	item.Text = string(text[:min(len(text), task.MaxContext+1)])
	return item
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
			text, err := i.read("the value of "+name, "-")
			if err != nil {
				return nil, err
			}
			read, word = true, name+"="+strings.TrimSuffix(text, "\n")
		}
		out = append(out, word)
	}
	return out, nil
}
