package mirror

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/rules/document"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// HistoryName is the name of the file that mirrors a task's history.
const HistoryName = "history.jsonl"

// mostHistory is how many bytes of a history are read where the record does not say how many there are.
const mostHistory = 256 << 20

// History is the path of a task's history.
func (f Files) History(project, id string) string {
	return filepath.Join(f.Dir(project, id), HistoryName)
}

// ReadHistory reads the file that mirrors a task's history. One that is not there is no text.
func (f Files) ReadHistory(project, id string) ([]byte, error) {
	text, _, err := readIfThere(f.History(project, id), mostHistory)
	if err != nil {
		return nil, fmt.Errorf("read the history of task %q: %w", id, err)
	}
	return text, nil
}

// beforeAdoption ends the name of the history of an earlier program, which a rebuild leaves next to the one of this.
const beforeAdoption = "before-adoption"

// IsOlder reports whether an earlier program left a folder: one whose document has a header with a status, and whose
// history, if there is one, has no hashes. A folder that is being made at this moment is none.
func (f Files) IsOlder(project, id string, now time.Time) bool {
	info, err := os.Stat(f.Dir(project, id))
	if err != nil || now.Sub(info.ModTime()) < time.Minute {
		return false
	}
	lines, _, err := readIfThere(f.History(project, id), mostBefore)
	if err != nil || bytes.Contains(lines, []byte(`"hash":"`)) {
		return false
	}
	text, err := f.Read(project, id, false)
	_, there := document.Read(text).Front.Get("status")
	return err == nil && there
}

// mostBefore is how many bytes of such a history are read: what an agent can write is no one's proof.
const mostBefore = 1 << 20

// ReadBefore reads the history that an earlier program wrote of a task; empty where it wrote none.
func (f Files) ReadBefore(project, id string) ([]byte, error) {
	text, _, err := readIfThere(f.History(project, id)+"."+beforeAdoption, mostBefore)
	if err != nil {
		return nil, fmt.Errorf("read the history of task %q from before: %w", id, err)
	}
	return text, nil
}

// KeepHistory keeps the history's file as it is under another name next to it, before it is replaced,
// and answers where. A copy that is there already is never overwritten.
func (f Files) KeepHistory(project, id, suffix string) (string, error) {
	text, err := f.ReadHistory(project, id)
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		path := f.History(project, id) + "." + suffix
		if n > 1 {
			path = fmt.Sprintf("%s-%d", path, n)
		}
		have, there, err := readIfThere(path, mostHistory)
		switch {
		case err != nil:
			return "", fmt.Errorf("keep the history: %w", err)
		case !there:
			return path, proc.ReplaceFile(path, text)
		case bytes.Equal(have, text):
			return path, nil
		}
	}
}

// Folders lists the folders of tasks that there are, as project and id.
func (f Files) Folders() ([][2]string, error) {
	var out [][2]string
	top := filepath.Join(f.Home, "tasks")
	projects, err := folders(top)
	if err != nil {
		return nil, err
	}
	for _, project := range projects {
		ids, err := folders(filepath.Join(top, project))
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			out = append(out, [2]string{project, id})
		}
	}
	return out, nil
}

func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the folders of tasks: %w", err)
	}
	var out []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			out = append(out, entry.Name())
		}
	}
	return out, nil
}

// Evidence lists the digests of what is kept for a task.
func (f Files) Evidence(project, id string) (map[string]bool, error) {
	entries, err := os.ReadDir(filepath.Join(f.Dir(project, id), "evidence"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list the evidence of task %q: %w", id, err)
	}
	out := map[string]bool{}
	for _, entry := range entries {
		out[entry.Name()] = true
	}
	return out, nil
}

// maxKept is the size in bytes up to which a kept text is read: none that is kept is larger.
const maxKept = 256 << 20

// Kept is the text that is kept for a task under a digest, as it is now.
func (f Files) Kept(project, id, digest string) (text string, kept bool, err error) {
	if sum, err := hex.DecodeString(digest); err != nil || len(sum) != sha256.Size {
		return "", false, nil // no digest, and no name of a file
	}
	path, err := f.placeOf(project, id, evidenceFolder+"/"+digest)
	var raw []byte
	if err == nil {
		raw, kept, err = readIfThere(path, maxKept)
	}
	if err != nil {
		return "", false, fmt.Errorf("read the evidence of task %q: %w", id, err)
	}
	return string(raw), kept, nil
}

// Differs reports where a task's mirrors are not what the record says; nothing where they are equal. It
// changes nothing. Lines are the whole history, one event each.
func (f Files) Differs(t task.Task, lines []string) ([]string, error) {
	header, err := f.differsDocument(t)
	if err != nil {
		return nil, err
	}
	history, err := f.differsHistory(t, lines)
	return append(header, history...), err
}

func (f Files) differsDocument(t task.Task) ([]string, error) {
	text, err := f.Read(t.Project, t.ID, false)
	if errors.Is(err, os.ErrNotExist) {
		return []string{DocumentName + " is missing"}, nil
	}
	if err != nil {
		return nil, err
	}
	if isRendered(t, text) {
		return nil, nil
	}
	d := document.Read(text)
	if broken := d.Broken(); broken != "" {
		return []string{DocumentName + ": " + broken}, nil
	}
	if d.Header() == "" {
		return []string{DocumentName + " has no header"}, nil
	}
	var out []string
	for _, want := range document.Fields(t) {
		found, there := d.Front.Get(want.Key)
		switch {
		case !there:
			out = append(out, fmt.Sprintf("%s has no %s", DocumentName, want.Key))
		case found != want.Text:
			out = append(out, fmt.Sprintf("%s: %s is %q, and %q on record", DocumentName, want.Key, found, want.Text))
		}
	}
	return out, nil
}

// isRendered reports whether a document begins with the very header that Orange writes for the task: that is most of
// them, and says what is on record without a look at its YAML.
func isRendered(t task.Task, text []byte) bool {
	const closing = "\n---\n"
	end := bytes.Index(text, []byte(closing))
	if end < 0 || end+len(closing) > frontSearch {
		return false
	}
	room := end + len(closing)
	block, fits := document.Render(t, "", room)
	return fits && string(text[:room]) == block
}

func (f Files) differsHistory(t task.Task, lines []string) ([]string, error) {
	have, err := readFile(f.History(t.Project, t.ID), int64(len(asFile(lines)))+lastSearch)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return []string{HistoryName + " is missing"}, nil
	case errors.Is(err, document.ErrTooLarge):
		return []string{HistoryName + " has more than is on record"}, nil
	}
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		found, rest, ended := bytes.Cut(have, []byte("\n"))
		switch {
		case len(have) == 0:
			return []string{fmt.Sprintf("%s ends after line %d, and has %d on record", HistoryName, i, len(lines))}, nil
		case string(found) != line || !ended:
			return []string{fmt.Sprintf("%s: line %d is not what is on record", HistoryName, i+1)}, nil
		}
		have = rest
	}
	if len(have) > 0 {
		return []string{fmt.Sprintf("%s goes on after line %d, the last on record", HistoryName, len(lines))}, nil
	}
	return nil, nil
}
