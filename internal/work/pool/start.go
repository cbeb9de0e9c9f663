package pool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Ports are given out from these: above those of well-known services, and below those that systems give to outgoing
// connections.
const (
	firstPort = 20000
	lastPort  = 32767
)

// block is what one workspace has of the ports of this home, for one task.
type block struct {
	Task  string `json:"task"`
	First int    `json:"first"`
	Count int    `json:"count"`
}

// startIn is the folder of a worktree in which a task's programs start, and what is set for them alone.
func (p *Pool) startIn(ctx context.Context, t task.Task, wants task.WorktreeSetup,
	dir string) (start string, env []string, err error) {
	if start, err = below(dir, wants.Subdir); err != nil {
		return "", nil, err
	}
	mine, err := p.ports(ctx, t, wants.Ports)
	if err != nil || mine.Count == 0 {
		return start, nil, err
	}
	var all []string
	for n := range mine.Count {
		all = append(all, strconv.Itoa(mine.First+n))
	}
	return start, []string{"ORANGE_PORT=" + all[0], "ORANGE_PORTS=" + strings.Join(all, " ")}, nil
}

// below is a folder in a worktree, which must be there and lead nowhere else.
func below(dir, subdir string) (string, error) {
	if subdir == "" {
		return dir, nil
	}
	root, err := proc.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(subdir))
	if err == nil && !info.IsDir() {
		err = errors.New("it is no folder")
	}
	if err != nil {
		return "", fmt.Errorf("cannot start anything in the folder %q of worktree %q, which the project asks for: %w; "+
			"change that with %q", subdir, dir, err, "orange project update NAME --subdir FOLDER")
	}
	return filepath.Join(dir, filepath.FromSlash(subdir)), nil
}

// Place is where a task's programs start in its workspace, and what is set for them alone.
func (p *Pool) Place(ctx context.Context, t task.Task) (dir string, env []string, err error) {
	project, err := p.Setup.Project(t.Project)
	if err != nil {
		return "", nil, err
	}
	return p.startIn(ctx, t, project.Worktree, p.Dir(t.Workspace))
}

// ports are those of a task. It keeps them for as long as it holds its workspace, whatever becomes of the project's
// wishes; no other task that holds one has any of them.
func (p *Pool) ports(ctx context.Context, t task.Task, count int) (block, error) {
	file := filepath.Join(p.Home, "ports.json")
	if count == 0 {
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			return block{}, nil // and so it never had any
		}
	}
	release, err := p.Files.Lock(ctx, "ports")
	if err != nil {
		return block{}, err
	}
	defer release()
	all := map[string]block{}
	text, err := proc.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return block{}, fmt.Errorf("read which ports tasks have: %w; remove %q while no task runs", err, file)
	}
	if mine := all[t.Workspace]; mine.Task == t.ID || count == 0 || t.Workspace == "" {
		if mine.Task != t.ID {
			mine = block{}
		}
		return mine, nil
	}
	if err := p.freePorts(ctx, all); err != nil {
		return block{}, err
	}
	first, err := gap(all, count)
	if err != nil {
		return block{}, err
	}
	mine := block{Task: t.ID, First: first, Count: count}
	all[t.Workspace] = mine
	if text, err = json.MarshalIndent(all, "", "  "); err == nil {
		err = proc.ReplaceFile(file, append(text, '\n'))
	}
	if err != nil {
		return block{}, fmt.Errorf("note which ports the task has: %w", err)
	}
	return mine, nil
}

// freePorts takes back those of tasks that hold their workspace no more.
func (p *Pool) freePorts(ctx context.Context, all map[string]block) error {
	held, err := p.Record.Holders(ctx, "")
	if err != nil {
		return err
	}
	for workspace, one := range all {
		holds := false
		for _, h := range held {
			holds = holds || h.Workspace == workspace && h.Task == one.Task
		}
		if !holds && !strings.HasSuffix(workspace, mergeSlot) { // a merge may be checked at this moment
			delete(all, workspace)
		}
	}
	return nil
}

// gap is the first of so many ports that no one has.
func gap(all map[string]block, count int) (int, error) {
	var taken []block
	for _, one := range all {
		taken = append(taken, one)
	}
	slices.SortFunc(taken, func(a, b block) int { return cmp.Compare(a.First, b.First) })
	first := firstPort
	for _, one := range taken {
		if first+count <= one.First {
			break
		}
		first = max(first, one.First+one.Count)
	}
	if first+count-1 > lastPort {
		return 0, fmt.Errorf("cannot give a task %d ports: live tasks have those from %d to %d; finish some, or ask "+
			"for fewer with %q", count, firstPort, lastPort, "orange project update NAME --ports N")
	}
	return first, nil
}
