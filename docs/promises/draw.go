package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// page reads docs/promises.md, and what it names.
func page(root string) ([]row, *repository, error) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "promises.md"))
	if err != nil {
		return nil, nil, fmt.Errorf("read the table of promises: %w", err)
	}
	repo, err := openRepository(root)
	return parseTable(string(text)), repo, err
}

// drawRows prints rows that tests keep, drawn by a seed, each with the commands that run these tests:
// the one who draws them breaks the program on purpose, row by row, and one of the tests must fail.
func drawRows(w io.Writer, root string, n int, seed uint64) error {
	rows, repo, err := page(root)
	if err != nil {
		return err
	}
	dice := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // these dice are to fall the same way again
	dice.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for _, r := range rows {
		if r.became != kept || n == 0 {
			continue
		}
		n--
		fmt.Fprintf(w, "%s (docs/promises.md:%d)\n", strings.Join(r.ids, " "), r.line)
		found, _ := repo.guards(r.why)
		for _, g := range found {
			fmt.Fprintf(w, "\t%s\n", g.run)
		}
	}
	return nil
}

// printLong prints the pattern that runs the long stories without which a row has no guard.
func printLong(w io.Writer, root string) error {
	rows, repo, err := page(root)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "TestLongStories/^(%s)$\n", strings.Join(repo.onlyLong(rows), "|"))
	return err
}
