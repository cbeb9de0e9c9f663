package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

// usualLine is the line of config.yml that names the usual harness.
var usualLine = regexp.MustCompile(`(?m)^harness:.*$`)

// UsualHarness is the harness that config.yml names; empty where it names none.
func (h *Home) UsualHarness() (string, error) {
	c, err := h.Config()
	return c.Harness, err
}

// SetUsualHarness writes the usual harness into config.yml, and answers the file. All else in it stays as it is.
func (h *Home) SetUsualHarness(ctx context.Context, name string) (file string, err error) {
	if _, err := h.Harness(name); err != nil {
		return "", err
	}
	release, err := mirror.Files{Home: h.Dir}.Lock(ctx, "config")
	if err != nil {
		return "", err
	}
	defer release()
	file = filepath.Join(h.Dir, "config.yml")
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a link into a person's own files stays one
	}
	if _, err := h.Config(); err != nil {
		return "", err
	}
	text, err := proc.ReadSettings(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read %q: %w", file, err)
	}
	line := "harness: " + name
	switch {
	case usualLine.Match(text):
		text = usualLine.ReplaceAllLiteral(text, []byte(line))
	default:
		text = append([]byte(line+"\n"), text...)
	}
	if err := proc.ReplaceFile(file, text); err != nil {
		return "", fmt.Errorf("write %q: %w", file, err)
	}
	_, err = h.Config()
	return file, err
}
