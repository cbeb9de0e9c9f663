package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/rules/diff"
	"orange/internal/rules/printable"
)

func taskDiff(p *Program) *cobra.Command {
	var stat, since bool
	c := &cobra.Command{
		Use: "diff [ID]", Short: "Show what a task's branch changes", Args: between(0, 1),
		Long: `Show what a task's branch changes since it left the default branch: the list of files, and every
line. What is not committed yet is in it as long as the task has a workspace; new files that no one
added are only named. It has colours at a terminal and none elsewhere; what a terminal would obey is
written out as \x1b. With --since-review it shows only what changed since another commit was judged:
by a verdict, or by a person who asked for changes.`,
		Example: "  orange task diff 4Fz\n  orange task diff 4Fz --stat\n  orange task diff 4Fz --since-review",
		RunE: p.runFound(func(ctx context.Context, h *Services, id string) error {
			t, _, err := h.Queries.Pinned(ctx, id)
			if err != nil {
				return err
			}
			patch, err := h.Queries.Patch(ctx, t, since)
			if err != nil {
				return err
			}
			if since && patch.Last == "" {
				p.warn("no other commit of %s was judged yet: this is all that it changes", t.Branch)
			}
			if stat {
				patch.Text, _, _ = strings.Cut(patch.Text, "\n\n")
				patch.Text = strings.TrimRight(patch.Text, "\n") + "\n"
			}
			return sayPatch(&p.printer, t.Branch, patch)
		}),
	}
	c.Flags().BoolVar(&stat, "stat", false, "only the list of files")
	c.Flags().BoolVar(&since, "since-review", false, "only what changed since another commit was judged")
	return c
}

func sayPatch(p *printer, branch string, patch diff.Patch) error {
	if p.json {
		return p.printJSON(map[string]any{"branch": branch, "diff": patch.Text, "base": patch.Base, "from": patch.From,
			"to": patch.To, "uncommitted": patch.Loose, "judged": patch.Last, "judged_by": patch.Judged,
			"review": patch.Review})
	}
	text := patch.Text
	if strings.TrimSpace(text) == "" {
		p.warn("%s changes nothing", branch)
		return nil
	}
	if _, coloured := p.outTerminal(); !coloured {
		return p.print(text)
	}
	return p.pieces(diffPieces(text))
}

// diffPieces colours the lines of a patch. What is above its first file is the list of files.
func diffPieces(text string) []printable.Piece {
	files := diff.Parse(text).Files
	paints := map[int]printable.Paint{}
	for i := range files {
		for _, h := range files[i].Hunks {
			paints[h.At] = printable.Cyan
			for _, line := range h.Lines {
				paints[line.At] = map[diff.Kind]printable.Paint{diff.Added: printable.Green,
					diff.Removed: printable.Red}[line.Kind]
			}
		}
	}
	var out []printable.Piece
	at := 0
	for line := range strings.Lines(text) {
		at++
		paint, inHunk := paints[at]
		if !inHunk && len(files) > 0 && at >= files[0].At { // what git says of a file
			paint = printable.Bold
		}
		out = append(out, printable.Piece{Text: strings.TrimSuffix(line, "\n"), Paint: paint},
			printable.Piece{Text: "\n"})
	}
	return out
}
