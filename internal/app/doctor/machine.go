package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"orange/internal/api/socket"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// pauses tells of hosts of pull requests that the monitor leaves alone for a while.
func (d *Doctor) pauses(_ context.Context, r report, _ *view) error {
	all, err := d.Setup.ForgePauses()
	for _, one := range all {
		if one.Holds(d.Now()) {
			r.warn(one.Host, fmt.Sprintf("pull requests are not looked at before %s: %s",
				one.Until.UTC().Format(time.RFC3339), one.Why), "wait until then; everything else goes on")
		}
	}
	return err
}

// Oldest versions that serve: tmux 3.2 tells how a program ended and runs what is written in its configuration here,
// and git 2.38 merges without a checkout.
const (
	leastTmux = "3.2"
	leastGit  = "2.38"
)

func (d *Doctor) tmux(ctx context.Context, r report, _ *view) error {
	serves := d.program(ctx, r, "tmux", leastTmux, "-V")
	if err := d.Windows.Ready(ctx); err != nil && serves {
		r.problem("socket", err.Error(), "mend that: no agent can start without it")
	}
	return nil
}

func (d *Doctor) git(ctx context.Context, r report, _ *view) error {
	d.program(ctx, r, "git", leastGit, "--version")
	return nil
}

// monitor tells of a server that does not watch: no other process can while it is there.
func (d *Doctor) monitor(ctx context.Context, r report, _ *view) error {
	h, err := d.Server(ctx)
	if errors.Is(err, socket.ErrNoServer) {
		return nil // that no process watches is no fault
	}
	if err != nil {
		r.warn("server", err.Error(), "")
		return nil
	}
	watch := "does not watch over the agents"
	if !h.Heard.IsZero() {
		watch = "watches over the agents"
	}
	if found, advice := h.Trouble(d.Now()); found != "" {
		r.warn("server", found, advice)
	}
	r.orOK("server", "process %d %s", h.PID, watch)
	return nil
}

// program checks that a program is there that nothing goes without, and is new enough. It reports whether it may be.
func (d *Doctor) program(ctx context.Context, r report, name, least string, args ...string) bool {
	said, err := d.Machine.Version(ctx, name, args...)
	install := fmt.Sprintf("install %s %s or newer", name, least)
	found := fmt.Sprintf("found the version %q, expected %s or newer", said, least)
	enough, known := atLeast(said, least)
	switch {
	case errors.Is(err, task.ErrNotFound):
		r.problem(name, "it is not installed", install)
	case err != nil:
		r.blind(name, err)
	case !known:
		r.warn(name, found, "make sure that it is new enough")
		return true
	case !enough:
		r.problem(name, found, install)
	default:
		r.ok(name, "%s", said)
		return true
	}
	return false
}

var versionNumber = regexp.MustCompile(`(\d+)\.(\d+)`)

// atLeast compares the first number with a point in each text. A development build that has none is not known.
func atLeast(said, least string) (enough, known bool) {
	have, want := versionNumber.FindStringSubmatch(said), versionNumber.FindStringSubmatch(least)
	if have == nil || want == nil {
		return false, false
	}
	for i := 1; i <= 2; i++ {
		h, errHave := strconv.Atoi(have[i])
		w, errWant := strconv.Atoi(want[i])
		if errHave != nil || errWant != nil {
			return false, false
		}
		if h != w {
			return h > w, true
		}
	}
	return true, true
}

func (d *Doctor) gh(ctx context.Context, r report, _ *view) error {
	said, err := d.Machine.Version(ctx, "gh", "--version")
	switch {
	case errors.Is(err, task.ErrNotFound):
		r.warn("gh", "it is not installed", "install it if you want pull requests; everything else works without it")
	case err != nil:
		r.warn("gh", "could not look: "+err.Error(),
			"run gh --version yourself; everything but pull requests works without it")
	default:
		r.ok("gh", "%s", said)
	}
	return nil
}

const (
	littleSpace = 1 << 30
	noSpace     = 100 << 20
)

func (d *Doctor) space(_ context.Context, r report, _ *view) error {
	free, err := d.Machine.Space(d.Home)
	if err != nil {
		return err
	}
	found := fmt.Sprintf("%d MB are free", free>>20)
	switch {
	case free < noSpace:
		r.problem(d.Home, found, "make room: the record cannot be written without any")
	case free < littleSpace:
		r.warn(d.Home, found, "make room: worktrees and the record grow")
	}
	r.orOK(d.Home, "%s", found)
	return nil
}

// LocalMachine is the computer that this program runs on.
type LocalMachine struct{ proc.System }

// Version is the first line that a program says of itself; task.ErrNotFound where there is no such program.
func (m LocalMachine) Version(ctx context.Context, program string, args ...string) (string, error) {
	if _, err := m.FindProgram(program, proc.Getenv(ctx, "PATH")); err != nil {
		return "", task.Notef(task.ErrNotFound, "there is no program %q on PATH", program)
	}
	const enough = 4 * time.Second
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	res, err := proc.Run(ctx, proc.Command{Name: program, Args: args, Watched: filepath.Base(program),
		Whole: proc.Every,
		Env:   []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"}}) // git reads them even for that
	first, _, _ := strings.Cut(res.Text(), "\n")
	return first, err
}

// Space is how many bytes may still be written at a path.
func (LocalMachine) Space(path string) (uint64, error) {
	return proc.Space(path)
}
