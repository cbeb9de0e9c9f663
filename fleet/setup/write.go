package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/rules/yaml"
	"orange/internal/run/proc"
)

// Check refuses a setup that fleet.yml could not say.
func (s Setup) Check() error {
	_, err := Parse("fleet.yml", s.text("/"))
	return err
}

// Write replaces fleet.yml below a home. Paths below the folder of the file are written without it.
func Write(home string, s Setup) error {
	text := s.text(Dir(home))
	if _, err := Parse(Path(home), text); err != nil { // it could not be read any more
		return err
	}
	if err := os.MkdirAll(Dir(home), task.PrivateFolder); err != nil {
		return fmt.Errorf("write the setup of the fleet: %w", err)
	}
	return proc.ReplaceFile(Path(home), text)
}

func (s Setup) text(dir string) []byte {
	for _, file := range s.paths() {
		if below, err := filepath.Rel(dir, *file); err == nil && filepath.IsAbs(*file) && filepath.IsLocal(below) {
			*file = below
		}
	}
	var b strings.Builder
	b.WriteString("# \"orange-fleet join\" and \"serve --init\" write this file; comments are not kept.\n")
	for _, e := range s.entries(&yaml.Reader{}) {
		if e.text != "" {
			b.WriteString(e.Name + ": " + e.text + "\n")
		}
	}
	return []byte(b.String())
}
