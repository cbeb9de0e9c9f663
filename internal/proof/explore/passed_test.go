package explore_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/guarantee"
)

// Each file says by hand, in its first comment, what its table is.
func TestTheTable_saysWhatEveryWayHasPassed(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "testdata/passed/*.yml") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(text)) {
				line = strings.TrimRight(line, "\n")
				said, is := strings.CutPrefix(line, "#   ")
				if !strings.HasPrefix(line, "#") {
					break
				}
				if is {
					want = append(want, said)
				}
			}
			r := explore.Check(load(t, file), explore.Most)
			got := guarantee.Tell(r.Passed)
			for i := range got {
				got[i] = strings.TrimRight(got[i], " ")
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// What the workflow of docs/workflow-file.md guarantees at the end, and what each change of it leads around. The page
// has some of the changes.
func TestTheTablesOfTheManual_areWhatTheCheckFinds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/workflow-file.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, there := strings.Cut(string(text), "\n## What is guaranteed at the end\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := strings.Split(section, "```")
	if !there || len(blocks) != 5 {
		t.Fatalf("found %d blocks, want a workflow and its table", len(blocks))
	}
	whole := strings.TrimPrefix(blocks[1], "yaml\n")
	table := func(text string) []string {
		lines := guarantee.Tell(explore.Check(parseText(t, text), explore.Most).Passed)
		for i, line := range lines {
			line, _, _ = strings.Cut(line, "  line ")
			lines[i] = strings.TrimSpace(line)
		}
		return lines
	}
	usual := table(whole)
	var want []string
	for line := range strings.Lines(strings.TrimSpace(blocks[3])) {
		want = append(want, strings.TrimSpace(line))
	}
	if !slices.Equal(usual, want) {
		t.Errorf("the workflow has %q, want %q", usual, want)
	}
	around, err := os.ReadFile("testdata/ways-around.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(blocks[4]) {
		if strings.HasPrefix(line, "| ") && !strings.Contains(string(around), line) {
			t.Errorf("testdata/ways-around.txt has no row %s", line)
		}
	}
	changes := 0
	for line := range strings.Lines(string(around)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		changes++
		from, to := strings.Trim(cells[1], "`"), strings.Trim(cells[2], "`")
		if strings.Count(whole, from) != 1 {
			t.Errorf("the workflow has %q %d times", from, strings.Count(whole, from))
		}
		var new []string
		for _, line := range table(strings.Replace(whole, from, to, 1)) {
			if !slices.Contains(usual, line) && !strings.Contains(line, "  always  ") {
				new = append(new, "`"+line+"`")
			}
		}
		if len(new) == 0 {
			new = []string{"nothing else"}
		}
		if got := strings.Join(new, "<br>"); got != strings.TrimSuffix(cells[3], " |") {
			t.Errorf("%s:\nfound %s\nwant  %s", cells[0], got, cells[3])
		}
	}
	if changes != 10 {
		t.Errorf("found %d changes", changes)
	}
}
