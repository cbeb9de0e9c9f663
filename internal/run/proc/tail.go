package proc

import (
	"errors"
	"io"
	"sync"
	"unicode/utf8"
)

// tail keeps the end of a text of any length.
type tail struct {
	most int

	mutex sync.Mutex
	kept  []byte // up to twice as much as is wanted, so that it is seldom moved
	cut   bool
}

// drain reads to the end, or to the reader's deadline.
func (t *tail) drain(r io.Reader) error {
	const chunk = 32 << 10
	buffer := make([]byte, chunk)
	for {
		n, err := r.Read(buffer)
		t.add(buffer[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tail) add(text []byte) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.kept = append(t.kept, text...)
	if len(t.kept) > 2*t.most {
		t.shorten()
	}
}

func (t *tail) shorten() {
	if over := len(t.kept) - t.most; over > 0 {
		t.kept = t.kept[:copy(t.kept, t.kept[over:])]
		t.cut = true
	}
}

// text is the end, from one whole character to another, and whether there was more: a program that is killed
// leaves half a character.
func (t *tail) text() (string, bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.shorten()
	from := 0
	for t.cut && from < min(len(t.kept), utf8.UTFMax) && !utf8.RuneStart(t.kept[from]) {
		from++
	}
	to := len(t.kept)
	for n := 1; n < utf8.UTFMax && from <= to-n; n++ {
		if last := t.kept[to-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				to -= n
			}
			break
		}
	}
	return string(t.kept[from:to]), t.cut
}
