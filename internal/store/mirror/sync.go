package mirror

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/rules/document"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// frontSearch is how many bytes of a document are searched for its frontmatter.
const frontSearch = 64 << 10

// Sync makes the mirrors equal to the record: TASK.md's frontmatter and history.jsonl. Header is the frontmatter block
// as the caller compared it with the record: where another one is by now nothing of it is overwritten, and the error
// is task.ErrConflict. The caller holds the task's lock, which keeps out other Orange processes and no other program.
func (f Files) Sync(t task.Task, past record.HistoryLines, header string) error {
	if err := os.MkdirAll(f.Dir(t.Project, t.ID), task.PrivateFolder); err != nil {
		return fmt.Errorf("make the task's folder: %w", err)
	}
	document, history := f.syncDocument(t, header), f.syncHistory(t, past)
	if document != nil {
		document = fmt.Errorf("renew the header of TASK.md: %w", document)
	}
	if history != nil {
		history = fmt.Errorf("renew history.jsonl: %w", history)
	}
	return errors.Join(document, history)
}

// syncDocument renews the frontmatter in place, inside the room that is kept for it,
// so that a line appended at this instant survives.
func (f Files) syncDocument(t task.Task, header string) error {
	path := f.Document(t.Project, t.ID)
	file, err := open(path, os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		return f.Create(t, "")
	}
	if err != nil {
		return err
	}
	err = renew(file, path, t, header)
	return errors.Join(err, file.Close())
}

func renew(file *os.File, path string, t task.Task, header string) error {
	head := make([]byte, frontSearch)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if bytes.HasPrefix(head[:n], []byte(header)) && isRendered(t, []byte(header)) {
		return nil
	}
	front := document.Read(head[:n])
	if front.Header() != header {
		return task.Notef(task.ErrConflict, "another program wrote it meanwhile")
	}
	if front.Broken() != "" {
		// The end of a broken header is unknown: it stays as it is, below a new one.
		front.FrontLen, front.Front.Extra = 0, ""
	}
	block, fits := document.Render(t, front.Front.Extra, front.FrontLen)
	if fits {
		if block == string(head[:front.FrontLen]) {
			return nil
		}
		_, err := file.WriteAt([]byte(block), 0)
		return err
	}
	return grow(file, path, t, front)
}

// grow makes room for a longer frontmatter without losing what others append meanwhile:
// a filler of the missing size is appended in one write, and from then on no other program writes before its end.
// What is before the filler is then moved down over it. A crash in between leaves blank lines, no more.
func grow(file *os.File, path string, t task.Task, front *document.Document) error {
	if info, err := file.Stat(); err != nil || info.Size() > MaxDocument {
		return cmp.Or(err, tooLarge(file, MaxDocument)) // what is moved is held in memory
	}
	room := document.Room(t, front.Front.Extra)
	for room <= front.FrontLen+2 {
		room += frontStep
	}
	block, _ := document.Render(t, front.Front.Extra, room)
	missing := room - front.FrontLen
	appender, err := open(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	filler := "\n" + strings.Repeat(" ", missing-2) + "\n"
	_, err = appender.WriteString(filler)
	end, seekErr := appender.Seek(0, io.SeekCurrent) // just behind the filler, at any offset
	if err := errors.Join(err, seekErr, appender.Close()); err != nil {
		return err
	}
	body := make([]byte, end-int64(missing)-int64(front.FrontLen))
	if _, err := file.ReadAt(body, int64(front.FrontLen)); err != nil {
		return err
	}
	if _, err := file.WriteAt(append([]byte(block), body...), 0); err != nil {
		return err
	}
	return file.Sync()
}

const frontStep = 256

// syncHistory appends what is missing, or replaces the file where it is not a beginning of the record's history. It
// does not wait for the disk: what a power cut takes of this copy, Orange writes again from the record.
func (f Files) syncHistory(t task.Task, past record.HistoryLines) error {
	path := filepath.Join(f.Dir(t.Project, t.ID), "history.jsonl")
	if !past.Whole {
		if extended, err := extend(path, past); extended || err != nil {
			return err
		}
	}
	lines, _, err := past.Tail(0)
	if err != nil {
		return err
	}
	whole := asFile(lines)
	have, err := readFile(path, int64(len(whole))) // what is longer is not the record's
	if errors.Is(err, document.ErrTooLarge) {
		if err := f.keepAhead(t, whole); err != nil {
			return err
		}
	}
	if err != nil || !strings.HasPrefix(whole, string(have)) {
		return proc.ReplaceCopy(path, []byte(whole))
	}
	if len(have) == len(whole) {
		return nil
	}
	file, err := open(path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return proc.ReplaceCopy(path, []byte(whole))
	}
	_, err = file.WriteString(whole[len(have):])
	return errors.Join(err, file.Close())
}

// keepAhead keeps a history that goes on where the record ends: it was written by a record that had more, as one is
// whose newest commits were lost with a file next to it. A history of any other kind is no one's loss.
func (f Files) keepAhead(t task.Task, whole string) error {
	const most = 16 << 20
	have, err := readFile(f.History(t.Project, t.ID), int64(len(whole))+most)
	rest, goesOn := bytes.CutPrefix(have, []byte(whole))
	next, _, _ := bytes.Cut(rest, []byte("\n"))
	var event struct{ Seq int }
	if err != nil || !goesOn || json.Unmarshal(next, &event) != nil || event.Seq < 1 {
		return nil //nolint:nilerr // a file that is far too large, or a pipe, has nothing of the record's
	}
	_, err = f.KeepHistory(t.Project, t.ID, "ahead")
	return err
}

// asFile is lines with a line feed behind each.
func asFile(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// extend appends what is missing to a file whose length and last line are those that the history had some events ago.
// It reports false for any other file, and has not touched it then.
func extend(path string, past record.HistoryLines) (bool, error) {
	file, err := open(path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return false, nil //nolint:nilerr // comparing the whole finds out what is there
	}
	defer file.Close()
	last, size := lastLine(file)
	var event struct{ Seq int }
	if json.Unmarshal([]byte(last), &event) != nil || event.Seq < 1 {
		return false, nil
	}
	lines, bytes, err := past.Tail(event.Seq - 1)
	if err != nil {
		return false, err
	}
	if len(lines) == 0 || lines[0] != last {
		return false, nil
	}
	missing := asFile(lines[1:])
	if size+int64(len(missing)) != bytes {
		return false, nil
	}
	if missing == "" {
		return true, nil
	}
	_, err = file.WriteString(missing)
	return true, err
}

// lastSearch is how many bytes of a history are searched for its last line.
const lastSearch = 64 << 10

// lastLine is the last line of a file, and the file's size; empty where no whole line is at its end.
func lastLine(file *os.File) (string, int64) {
	info, err := file.Stat()
	if err != nil {
		return "", 0
	}
	from := max(0, info.Size()-lastSearch)
	end := make([]byte, info.Size()-from)
	if _, err := file.ReadAt(end, from); err != nil {
		return "", 0
	}
	text, whole := strings.CutSuffix(string(end), "\n")
	begin := strings.LastIndexByte(text, '\n') + 1
	if !whole || begin == 0 && from > 0 {
		return "", 0
	}
	return text[begin:], info.Size()
}

// readFile reads a file up to a size.
func readFile(path string, most int64) ([]byte, error) {
	file, err := open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readUpTo(file, most)
}

// readIfThere is readFile for a file that may not be there.
func readIfThere(path string, most int64) (text []byte, there bool, err error) {
	text, err = readFile(path, most)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	return text, err == nil, err
}

// Adopt makes another file's body the task's document: a program replaced the link in the worktree by a file of
// its own. It answers the body that was there before, which the caller keeps.
func (f Files) Adopt(t task.Task, content []byte) (before []byte, err error) {
	before, _, err = readIfThere(f.Document(t.Project, t.ID), maxKept) // the new one may be shorter on purpose
	if err != nil {
		return nil, fmt.Errorf("adopt the document: %w", err)
	}
	mine := document.Read(content)
	block, _ := document.Render(t, mine.Front.Extra, document.Room(t, mine.Front.Extra))
	if err := proc.ReplaceFile(f.Document(t.Project, t.ID), []byte(block+mine.Body)); err != nil {
		return nil, fmt.Errorf("adopt the document: %w", err)
	}
	return []byte(document.Read(before).Body), nil
}
