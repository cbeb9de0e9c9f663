package form

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
)

// Update takes a key, a paste, the choices, or the text of the editor.
func (c *Creation) Update(msg tea.Msg, _ screen.Size) Response {
	switch msg := msg.(type) {
	case ChoicesRead:
		early := c.early
		c.early = false
		if c.setChoices(msg); early && c.problem == "" {
			return c.send()
		}
		return Response{}
	case Edited:
		c.edited(msg)
		return Response{}
	}
	k, pressed := msg.(tea.KeyPressMsg)
	name := ""
	if pressed {
		name = k.String()
	}
	if name == "esc" {
		return c.leave()
	}
	if c.sent {
		return Response{}
	}
	if pressed {
		c.leaving, c.early = false, false
	}
	switch last := c.focus == fields-1; {
	case name == "ctrl+s", name == "ctrl+enter", name == "enter" && last:
		return c.send()
	case name == "ctrl+e" && c.focus == fieldContext:
		return Response{Cmd: c.edit(c.text(fieldContext))}
	case name == "tab", name == "down", name == "enter":
		c.focus = (c.focus + 1) % fields
	case name == "shift+tab", name == "up":
		c.focus = (c.focus + fields - 1) % fields
	default:
		c.take(msg)
	}
	return Response{}
}

// leave closes the form, or first asks whether its text may be lost.
func (c *Creation) leave() Response {
	switch {
	case c.sent:
		return Response{Close: true, Message: "the task is still being created"}
	case c.leaving || !c.written():
		return Response{Close: true}
	}
	c.leaving = true
	return Response{}
}

// Unsent reports whether the person wrote anything that is not being sent.
func (c *Creation) Unsent() bool { return c.written() && !c.sent }

// take puts what is typed or pasted into the field that is in focus.
func (c *Creation) take(msg tea.Msg) {
	switch {
	case c.focus.picked():
		c.picks[c.focus] = c.picks[c.focus].update(msg)
		c.settle()
	case c.focus == fieldContext:
		c.takeContext(msg)
	default:
		c.lines[c.focus] = c.lines[c.focus].update(msg)
	}
}

// takeContext edits a context of one line. One of several lines is for the editor, except that pastes go to its end.
func (c *Creation) takeContext(msg tea.Msg) {
	pasted, isPaste := msg.(tea.PasteMsg)
	text := ""
	if isPaste {
		text = strings.Join(screen.CleanLines(newlines(pasted.Content)), "\n")
	}
	k, pressed := msg.(tea.KeyPressMsg)
	switch {
	case isPaste && c.context != "":
		c.setContext(c.context + "\n" + text)
	case isPaste && strings.Contains(strings.Trim(text, "\n"), "\n"):
		c.setContext(strings.TrimLeft(c.lines[fieldContext].text()+"\n"+text, "\n"))
	case c.context == "":
		c.lines[fieldContext] = c.lines[fieldContext].update(msg)
	case pressed && k.String() == "ctrl+u":
		c.setContext("")
	}
}

func (c *Creation) setContext(text string) {
	text = strings.Trim(newlines(text), "\n")
	c.context = ""
	if strings.Contains(text, "\n") {
		c.context, text = text, ""
	}
	c.lines[fieldContext] = newLine(text)
}

func (c *Creation) edited(msg Edited) {
	if msg.Err != nil {
		c.problem = msg.Err.Error()
		return
	}
	c.problem = ""
	c.setContext(msg.Text)
}

// wrong is a mistake that the form itself finds, and its field. The engine finds the others.
func (c *Creation) wrong() (string, field) {
	switch {
	case len(c.choices.Projects) == 0:
		return noProject, fieldProject
	case len(c.text(fieldContext)) > task.MaxContext:
		return fmt.Sprintf("The context has %d bytes, more than %d: put it into a file of the repository, and "+
			"name that.", len(c.text(fieldContext)), task.MaxContext), fieldContext
	}
	if text := c.lines[fieldSummary].text(); text != "" {
		if err := task.CheckSummary(text); err != nil {
			return err.Error(), fieldSummary
		}
	}
	if _, problem := c.after(); problem != "" {
		return problem, fieldAfter
	}
	return "", c.focus
}

// send asks for the task. The form stays until Failed, or until the task is there.
func (c *Creation) send() Response {
	if !c.known {
		c.problem, c.early = "", c.problem == "" // after a failure the person sees first what can be chosen
		return Response{Cmd: c.Load()}
	}
	if c.problem, c.focus = c.wrong(); c.problem != "" {
		return Response{}
	}
	c.sent = true
	n := c.Task()
	return Response{Create: &n}
}

// Failed shows why the task could not be created.
func (c *Creation) Failed(err error) { c.problem, c.sent = err.Error(), false }
