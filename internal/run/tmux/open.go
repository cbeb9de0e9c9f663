package tmux

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/run/proc"
)

// usual are the terminal types that are taken where the machine does not know the person's own.
func usual() []string { return []string{"xterm-256color", "xterm", "vt100"} }

// asText is a text as tmux takes it that expands formats and times.
func asText() *strings.Replacer { return strings.NewReplacer("#", "##", "%", "%%") }

// Open runs what Attach answers, until the person leaves the window. Where this machine has no description of the type
// of their terminal, it takes a usual one, and tells them so in a line, which the window shows for a while, too.
func Open(ctx context.Context, attach proc.Command, tell func(line string)) error {
	unknown, err := open(ctx, attach)
	if !unknown {
		return err
	}
	own := ""
	for _, pair := range attach.Env {
		if kind, is := strings.CutPrefix(pair, "TERM="); is {
			own = kind
		}
	}
	for _, kind := range usual() {
		if kind == own {
			continue
		}
		line := fmt.Sprintf("no terminfo here for %q: taking %q", own, kind)
		tell(line)
		other := attach
		other.Args = append(slices.Clip(attach.Args), ";", "display-message", "-d", "5000", asText().Replace(line))
		other.Env = append(slices.Clip(attach.Env), "TERM="+kind) // the last one counts
		if unknown, err = open(ctx, other); !unknown {
			return err
		}
	}
	return fmt.Errorf("cannot open the window: this machine has no terminfo for a terminal of the type %q, nor for "+
		"%s; install one, or set TERM to a type that it has", own, strings.Join(usual(), ", "))
}

// open reports whether tmux refused because the machine does not know the terminal type.
func open(ctx context.Context, attach proc.Command) (unknown bool, err error) {
	var said bytes.Buffer
	attach.Stderr = &said
	err = proc.Interactive(ctx, attach)
	text := strings.TrimSpace(said.String())
	if err != nil && ctx.Err() == nil && text != "" {
		err = fmt.Errorf("cannot open the window: tmux: %s", text)
	}
	return err != nil && strings.Contains(text, "missing or unsuitable terminal"), err
}
