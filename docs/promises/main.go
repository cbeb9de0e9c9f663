// Command promises lists what the documents that Orange was built from may promise, and holds docs/promises.md
// against that list.
//
// It is a tool of the repository and no part of the program. It owns the list in testdata/list.txt: an id, a
// kind, a line and a digest for each heading, row, item, sentence and line of code of the documents, whose text
// stays where it is. It decides nothing about what became of a promise: docs/promises.md says that, and
// docs/conformance.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const listFile = "docs/promises/testdata/list.txt"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("promises", flag.ContinueOnError)
	folder := flags.String("list", "", "read the documents of this `FOLDER` and write "+listFile)
	show := flags.String("show", "", "print what the documents of this `FOLDER` say, with the ids")
	draw := flags.Int("draw", 0, "draw `N` rows of docs/promises.md that tests keep, with the commands that "+
		"run these tests")
	seed := flags.Uint64("seed", 1, "the dice of -draw")
	long := flags.Bool("long", false, "print the long stories that alone keep a row, as a pattern for go test")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *folder != "":
		found, err := readDocuments(*folder)
		if err != nil {
			return err
		}
		return os.WriteFile(listFile, []byte(printList(found)), 0o644)
	case *show != "":
		found, err := readDocuments(*show)
		for _, p := range found {
			fmt.Printf("%s\t%s\t%s\n", p.id, p.kind, p.text)
		}
		return err
	case *draw > 0:
		return drawRows(os.Stdout, ".", *draw, *seed)
	case *long:
		return printLong(os.Stdout, ".")
	}
	flags.Usage()
	return fmt.Errorf("cannot do anything without one of these flags")
}

var documentName = regexp.MustCompile(`^(\d{3})_.*\.txt$`)

// readDocuments reads every document of a folder: NNN_*.txt, in order.
func readDocuments(folder string) ([]promise, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the documents: %w", err)
	}
	var out []promise
	for _, e := range entries {
		match := documentName.FindStringSubmatch(e.Name())
		if match == nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read a document: %w", err)
		}
		out = append(out, promisesOf(match[1], string(text))...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf(
			"cannot list promises: found no file NNN_*.txt in %q; name the folder of the documents", folder)
	}
	return out, nil
}

// printList is the committed form: everything but the text.
func printList(all []promise) string {
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "%s %s %d %s\n", p.id, p.kind, p.line, p.digest)
	}
	return b.String()
}
