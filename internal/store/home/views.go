package home

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orange/internal/run/proc"
	"orange/internal/store/mirror"
)

// Signals are the signals of the dashboard that a person wants: all that config.yml does not switch off. Where it
// cannot be read they are all wanted.
func (h *Home) Signals() (bell, title, notification bool, err error) {
	c, err := h.Config()
	return !c.Quiet.Bell, !c.Quiet.Title, !c.Quiet.Notification, err
}

func (h *Home) viewsFile() string { return filepath.Join(h.Dir, "views.json") }

// views are how the dashboard was left, by project. A file that is no such thing holds nothing: it is only a habit.
func (h *Home) views() (map[string]string, error) {
	all := map[string]string{}
	text, err := proc.ReadSettings(h.viewsFile())
	if errors.Is(err, os.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read how the dashboard was left: %w", err)
	}
	if json.Unmarshal(text, &all) != nil {
		return map[string]string{}, nil
	}
	return all, nil
}

// LastView is how the dashboard of a project was left, in words; empty where that is unknown. No project means all.
func (h *Home) LastView(project string) (string, error) {
	all, err := h.views()
	return all[project], err
}

// KeepView keeps how the dashboard of a project was left.
func (h *Home) KeepView(project, words string) error {
	release, err := mirror.Files{Home: h.Dir}.Lock(context.Background(), "views")
	if err != nil {
		return err
	}
	defer release()
	all, err := h.views()
	if err != nil {
		return err
	}
	all[project] = words
	if err := proc.ReplaceJSON(h.viewsFile(), all); err != nil {
		return fmt.Errorf("keep how the dashboard was left: %w", err)
	}
	return nil
}
