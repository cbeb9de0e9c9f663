package document

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxSize is the size in bytes up to which a document is read. A larger one is no evidence: a person is asked to make
// it smaller.
const MaxSize = 2 << 20

// ErrTooLarge says that a document, or a file next to it, has more bytes than are read of it.
var ErrTooLarge = errors.New("it is too large")

// mostSearched is how many bytes of a larger document are searched for its largest section.
const mostSearched = 64 << 20

// LargestSection says, as a part of a sentence, what takes most of a document that is too large to be read. It looks
// for lines that begin with "## " outside of code fences, and no further: it has to be quick.
func LargestSection(document io.Reader) string {
	const buffer = 64 << 10
	lines := bufio.NewReaderSize(io.LimitReader(document, mostSearched), buffer)
	var name, largest []byte
	size, most, whole := 0, 0, 0
	fence, begins := byte(0), true
	for {
		piece, goesOn, err := lines.ReadLine()
		if err != nil {
			break // nothing is left, or it cannot be read: what was seen is said
		}
		if begins {
			fence = fenceBehind(fence, piece)
			if fence == 0 && (bytes.HasPrefix(piece, []byte("## ")) || bytes.HasPrefix(piece, []byte("##\t"))) {
				name, size = bytes.Clone(piece), 0
			}
		}
		length := len(piece)
		if begins = !goesOn; begins {
			length++
		}
		size, whole = size+length, whole+length
		if size > most {
			largest, most = name, size
		}
	}
	found := fmt.Sprintf("its largest section, %s, has %s", QuoteHeading(shorten(string(largest))), sizeOf(most))
	if largest == nil {
		found = sizeOf(most) + " of it are above its first section"
	}
	if whole >= mostSearched {
		found = fmt.Sprintf("in its first %d MiB, %s", mostSearched>>20, found)
	}
	return found
}

func sizeOf(bytes int) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

// fenceBehind is the character of the code fence that is open behind a line, by what was open before; 0 is none.
func fenceBehind(open byte, line []byte) byte {
	line = bytes.TrimLeft(line, " ")
	if !bytes.HasPrefix(line, []byte("```")) && !bytes.HasPrefix(line, []byte("~~~")) || open != 0 && line[0] != open {
		return open
	}
	if open != 0 {
		return 0
	}
	return line[0]
}
