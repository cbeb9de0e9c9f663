package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"orange/internal/rules/history"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// read runs a command of orange that prints JSON, and reads what it printed.
func (o Orange) read(ctx context.Context, into any, group, command string, words ...string) error {
	words = append([]string{group, command, "--json"}, words...)
	out, err := proc.Run(ctx, proc.Command{Name: o.Path, Args: words, Env: o.env(), Unset: seatless(), Dir: o.Home})
	var ended *proc.Error
	if errors.As(err, &ended) {
		var said struct{ Error, Code string }
		if json.Unmarshal(out.Stdout, &said) == nil && said.Error != "" {
			if said.Code == "not_found" {
				return task.Notef(task.ErrNotFound, "%s", said.Error)
			}
			return errors.New(said.Error)
		}
	}
	if err == nil {
		err = json.Unmarshal(out.Stdout, into)
	}
	if err != nil {
		return fmt.Errorf("read what %q %q says: %w", o.Path, words, err)
	}
	return nil
}

func (o Orange) env() []string { return []string{"ORANGE_HOME=" + o.Home} }

// seatless are the variables that orange does not get: the keys of a person are not for what agents start.
func seatless() []string { return []string{"SSH_AUTH_SOCK"} }

// Repositories are the registered projects with the places of their repositories.
func (o Orange) Repositories(ctx context.Context) ([]task.Project, error) {
	var said struct {
		Projects []task.Project `json:"projects"`
	}
	err := o.read(ctx, &said, "project", "list")
	return said.Projects, err
}

// Projects are the names of the registered projects.
func (o Orange) Projects(ctx context.Context) ([]string, error) {
	all, err := o.Repositories(ctx)
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return names, err
}

// Harnesses are those whose programs are installed.
func (o Orange) Harnesses(ctx context.Context) ([]string, error) {
	var said struct {
		Harnesses []struct{ Name, Path, Problem string } `json:"harnesses"`
	}
	if err := o.read(ctx, &said, "harness", "list"); err != nil {
		return nil, err
	}
	var names []string
	for _, h := range said.Harnesses {
		if h.Path != "" && h.Problem == "" {
			names = append(names, h.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Free counts the workspaces that no task has, by project.
func (o Orange) Free(ctx context.Context) (map[string]int, error) {
	var said struct {
		Workspaces []struct{ Project, Task string } `json:"workspaces"`
	}
	if err := o.read(ctx, &said, "workspace", "list", "--all"); err != nil {
		return nil, err
	}
	free := map[string]int{}
	for _, w := range said.Workspaces {
		if w.Task == "" {
			free[w.Project]++
		}
	}
	return free, nil
}

// Workflow is the digest of the text of a workflow.
func (o Orange) Workflow(ctx context.Context, name string) (string, error) {
	var said struct {
		Workflow struct{ Text, Problem string } `json:"workflow"`
	}
	if err := o.read(ctx, &said, "workflow", "show", "--", name); err != nil {
		return "", err
	}
	if said.Workflow.Problem != "" {
		return "", fmt.Errorf("cannot use the workflow %q: %s", name, said.Workflow.Problem)
	}
	sum := sha256.Sum256([]byte(said.Workflow.Text))
	return hex.EncodeToString(sum[:]), nil
}

// Space is how many bytes may still be written below the home.
func (o Orange) Space() (uint64, error) { return proc.Space(o.Home) }

// Holds reports whether a task is held for the fleet here.
func (o Orange) Holds(id string) (bool, error) {
	_, err := os.Lstat(filepath.Join(o.Home, "fleet", "held", filepath.Base(id)+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Happening is one thing that happened to a task.
type Happening struct {
	Cursor  int64          `json:"cursor"`
	Task    string         `json:"task"`
	Deleted bool           `json:"deleted"`
	Event   *history.Event `json:"event"`
}

// Follow tells of what happens to the tasks of the home, behind a cursor or from now on, until it cannot or ctx ends.
func (o Orange) Follow(ctx context.Context, since string, tell func(Happening)) error {
	return proc.Lines(ctx, proc.Command{Name: o.Path, Args: []string{"task", "watch", "--all", "--since=" + since},
		Env: o.env(), Unset: seatless(), Dir: o.Home}, func(line []byte) error {
		var h Happening
		if err := json.Unmarshal(line, &h); err != nil {
			return fmt.Errorf("read what happens to tasks: %w", err)
		}
		tell(h)
		return nil
	})
}
