package home

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
)

// WorkflowFolder is the folder of the person's own workflow files. It may not be there yet.
func (h *Home) WorkflowFolder() string { return filepath.Join(h.Dir, "workflows") }

// CopyWorkflow makes a workflow file of the person's own from one that can be had, and reads it back.
// Only the name changes in its text. A file that is there is never touched.
func (h *Home) CopyWorkflow(name, from string) (*workflow.Definition, Listed, error) {
	if why := unfit(name); why != "" {
		return nil, Listed{}, task.Notef(task.ErrUsage, "cannot call a workflow %q: %s; choose another name", name, why)
	}
	_, source, err := h.FindWorkflow(from)
	if err != nil {
		return nil, Listed{}, err
	}
	path := filepath.Join(h.WorkflowFolder(), name+".yml")
	var def *workflow.Definition
	text, err := withName(source.Text, name)
	if err == nil {
		def, err = h.ParseWorkflow(path, text)
	}
	if err == nil && def.Name != name {
		err = fmt.Errorf("with its new name it would be called %q", def.Name)
	}
	if err != nil {
		return nil, Listed{}, fmt.Errorf(
			"cannot copy the workflow %q: %w; write %q to a file and change the name there", from, err,
			"orange workflow show "+from)
	}
	if err := writeNew(path, text); errors.Is(err, fs.ErrExist) {
		return nil, Listed{}, task.Notef(task.ErrUsage,
			"cannot make the workflow %q: there is a file %q already; edit that, or choose another name", name, path)
	} else if err != nil {
		return nil, Listed{}, fmt.Errorf("cannot make the workflow %q: %w", name, err)
	}
	return h.FindWorkflow(name)
}

// plainName is text that needs no quotes, and otherName what YAML takes for something else without them.
var (
	plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	otherName = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n)$`)
)

// withName is a workflow's text with another name in it, every other byte as it was.
func withName(text []byte, name string) ([]byte, error) {
	r := &yaml.Reader{}
	var value *yaml.Node
	if root := r.Document(text); root != nil {
		r.Pairs(root, "the workflow", func(key, v *yaml.Node) {
			if key.Value == "name" {
				value = v
			}
		})
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if value == nil {
		return nil, errors.New("it has no name")
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	line := []rune(string(lines[value.Line-1]))
	if value.Column > len(line) {
		return nil, errors.New("its name is not where it was read")
	}
	before, rest := string(line[:value.Column-1]), string(line[value.Column-1:])
	old := lengthOf(rest, value.Value)
	if old == 0 {
		return nil, errors.New("its name is not written as one plain word on a line")
	}
	quoted := name
	if !plainName.MatchString(name) || otherName.MatchString(name) {
		quoted = strconv.Quote(name)
	}
	lines[value.Line-1] = []byte(before + quoted + rest[old:])
	return bytes.Join(lines, nil), nil
}

// lengthOf is how many bytes a value takes at the beginning of the text; 0 when it is not there in one piece.
func lengthOf(text, value string) int {
	switch {
	case text[0] == '"' || text[0] == '\'':
		if end := strings.IndexByte(text[1:], text[0]); end == len(value) && text[1:1+end] == value {
			return end + 2
		}
	case strings.HasPrefix(text, value):
		return len(value)
	}
	return 0
}

// writeNew writes a file that must not be there yet.
func writeNew(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), task.PrivateFolder); err != nil {
		return err
	}
	f, err := proc.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, task.PrivateFile)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path)) // half a workflow is none
	}
	return nil
}
