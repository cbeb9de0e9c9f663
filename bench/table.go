package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// row is one line of the table.
type row struct {
	What    string
	Ours    string
	Against string
	Ratio   string // with the middle half of the pairs, where there are pairs
	Goal    string
	Verdict verdict
}

type verdict string

const (
	met         verdict = "met"
	missed      verdict = "missed"
	aside       verdict = "" // has no goal
	notMeasured verdict = "not measured"
)

// judge is met where a figure is within its goal.
func judge(figure, most float64) verdict {
	if figure <= most {
		return met
	}
	return missed
}

// absent is the row of what this machine cannot measure.
func absent(what, goal string, why error) row {
	return row{What: what, Ours: "not measured: " + firstLine(why.Error()), Goal: goal, Verdict: notMeasured}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func heads() []string { return []string{"what", "ours", "against", "ratio", "goal", ""} }

func (r row) cells() []string {
	return []string{r.What, r.Ours, r.Against, r.Ratio, r.Goal, string(r.Verdict)}
}

// print writes the rows as a table of Markdown with aligned columns.
func printTable(w io.Writer, rows []row) {
	lines := [][]string{heads()}
	for _, r := range rows {
		lines = append(lines, r.cells())
	}
	widths := make([]int, len(heads()))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	rule := make([]string, len(heads()))
	for i, width := range widths {
		rule[i] = strings.Repeat("-", max(3, width))
	}
	for _, cells := range slices.Insert(lines, 1, rule) {
		for i, cell := range cells {
			fmt.Fprintf(w, "| %s%s ", cell, strings.Repeat(" ", max(0, max(3, widths[i])-len([]rune(cell)))))
		}
		fmt.Fprintln(w, "|")
	}
}

// Between these lines the page has what was measured last; the rest of it people write.
const (
	beginMark = "<!-- measured: make bench writes what follows -->"
	endMark   = "<!-- end of what make bench writes -->"
)

// replace puts a text between the marks of a page.
func replace(path, text string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(page), beginMark)
	_, after, closed := strings.Cut(rest, endMark)
	if !found || !closed {
		return fmt.Errorf("%s: expected the lines %q and %q", path, beginMark, endMark)
	}
	return os.WriteFile(path, []byte(before+beginMark+"\n\n"+text+"\n"+endMark+after), 0o644)
}
