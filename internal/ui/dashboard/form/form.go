// Package form has what the person fills in: questions, prompts for a text, and the form for a new task.
package form

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
)

// Form is what the person fills in.
type Form interface {
	// Update takes a message. The response is what follows from it.
	Update(msg tea.Msg, size screen.Size) Response
	// View draws the form over the lines of what is behind it. cursor is the position of the terminal's cursor in the
	// lines; nil hides it.
	View(behind []string, size screen.Size) (lines []string, cursor *tea.Position)
	// Keys are the keys of the form, each followed by what it does.
	Keys() []string
	// Unsent reports whether the person would lose text with the form.
	Unsent() bool
}

// Response is what the dashboard does after a message to a form.
type Response struct {
	Close   bool       // close the form
	Message string     // show this
	Start   *Operation // start this
	Create  *task.New  // create this task; the form stays until the task is there
	Ask     *Question  // ask this next
	Prompt  *TextPrompt
	Cmd     tea.Cmd
	Then    func() tea.Cmd // do this once the form is closed
}

// Operation is work that a form asks for.
type Operation struct {
	What string // "merge fix/login"
	Text string // what the person wrote for it; a prompt offers it again if the work fails
	Work func(ctx context.Context) (message string, err error)
	Many bool // it is about all tasks that the person marked: they are marked no longer
}

// Edited is the text that the person left in their editor.
type Edited struct {
	Text string
	Err  error
}

// keysToLeave are the keys of a form that asked whether its text may be lost.
func keysToLeave() []string { return []string{"Esc", "throws it away", "any other key", "goes on"} }

const textToLeave = "What you wrote is not sent. Esc again throws it away."

func length(text string) string {
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	letters := utf8.RuneCountInString(text)
	if lines == 1 {
		return fmt.Sprintf("%d letters", letters)
	}
	return fmt.Sprintf("%d lines, %d letters", lines, letters)
}
