package tmux

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	wordsHistory = 1000    // lines above the screen that are looked through
	wordsLine    = 200     // runes of a line
	wordsBytes   = 4 << 10 // of all lines together
)

// LastWords gives the last lines of a pane ("%3") that are not empty, the history included, parted by newlines.
// It is made for a dead pane: the line that tmux itself wrote there is left out.
//
// A line that the screen broke is whole again. Escape sequences and control characters are removed,
// long lines are cut, and of too many words the first are dropped. A program that said nothing has "".
// It is what tmux has kept: of a program that ends right after its words, tmux now and then misses the last.
func (s *Server) LastWords(ctx context.Context, paneID string, lines int) (string, error) {
	screen, err := s.capture(ctx, paneID, wordsHistory, "-J")
	if err != nil {
		return "", err
	}
	return lastWords(screen, lines), nil
}

func lastWords(screen string, lines int) string {
	screen = epitaph.ReplaceAllString(strings.TrimRight(strings.ToValidUTF8(screen, ""), " \n"), "")
	var out []string
	size := 0
	for _, line := range slices.Backward(strings.Split(screen, "\n")) {
		line = legible(line)
		if line == "" {
			continue
		}
		size += len(line) + len("\n")
		if len(out) >= lines || size > wordsBytes {
			break
		}
		out = append(out, line)
	}
	slices.Reverse(out)
	return strings.Join(out, "\n")
}

// epitaph is what tmux writes at the bottom of a dead pane, as its own remain-on-exit-format has it.
// tmux holds it for the rest of the line above it, so it does not always begin one.
var epitaph = regexp.MustCompile(`Pane is dead( \([^()\n]*\))?$`)

// escape is a sequence that moves, colours or names something, and at worst types something: to its end, if it has one.
var escape = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]?|[]PX^_][^\x07\x1b]*(\x07|\x1b\\)?|[ -/]*[0-~]?)`)

// legible keeps what a person can read: no control characters, and none of those that turn the text around.
func legible(line string) string {
	line = strings.ReplaceAll(escape.ReplaceAllString(line, ""), "\t", " ")
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, line)
	line = strings.TrimRight(line, " ")
	if runes := []rune(line); len(runes) > wordsLine {
		return string(runes[:wordsLine-1]) + "…"
	}
	return line
}

// mostCaptured is how many panes one call of tmux captures: the words of a call may have 16 KB.
const mostCaptured = 100

// Screens gives the visible screens of panes ("%3") with one call for each hundred, by the panes' ids. Those of panes
// that are gone, and of panes after one that is gone, are missing.
func (s *Server) Screens(ctx context.Context, panes []string) (map[string]string, error) {
	out := make(map[string]string, len(panes))
	for some := range slices.Chunk(panes, mostCaptured) {
		if err := s.screens(ctx, some, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// screens adds the visible screens of panes.
func (s *Server) screens(ctx context.Context, panes []string, to map[string]string) error {
	mark := "screen-" + rand.Text() + "-" // no program can know it
	var words []string
	for _, pane := range panes {
		if err := checkID('%', pane); err != nil {
			return err
		}
		words = append(words, "display-message", "-p", mark+pane[1:], ";", "capture-pane", "-p", "-t", pane, ";")
	}
	res, err := s.ask(ctx, append(words, "display-message", "-p", mark)...)
	if err != nil && !errors.Is(asEnded(err), ErrEnded) {
		return fmt.Errorf("capture %d panes: %w", len(panes), err)
	}
	parts := strings.Split(string(res.Stdout), mark)
	for i := 1; i+1 < len(parts); i++ { // what follows the last mark is not whole
		if id, screen, found := strings.Cut(parts[i], "\n"); found {
			to["%"+id] = trimScreen(screen)
		}
	}
	return nil
}
