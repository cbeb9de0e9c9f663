package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

	sent *sent // by another process, which asks this one; nil for a command of this process
}

// sent is what a process that asks this one has sent along, and what more it is to send.
type sent struct {
	texts   map[string]string // of the files that flags name; "-" is the standard input
	unread  map[string]string // why the text of a file could not be read
	answers []string          // of the person, in the order of the questions
	need    *socket.Lack      // what was not sent
	asks    bool              // the process can send more
}

// errNeeds ends a command that needs something which was not sent. It is done again, with that.
var errNeeds = errors.New("something was not sent along")

// lacks notes what more is to be sent.
func (s *sent) lacks(need socket.Lack) error {
	if !s.asks {
		return fmt.Errorf("the text of %q was not sent", need.Text)
	}
	s.need = &need
	return errNeeds
}

// From has this program do a command line of another process, which has sent some of what it may need. needs answers
// what the command needed besides, once it has ended.
func (p *Program) From(s socket.Sent) (needs func() *socket.Lack) {
	p.sent = &sent{texts: s.Texts, unread: s.Unread, answers: s.Answers, asks: true}
	return func() *socket.Lack { return p.sent.need }
}

// text is that of a file as it was sent.
func (s *sent) text(name string) ([]byte, error) {
	if why, is := s.unread[name]; is {
		return nil, errors.New(why)
	}
	if text, is := s.texts[name]; is {
		return []byte(text), nil
	}
	return nil, s.lacks(socket.Lack{Text: name})
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
		if len(i.sent.answers) == 0 {
			return "", i.sent.lacks(socket.Lack{Question: question})
		}
		answer := i.sent.answers[0]
		i.sent.answers = i.sent.answers[1:]
		return answer, nil
	}
	return i.asked(question), nil
}

// asked asks the person at this process's terminal.
func (i *input) asked(question string) string {
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
	if errors.Is(err, errNeeds) {
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
	case i.sent != nil && (from != "-" || i.In == nil):
		return i.sent.text(from)
	case from == "-":
		return io.ReadAll(io.LimitReader(i.In, task.MaxContext+1))
	}
	return proc.ReadFile(from)
}

// supply reads what a server needs for a command of this process.
func (i *input) supply(need socket.Lack) (socket.Sent, error) {
	if need.Question != "" {
		return socket.Sent{Answers: []string{i.asked(need.Question)}}, nil
	}
	text, err := i.bytesOf(need.Text)
	if err != nil {
		return socket.Sent{Unread: map[string]string{need.Text: err.Error()}}, nil
	}
	return socket.Sent{Texts: map[string]string{need.Text: string(text[:min(len(text), task.MaxContext+1)])}}, nil
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
