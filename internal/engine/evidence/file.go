package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
)

// maxFile is the size in bytes up to which a file is read. A larger one is no evidence.
const maxFile = 8 << 20

// content is what one file holds, or why that cannot be said.
type content struct {
	text    []byte
	missing bool
	trouble string // for people; empty when it was read
}

// bytesOf reads a file of the task's folder, once in a look.
func (v *view) bytesOf(path string) content {
	c, known := v.read[path]
	if !known {
		c = read(v.root, path)
		v.read[path] = c
	}
	return c
}

// read reads a regular file and nothing else.
func read(root *os.Root, path string) content {
	file, info, trouble := open(root, path)
	if trouble != nil {
		return content{missing: errors.Is(trouble, fs.ErrNotExist), trouble: trouble.Error()}
	}
	defer file.Close()
	if info.Size() > maxFile {
		return content{trouble: tooLarge(info.Size())}
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return content{trouble: inWords(err).Error()}
	}
	if len(text) > maxFile { // it grows
		return content{trouble: tooLarge(int64(len(text)))}
	}
	return content{text: text}
}

func tooLarge(size int64) string {
	return fmt.Sprintf("a file of %d bytes; at most %d MiB are read", size, maxFile>>20)
}

// open opens a regular file: what is there is looked at before, because opening alone can wait forever or set
// something off, and after, because another program may have replaced it.
func open(root *os.Root, path string) (*os.File, fs.FileInfo, error) {
	before, err := root.Lstat(path)
	if err != nil {
		return nil, nil, inWords(err)
	}
	if !before.Mode().IsRegular() {
		return nil, nil, errors.New(kind(before.Mode()) + ", expected a file")
	}
	file, err := proc.OpenIn(root, path, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, inWords(err)
	}
	after, err := file.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errors.New("a file that is exchanged all the time")
	}
	if err == nil {
		err = shared(after)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, after, nil
}

// shared says what is wrong with a file that has another name elsewhere: it may be no file of this task, but the
// record itself.
func shared(info fs.FileInfo) error {
	system, is := info.Sys().(*syscall.Stat_t)
	if !is || system.Nlink <= 1 {
		return nil
	}
	return fmt.Errorf("a hard link: the file has %d names; make it a file of its own with cp and mv", system.Nlink)
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "no regular file"
}

// inWords says for people why a file could not be read. One that is not there stays fs.ErrNotExist.
func inWords(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return absent{}
	case strings.Contains(err.Error(), "escapes from parent"): // the library has no name for this error
		return errors.New("a path that leads out of the task's folder, expected a file in it")
	case errors.Is(err, syscall.ELOOP):
		return errors.New("a link that leads nowhere, expected a file")
	}
	if cause, is := errors.AsType[*fs.PathError](err); is {
		err = cause.Err
	}
	return fmt.Errorf("a file that cannot be read: %w", err)
}

// absent is the answer for a file that is not there.
type absent struct{}

func (absent) Error() string        { return "no such file" }
func (absent) Is(target error) bool { return target == fs.ErrNotExist }

// seeFile looks at a part that asks for a file. What asks a program about it is answered later.
func (v *view) seeFile(p workflow.Part) decide.Fact {
	fact := decide.Fact{Source: p.File, Where: p.File, Want: "write " + p.File}
	c := v.bytesOf(p.File)
	if c.trouble != "" {
		fact.Found, fact.Unread = c.trouble, !c.missing
		return fact
	}
	text := withoutMark(c.text)
	fact.Text = document.Normalise(string(text))
	fact.Digest = document.Digest(fact.Text)
	if p.Required && document.Blank(string(text)) {
		fact.Found, fact.Want = "an empty file", "write something into "+p.File
		return fact
	}
	if p.JSON || p.JQ != "" {
		if found, line, column := wrongJSON(text); found != "" {
			fact.Found, fact.Want = "no JSON: "+found, "make "+p.File+" valid JSON"
			fact.Where = fmt.Sprintf("%s:%d:%d", p.File, line, column)
			return fact
		}
	}
	fact.Want = ""
	if p.JQ == "" {
		fact.Holds = true
		return fact
	}
	return v.question(p, fact, text)
}

// withoutMark takes away the mark that some editors put before a text in UTF-8.
func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }

// wrongJSON says what keeps a text from being JSON, and where.
func wrongJSON(text []byte) (found string, line, column int) {
	if at := invalid(text); at >= 0 {
		line, column = position(text, at)
		return fmt.Sprintf("the byte 0x%02x is no UTF-8", text[at]), line, column
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return "an empty file", 1, 1
	}
	var raw json.RawMessage
	err := json.Unmarshal(text, &raw)
	if err == nil {
		return "", 0, 0
	}
	at := 0
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		at = max(0, int(syntax.Offset)-1)
	}
	line, column = position(text, at)
	return err.Error(), line, column
}

// invalid is the offset of the first byte that is not UTF-8; negative when there is none.
func invalid(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// position is the line and the column of a byte, in characters, from 1.
func position(text []byte, at int) (line, column int) {
	before := text[:min(at, len(text))]
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}
