package app

import (
	"context"

	"orange/internal/harness"
	"orange/internal/task"
)

// hookSetup is what hooks read of the home.
type hookSetup struct{ house *house }

func (s hookSetup) Harness(name string) (*harness.Harness, error) { return s.house.home.Harness(name) }

func (s hookSetup) TaskDir(t task.Task) string { return s.house.files.Dir(t.Project, t.ID) }

func (s hookSetup) Environment(ctx context.Context, t task.Task) ([]string, error) {
	return s.house.environments.Environment(ctx, t)
}

func (s hookSetup) Document(t task.Task) ([]byte, error) {
	return s.house.files.Read(t.Project, t.ID, true)
}
