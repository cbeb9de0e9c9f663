package main_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// filterWord makes the test binary a filter of git that lives as long as its git, as Git LFS is one:
// filter.NAME.process.
const filterWord = "filter-process"

// filter keeps the text of files aside in a folder, and leaves their names to git. While it runs a file of its
// process is there.
func filter(dir string) int {
	alive := filepath.Join(dir, "process-"+strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(alive, nil, 0o600); err != nil {
		return 1
	}
	defer func() { _ = os.Remove(alive) }() // who looks finds it where this went wrong
	f := fatFilter{dir: dir, in: bufio.NewReader(os.Stdin), out: bufio.NewWriter(os.Stdout)}
	if err := f.serve(); err != nil {
		fmt.Fprintln(os.Stderr, "filter:", err)
		return 1
	}
	return 0
}

type fatFilter struct {
	dir string
	in  *bufio.Reader
	out *bufio.Writer
}

func (f fatFilter) serve() error {
	for _, said := range [][]string{{"git-filter-server", "version=2"}, {"capability=clean", "capability=smudge"}} {
		if _, err := f.packets(); err != nil {
			return err
		}
		if err := f.answer(said...); err != nil {
			return err
		}
	}
	for {
		asked, err := f.packets()
		if errors.Is(err, io.EOF) {
			return nil // git has ended
		}
		if err != nil {
			return err
		}
		content, err := f.packets()
		if err != nil {
			return err
		}
		text := strings.Join(content, "")
		if slices.Contains(asked, "command=clean\n") {
			text, err = f.clean(text)
		} else {
			text, err = f.smudge(text)
		}
		if err != nil {
			return err
		}
		for _, said := range [][]string{{"status=success"}, {text}, nil} {
			if err := f.answer(said...); err != nil {
				return err
			}
		}
	}
}

// packets are the packets up to the next flush.
func (f fatFilter) packets() ([]string, error) {
	var all []string
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(f.in, head); err != nil {
			return nil, err
		}
		size, err := strconv.ParseUint(string(head), 16, 16)
		if err != nil || size == 0 {
			return all, err
		}
		body := make([]byte, size-4)
		if _, err := io.ReadFull(f.in, body); err != nil {
			return nil, err
		}
		all = append(all, string(body))
	}
}

// answer writes packets and a flush. The files of the stories fit into one.
func (f fatFilter) answer(packets ...string) error {
	for _, p := range packets {
		if p != "" {
			fmt.Fprintf(f.out, "%04x%s", len(p)+4, p)
		}
	}
	fmt.Fprint(f.out, "0000")
	return f.out.Flush()
}

func (f fatFilter) clean(text string) (string, error) {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
	name := hex.EncodeToString(sum[:])
	return "fat " + name + "\n", os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600)
}

func (f fatFilter) smudge(text string) (string, error) {
	name, kept := strings.CutPrefix(text, "fat ")
	if !kept {
		return text, nil
	}
	whole, err := os.ReadFile(filepath.Join(f.dir, strings.TrimSpace(name)))
	return string(whole), err
}
