package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orange/internal/api"
	"orange/internal/rules/printable"
)

func TestEveryCommandIsInTheDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	var forwarded []string // the page has one row for all of them
	for _, name := range api.Names(api.Host) {
		if !slices.Contains([]string{"list", "create", "snapshot"}, name) { // which have a form of their own
			forwarded = append(forwarded, "orange fleet "+name)
		}
	}
	found := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		for _, below := range c.Commands() {
			walk(below)
		}
		if c.Runnable() && !slices.Contains(forwarded, c.CommandPath()) {
			found++
			if !strings.Contains(string(text), "`"+c.CommandPath()+" ") &&
				!strings.Contains(string(text), "`"+c.CommandPath()+"`") {
				t.Errorf("docs/commands.md does not have %q", c.CommandPath())
			}
		}
	}
	walk((&Program{}).root())
	if found < 30 {
		t.Errorf("found %d commands, want at least 30", found)
	}
}

func TestEveryOptionOfTheListOfTasksIsInTheDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, row, found := strings.Cut(string(text), "| `orange task list` |")
	row, _, _ = strings.Cut(row, "\n")
	if !found {
		t.Fatal("docs/commands.md has no row for orange task list")
	}
	taskList(&Program{}).Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(row, "`--"+f.Name) {
			t.Errorf("the row of orange task list does not have --%s", f.Name)
		}
	})
}

// A help text fits into a terminal of a hundred columns, and has no character that a terminal obeys.
func TestHelpTextsAreWrapped(t *testing.T) {
	t.Parallel()
	const most = 100
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, line := range strings.Split(c.Long, "\n") {
			if n := len([]rune(line)); n > most {
				t.Errorf("%s: a line of its help has %d columns, at most %d: %s", c.CommandPath(), n, most, line)
			}
		}
		if printable.Text(c.UsageString()) != c.UsageString() {
			t.Errorf("%s: its help has control characters: %q", c.CommandPath(), c.UsageString())
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk((&Program{}).root())
}
