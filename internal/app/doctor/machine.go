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

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Oldest versions that serve: tmux 3.2 tells how a program ended and runs what is written in its configuration here,
// and git 2.38 merges without a checkout.
// pauses tells of hosts of pull requests that the monitor leaves alone for a while.
func (d *Doctor) pauses(context.Context) []finding {
	if d.Pauses == nil {
		return nil
	}
	all, err := d.Pauses()
	if err != nil {
		return []finding{blind(checkGH, "pull requests", err)}
	}
	var out []finding
	for _, one := range all {
		if one.Holds(d.Now()) {
			out = append(out, warning(checkGH, one.Host, fmt.Sprintf("pull requests are not looked at before %s: %s",
				one.Until.UTC().Format(time.RFC3339), one.Why), "wait until then; everything else goes on"))
		}
	}
	return out
}

const (
	leastTmux = "3.2"
	leastGit  = "2.38"
)

func (d *Doctor) tmux(ctx context.Context) []finding {
	found := d.program(ctx, checkTmux, leastTmux, "-V")
	if err := d.Terminal(); err != nil && found[0].Level != record.LevelProblem {
		found = append(found, problem(checkTmux, "socket", err.Error(), "mend that: no agent can start without it"))
	}
	return found
}

func (d *Doctor) git(ctx context.Context) []finding {
	return d.program(ctx, checkGit, leastGit, "--version")
}

// monitor tells of a process that has the lease of the monitor: no other one can watch while it does not.
func (d *Doctor) monitor(context.Context) []finding {
	holder := d.Watcher()
	if holder.PID == 0 {
		return nil // that no process watches is no fault
	}
	if found, advice := holder.Trouble(d.Now()); found != "" {
		return []finding{warning(checkMonitor, "lease", found, advice)}
	}
	return []finding{ok(checkMonitor, "lease", "process %s watches over the agents", holder.Name())}
}

// program checks that a program is there that nothing goes without, and is new enough.
func (d *Doctor) program(ctx context.Context, name, least string, args ...string) []finding {
	said, err := d.Machine.Version(ctx, name, args...)
	install := fmt.Sprintf("install %s %s or newer", name, least)
	if errors.Is(err, task.ErrNotFound) {
		return []finding{problem(name, name, "it is not installed", install)}
	}
	if err != nil {
		return []finding{blind(name, name, err)}
	}
	enough, known := atLeast(said, least)
	switch {
	case !known:
		return []finding{
			warning(name, name, fmt.Sprintf("found the version %q, expected %s or newer", said, least),
				"make sure that it is new enough")}
	case !enough:
		return []finding{
			problem(name, name, fmt.Sprintf("found the version %q, expected %s or newer", said, least), install)}
	}
	return []finding{ok(name, name, "%s", said)}
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

func (d *Doctor) gh(ctx context.Context) []finding {
	said, err := d.Machine.Version(ctx, "gh", "--version")
	switch {
	case errors.Is(err, task.ErrNotFound):
		return []finding{
			warning(checkGH, "gh", "it is not installed", "install it if you want pull requests; everything "+
				"else works without it")}
	case err != nil:
		return []finding{
			warning(checkGH, "gh", "could not look: "+err.Error(),
				"run gh --version yourself; everything but pull requests works without it")}
	}
	return []finding{ok(checkGH, "gh", "%s", said)}
}

const (
	littleSpace = 1 << 30
	noSpace     = 100 << 20
)

func (d *Doctor) space(context.Context) []finding {
	free, err := d.Machine.Space(d.Home)
	if err != nil {
		return []finding{blind(checkSpace, d.Home, err)}
	}
	found := fmt.Sprintf("%d MB are free", free>>20)
	switch {
	case free < noSpace:
		return []finding{problem(checkSpace, d.Home, found, "make room: the record cannot be written without any")}
	case free < littleSpace:
		return []finding{warning(checkSpace, d.Home, found, "make room: worktrees and the record grow")}
	}
	return []finding{ok(checkSpace, d.Home, "%s", found)}
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
