package shell

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/peterh/liner"

	"orange/internal/rules/printable"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// maxLine is how long a line may be.
const maxLine = 1 << 20

// pipeLines are lines from a pipe or a file.
type pipeLines struct{ scanner *bufio.Scanner }

func newPiped(in io.Reader) pipeLines {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	return pipeLines{scanner}
}

func (p pipeLines) next(string) (string, error) {
	if p.scanner.Scan() {
		return p.scanner.Text(), nil
	}
	if err := p.scanner.Err(); err != nil {
		return "", fmt.Errorf("read the lines: %w", err)
	}
	return "", io.EOF
}

func (pipeLines) close() error { return nil }

// Bounds of the file of lines: it is shortened to the first when it has grown beyond the second.
const (
	mostRemembered = 1000
	mostInFile     = 2000
)

// terminalLines are lines from a person at the terminal, who can edit, complete and repeat them.
type terminalLines struct {
	terminal *liner.State
	history  string
	last     string
	trouble  error // why lines are not remembered any more: the conversation goes on, and its end tells
}

func newTyped(history string, complete func(line string) []string) (*terminalLines, error) {
	remembered, err := recall(history)
	if err != nil {
		return nil, err
	}
	t := &terminalLines{terminal: liner.NewLiner(), history: history}
	t.terminal.SetCtrlCAborts(true)
	t.terminal.SetTabCompletionStyle(liner.TabPrints)
	t.terminal.SetCompleter(func(line string) []string { // which are put on the screen past every writer
		return slices.DeleteFunc(complete(line), func(whole string) bool { return printable.Line(whole) != whole })
	})
	for _, line := range remembered {
		line = printable.Line(line)
		t.terminal.AppendHistory(line)
		t.last = line
	}
	return t, nil
}

func (t *terminalLines) next(prompt string) (string, error) {
	line, err := t.terminal.Prompt(prompt)
	if errors.Is(err, liner.ErrPromptAborted) {
		return "", errLineDropped
	}
	if err != nil {
		return "", err
	}
	if line = strings.TrimSpace(line); line == "" || line == t.last {
		return line, nil
	}
	t.last = line
	t.terminal.AppendHistory(line)
	if t.trouble == nil {
		t.trouble = remember(t.history, line)
	}
	return line, nil
}

func (t *terminalLines) close() error { return errors.Join(t.terminal.Close(), t.trouble) }

// recall reads the lines of earlier conversations, the newest last, and shortens a file that has grown too long.
func recall(path string) ([]string, error) {
	text, err := proc.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(text) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the lines of earlier conversations: %w", err)
	}
	all := strings.Split(strings.TrimSuffix(strings.ToValidUTF8(string(text), "?"), "\n"), "\n")
	whole := len(all)
	all = all[max(0, whole-mostRemembered):]
	if whole <= mostInFile {
		return all, nil
	}
	if err := proc.ReplaceFile(path, []byte(strings.Join(all, "\n")+"\n")); err != nil {
		return nil, fmt.Errorf("shorten the file of lines: %w", err)
	}
	return all, nil
}

// remember adds a line at once: several conversations may go on, and each may be ended at any moment.
func remember(path, line string) error {
	file, err := proc.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, task.PrivateFile)
	if err != nil {
		return fmt.Errorf("remember the line: %w", err)
	}
	_, err = file.WriteString(line + "\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("remember the line: %w", err)
	}
	return nil
}
