// Package fleet reaches the other hosts of a fleet over ssh, and keeps which ones there are.
//
// It owns the file fleet.yml, how ssh is called, what of its answer is a reply, and the calls whose answers were lost.
// It does not own what a call may ask (answer), nor what is done with the reply (cli).
package fleet

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/api/remote"
	"orange/internal/rules/idempotency"
	"orange/internal/rules/printable"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Hosts are those of one home.
type Hosts struct {
	Home string // $ORANGE_HOME
}

// connecting is how long ssh may take to reach a host.
const connecting = "5"

// Ask asks a host one thing and waits for the reply, so long at most. The error is an answer.ErrNotReached where there
// is none: then it is not known whether a request was done.
func (f Hosts) Ask(ctx context.Context, h remote.Host, c remote.Call, most time.Duration) (remote.Reply, error) {
	if err := h.Check(); err != nil {
		return remote.Reply{}, err
	}
	text, err := c.Text()
	if err != nil {
		return remote.Reply{}, err
	}
	limited, off := context.WithTimeout(ctx, most)
	defer off()
	said, err := proc.Run(limited, proc.Command{Name: "ssh", Args: []string{"-oBatchMode=yes",
		"-oClearAllForwardings=yes", "-a", "-x", "-oConnectTimeout=" + connecting, "-oServerAliveInterval=5",
		"-oServerAliveCountMax=3", "--", h.SSH, h.Program(), "answer"}, Stdin: bytes.NewReader(text),
		Most: remote.MostOfReply})
	switch {
	case ctx.Err() != nil:
		return remote.Reply{}, ctx.Err()
	case limited.Err() != nil:
		return remote.Reply{}, notReached("no answer within %s", most)
	case said.More > 0:
		return remote.Reply{}, notReached("the reply has more than %d MB", remote.MostOfReply>>20)
	}
	reply, unread := remote.ReadReply(said.Stdout)
	if unread == nil {
		return reply, nil
	}
	failed, ended := errors.AsType[*proc.Error](err)
	switch {
	case err == nil:
		return reply, notReached("%q there did not answer: %v; does it understand %q?", h.Program(), unread,
			"orange answer")
	case !ended:
		return reply, notReached("%v", err)
	case failed.Code == 127:
		return reply, notReached("the shell of a login there does not find %q; name its path with --command: %s",
			h.Program(), words(said.Stderr))
	}
	return reply, notReached("ssh ended with status %d: %s", failed.Code, words(said.Stderr))
}

func notReached(format string, args ...any) error {
	return task.Notef(remote.ErrNotReached, format, args...)
}

// words are what a program said, in one line that can be shown.
func words(said []byte) string {
	const most = 400
	text := strings.Join(strings.Fields(string(said)), " ")
	if text == "" {
		return "it said nothing"
	}
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return printable.Line(text)
}

// Attach opens the window of an agent of a task at a host, at the person's own terminal; without run it only says how.
func (f Hosts) Attach(ctx context.Context, h remote.Host, id, role string, run bool) ([]string, error) {
	if err := errors.Join(h.Check(), idempotency.CheckID(id), remote.CheckRole(role)); err != nil {
		return nil, err
	}
	argv := []string{"ssh", "-t", "-oClearAllForwardings=yes", "-a", "-x", "-oConnectTimeout=" + connecting, "--",
		h.SSH, h.Program(), "task", "attach", id}
	if role != "" {
		argv = append(argv, "--role", role)
	}
	if !run {
		return argv, nil
	}
	return argv, proc.Interactive(ctx, proc.Command{Name: argv[0], Args: argv[1:]})
}

func (f Hosts) folder() string { return filepath.Join(f.Home, "fleet") }

// Hello is what this host says of itself. What it cannot find out of a project it says there.
func (f Hosts) Hello(ctx context.Context, version string, projects []task.Project) (remote.Hello, error) {
	home, err := f.homeID()
	if err != nil {
		return remote.Hello{}, err
	}
	h := remote.Hello{Version: version, V: remote.Version, Home: home, Now: time.Now().UTC(),
		Projects: []remote.HostProject{}}
	for _, p := range projects {
		one := remote.HostProject{Name: p.Name}
		repo := git.Repo{Path: p.Path, DefaultBranch: p.DefaultBranch}
		origin, err := repo.Origin(ctx)
		if err == nil && len(origin) > 0 {
			one.Origin = remote.Place(origin[0])
		}
		if err == nil {
			one.Root, err = repo.Root(ctx)
		}
		if err != nil {
			one.Trouble = words([]byte(err.Error()))
		}
		h.Projects = append(h.Projects, one)
	}
	return h, nil
}

// homeID names this home, so that one that is reached over two ways is known again.
func (f Hosts) homeID() (string, error) {
	path := filepath.Join(f.folder(), "home-id")
	for range 2 { // another process may make it in the same moment
		text, err := proc.ReadFile(path)
		if err == nil {
			return strings.TrimSpace(string(text)), nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("read which home this is: %w", err)
		}
		if err := os.MkdirAll(f.folder(), task.PrivateFolder); err != nil {
			return "", fmt.Errorf("note which home this is: %w", err)
		}
		file, err := proc.OpenFile(path+"."+rand.Text(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, task.PrivateFile)
		if err != nil {
			return "", fmt.Errorf("note which home this is: %w", err)
		}
		_, err = file.WriteString(rand.Text() + "\n")
		err = errors.Join(err, file.Close())
		if err == nil { // the first one counts: a link replaces nothing
			if err = os.Link(file.Name(), path); errors.Is(err, os.ErrExist) {
				err = nil
			}
		}
		if err = errors.Join(err, os.Remove(file.Name())); err != nil {
			return "", fmt.Errorf("note which home this is: %w", err)
		}
	}
	text, err := proc.ReadFile(path)
	return strings.TrimSpace(string(text)), err
}

func (f Hosts) pendingPath(key string) (string, error) {
	if err := idempotency.Check(key); err != nil || strings.HasPrefix(key, ".") {
		return "", errors.Join(err, task.Notef(task.ErrUsage, "cannot keep a request under the key %q", key))
	}
	return filepath.Join(f.folder(), "asked", key+".json"), nil
}

// Keep keeps a call whose answer was lost, so that it can be asked again under its key.
func (f Hosts) Keep(key string, p remote.Pending) error {
	path, err := f.pendingPath(key)
	if err != nil {
		return err
	}
	if err := proc.ReplaceJSON(path, p); err != nil {
		return fmt.Errorf("keep the request %s: %w", key, err)
	}
	return nil
}

// Kept is the call that was kept under a key.
func (f Hosts) Kept(key string) (remote.Pending, error) {
	var p remote.Pending
	path, err := f.pendingPath(key)
	if err != nil {
		return p, err
	}
	err = proc.ReadJSON(path, &p)
	if errors.Is(err, os.ErrNotExist) {
		return p, task.Notef(task.ErrNotFound, "there is no request %q whose answer was lost: each one that was "+
			"answered is in the history of its task", key)
	}
	if err != nil {
		return p, fmt.Errorf("read the request %s: %w", key, err)
	}
	return p, nil
}

// Drop forgets the call that was kept under a key.
func (f Hosts) Drop(key string) error {
	path, err := f.pendingPath(key)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget the request %s: %w", key, err)
	}
	return nil
}
