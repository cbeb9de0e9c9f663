package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/printable"
	"orange/internal/rules/record"
)

func doctorCommand(p *Program) *cobra.Command {
	var fix, rebuild bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check the installation and the tasks, and repair them with --fix", Args: between(0, 0),
		Long: `Check that everything that tasks need is there, and that the record, the files, the workspaces and
the sessions agree. Without --fix Orange changes nothing. Exit status: 0 where no problem is left, 1
where one is.

--fix      repairs what it can: mirrors, windows and workspaces of tasks that are over,
           pending hooks, leftovers.
--rebuild  restores every task that has a folder and is not in the record: after orange.db was
           lost, or damaged (then it is moved aside, never deleted). What the engine owns comes
           from the verified history, the rest from the header of TASK.md.`,
		Example: "  orange doctor\n  orange doctor --fix\n  orange doctor --rebuild",
		RunE: func(c *cobra.Command, _ []string) error {
			return p.examine(c.Context(), record.Examination{Fix: fix, Rebuild: rebuild})
		},
	}
	c.Flags().BoolVar(&fix, "fix", false, "repair what can be repaired")
	c.Flags().BoolVar(&rebuild, "rebuild", false, "restore tasks that are not in the record")
	return c
}

func (p *Program) examine(ctx context.Context, asked record.Examination) error {
	far := p.progress()
	found, err := p.Examine(ctx, asked, far.tell)
	far.end()
	if err != nil {
		return err
	}
	return sayFindings(&p.printer, found)
}

// sayFindings tells what was found. A problem that is left is a failure of the command, told already.
func sayFindings(p *printer, found []record.Finding) error {
	problems, warnings := 0, 0
	for _, f := range found {
		switch f.Left() {
		case record.LevelProblem:
			problems++
		case record.LevelWarning:
			warnings++
		case record.LevelOK:
		}
	}
	if p.json {
		if err := p.printJSON(map[string]any{"findings": orEmpty(found), "ok": problems == 0}); err != nil {
			return err
		}
	} else {
		for _, f := range found {
			sayFinding(p, f)
		}
		p.say("%s, %s", count(problems, "problem"), count(warnings, "warning"))
	}
	if problems > 0 {
		return &ended{exitFailed}
	}
	return nil
}

func sayFinding(p *printer, f record.Finding) {
	mark := string(f.Level)
	if f.Mended != "" {
		mark = "mended"
	}
	head := fmt.Sprintf("%-8s %-12s ", mark, f.Check)
	first, text, _ := strings.Cut(printable.Line(f.Subject)+": "+f.Found, "\n")
	if f.Mended != "" {
		text += "\n" + f.Mended
	}
	if f.Advice != "" && f.Mended == "" {
		text += "\n" + f.Advice
	}
	p.sayBelow(len(head), "%s%s", head, first)
	if text = strings.TrimPrefix(text, "\n"); text != "" { // no further line looks like another finding
		p.sayBelow(0, "%s", inset(text, len(head)))
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
