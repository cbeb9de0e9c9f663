package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"orange/internal/decide"
	"orange/internal/proc"
	"orange/internal/task"
	"orange/internal/tmux"
	"orange/internal/worktree"
)

// Actor finds out who asks. A person has a name; it is asked for here and not before, because those who only look
// need none.
func (h *house) Actor(ctx context.Context, id, as string) (task.Actor, error) {
	who, err := caller(h.dir, as)
	if err != nil {
		return task.Actor{}, err
	}
	actor, err := h.engine.Actor(ctx, id, who)
	if err == nil && actor.Role == task.RoleHuman {
		h.named.Do(func() { h.person = personName(ctx) })
		actor.Person = h.person
		return actor, nil
	}
	h.environments.LeaveAgents(ctx, cmp.Or(id, os.Getenv("ORANGE_TASK_ID")))
	return actor, err
}

// Looker finds out who looks on. Nobody is refused for not being a person.
func (h *house) Looker(ctx context.Context, id string) (task.Actor, error) {
	who, _, err := bearer("")
	if err != nil {
		return task.Actor{}, err
	}
	return h.engine.Actor(ctx, id, who)
}

// Person refuses whoever is no person what is about the whole home; what says it in words.
func (h *house) Person(ctx context.Context, what string) error {
	who, err := caller(h.dir, "")
	if err != nil {
		return err
	}
	return h.engine.Home(ctx, what, who)
}

// personWithoutRecord is Person where the record may be lost: nobody can look up there whose seat it is, and none
// is a person's.
func personWithoutRecord(dir, what string) error {
	who, err := caller(dir, "")
	if err != nil {
		return err
	}
	return decide.Home(what, who, "")
}

// bearer is the seat that whoever runs this command shows, or else the processes above it.
func bearer(as string) (task.Caller, []task.Process, error) {
	c := task.Caller{Secret: os.Getenv("ORANGE_SEAT"), As: as}
	if c.Secret != "" {
		return c, nil, nil
	}
	above, err := proc.Ancestors()
	if err != nil && !errors.Is(err, os.ErrPermission) {
		return c, nil, err
	}
	c.Above = above
	return c, above, nil
}

// caller is all that can be known of whoever runs this command on the home in dir.
func caller(dir, as string) (task.Caller, error) {
	c, above, err := bearer(as)
	if err != nil || c.Secret != "" {
		return c, err
	}
	c.Back = tmux.KeyBack
	if id := os.Getenv("ORANGE_TASK_ID"); id != "" {
		known, err := hasFolder(dir, id)                   // an agent of another home is a person like any other here
		if err != nil && !errors.Is(err, os.ErrNotExist) { // a home without that folder has no tasks
			return c, err
		}
		if known {
			c.Task = id
		}
	}
	if c.Inside, err = terminals(dir).Above(above); err != nil {
		return c, fmt.Errorf("cannot tell who asks: %w", err)
	}
	return c, nil
}

// terminals is the server whose windows the agents of a home run in.
func terminals(dir string) tmux.Server {
	return tmux.Server{Socket: tmux.SocketName(dir), Config: filepath.Join(dir, "tmux.conf")}
}

// hasFolder says whether a home has the folder of a task, be it on record or not. That there is no folder of
// tasks at all is os.ErrNotExist.
func hasFolder(dir, id string) (bool, error) {
	if id != filepath.Base(id) || !filepath.IsLocal(id) {
		return false, nil
	}
	projects, err := os.ReadDir(filepath.Join(dir, "tasks"))
	if err != nil {
		return false, fmt.Errorf("look for the task's folder: %w", err)
	}
	for _, p := range projects {
		_, err := os.Lstat(filepath.Join(dir, "tasks", p.Name(), id))
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return false, fmt.Errorf("look for the task's folder: %w", err)
		}
	}
	return false, nil
}

// namePatience bounds the question for a person's name: nobody's request waits for that.
const namePatience = 5 * time.Second

// personName is what history calls the person who runs this command: by their own configuration of git, or else
// by their login.
func personName(ctx context.Context) string {
	ctx, off := context.WithTimeout(ctx, namePatience)
	defer off()
	if name, address, err := worktree.Identity(ctx); err == nil { // else their login says enough
		if known := task.PersonName(name, address); known != "" {
			return known
		}
	}
	if login, err := user.Current(); err == nil {
		return task.PersonName(login.Username, "")
	}
	return "user " + strconv.Itoa(os.Getuid())
}
