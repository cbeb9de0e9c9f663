package tmux

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Texts are kept in named buffers of the server: apart from every session, in no file, and shown by no argument.
const (
	bufferPrefix = "orange-"

	// optionKept lists the names of what is kept, each in angle brackets. A format of tmux cannot ask for
	// buffers, and the server must decide by itself, in one call, whether it may end: between a look and an
	// answer someone else may keep something.
	optionKept = "@orange_kept"
)

// Keep keeps a text in the server's memory under a name, in the place of an earlier one, and starts the server
// where there is none. The text may hold anything, and be of any length but none. The server lives on while it
// keeps something, with sessions or without.
func (s *Server) Keep(ctx context.Context, name string, text []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	if len(text) == 0 {
		return fmt.Errorf("cannot keep %q in tmux: it is empty", name)
	}
	// Without its configuration the server would run, and forget every agent that ends.
	if _, err := os.Stat(s.Config); err != nil {
		return fmt.Errorf("look for the configuration of tmux: %w", err)
	}
	for try := 1; ; try++ {
		_, err := s.start(ctx, text, "start-server",
			";", "load-buffer", "-b", bufferPrefix+name, "-",
			";", "set-option", "-s", "exit-empty", "off",
			";", "set-option", "-sF", optionKept, without(name)+"<"+name+">")
		switch {
		case err == nil:
			return nil
		case try == startTries || !isLost(err) && !noServer(err):
			return fmt.Errorf("keep %q in tmux: %w", name, err)
		}
	}
}

// Kept reads a text that is kept. Where there is none, or no server, it answers nil.
func (s *Server) Kept(ctx context.Context, name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	res, err := s.ask(ctx, "save-buffer", "-b", bufferPrefix+name, "-")
	if noServer(err) || noBuffer(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %q from tmux: %w", name, err)
	}
	return res.Stdout, nil
}

// Drop forgets a text. Without a session and without another text that is kept, the server ends.
// One that is not kept, and no server running, are no errors.
func (s *Server) Drop(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	// The buffer goes last: a command that fails ends the call, and the buffer may be gone already.
	_, err := s.act(ctx, "set-option", "-sF", optionKept, without(name),
		";", "if-shell", "-F", "#{==:#{"+optionKept+"},}", "set-option -s exit-empty on",
		";", "delete-buffer", "-b", bufferPrefix+name)
	if err != nil && !noServer(err) && !noBuffer(err) {
		return fmt.Errorf("drop %q from tmux: %w", name, err)
	}
	return nil
}

// KeptNames lists the names of what is kept. No server running is (nil, nil).
func (s *Server) KeptNames(ctx context.Context) ([]string, error) {
	res, err := s.ask(ctx, "list-buffers", "-F", "#{buffer_name}")
	if noServer(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list what tmux keeps: %w", err)
	}
	var out []string
	for line := range strings.Lines(string(res.Stdout)) {
		if name, ours := strings.CutPrefix(strings.TrimSpace(line), bufferPrefix); ours && checkName(name) == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// without is the list of what is kept, as a format, with a name taken out of it.
func without(name string) string { return "#{s/<" + name + ">//:" + optionKept + "}" }

// checkName refuses what a format or a target would read as more than a name.
func checkName(name string) error {
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
		return fmt.Errorf("cannot use %q as the name of a text that tmux keeps: letters and digits are expected", name)
	}
	return nil
}

func noBuffer(err error) bool {
	text := complaintOf(err)
	return strings.HasPrefix(text, "no buffer ") || strings.HasPrefix(text, "unknown buffer: ")
}
