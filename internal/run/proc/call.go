package proc

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/rules/envfilter"
	"orange/internal/rules/harness"
	"orange/internal/rules/task"
)

// Call is a command line with the folder, the environment, the streams and the process of the one who asks. Main takes
// that of its own process once, a server those of others; nothing below looks at its own process.
type Call struct {
	Args []string // without the program's name
	Dir  string   // the folder that it was started in
	Lost error    // why Dir is empty: the folder may be gone
	Env  []string // the whole environment, with harness.MaskVariable
	PID  int      // the process that asks, and waits for the answer
	// Ended answers an error where that process has ended, so that another one may have its number. It is nil for this
	// process.
	Ended func() error
	Above []task.Process // the processes above that one, where they are known already; nil where they are looked up

	// Number is that of a call which a server is asked to do, by which it is known when it is made again: Again says
	// that it broke off before. It is empty where a repeat needs none, or nothing can tell what came of the first one.
	Number string
	Again  bool

	In       io.Reader
	Out, Err io.Writer
	Terminal *TTY // that of a process which asks another one; nil where In, Out and Err are this process's own
}

// TTY says which streams of a call are a terminal.
type TTY struct {
	In, Out, Err bool
	Columns      int // of the one at Out, 0 where it does not say
}

// Ancestors lists the processes above the one that asks, the parent first.
func (c Call) Ancestors() ([]task.Process, error) {
	if c.Above != nil {
		return c.Above, nil
	}
	above, err := Ancestors(c.PID)
	if c.Ended != nil && (err == nil || errors.Is(err, os.ErrPermission)) {
		err = errors.Join(err, c.Ended())
	}
	return above, err
}

// TTY says which of its streams are a terminal.
func (c Call) TTY() TTY {
	if c.Terminal != nil {
		return *c.Terminal
	}
	t := TTY{In: isTerminal(c.In), Out: isTerminal(c.Out), Err: isTerminal(c.Err)}
	if out, is := c.Out.(*os.File); is && t.Out {
		t.Columns = columnsOf(out)
	}
	return t
}

// Of is another command line of the same caller, which prints to what is no terminal.
func (c Call) Of(args []string, out, err io.Writer) Call {
	c.Args, c.Out, c.Err, c.Terminal = args, out, err, &TTY{}
	return c
}

// ThisCall is the call that started this process.
func ThisCall() Call {
	dir, err := os.Getwd()
	env := os.Environ()
	if mask, err := ownMask(); err == nil {
		env = harness.Layer(env, []string{harness.MaskVariable + "=" + mask})
	}
	return Call{Args: os.Args[1:], Dir: dir, Lost: err, Env: env, PID: os.Getpid(),
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
}

// Zone is the time zone in which the one who calls reads times, as TZ says. One that cannot be found is UTC.
func (c Call) Zone() *time.Location {
	name, set := c.LookupEnv("TZ")
	if own, ownSet := os.LookupEnv("TZ"); name == own && set == ownSet {
		return time.Local
	}
	name = strings.TrimPrefix(name, ":")
	if !set {
		name = "/etc/localtime"
	}
	zone, err := time.UTC, error(nil)
	if filepath.IsAbs(name) {
		var rules []byte
		if rules, err = ReadFile(name); err == nil {
			zone, err = time.LoadLocationFromTZData(name, rules)
		}
	} else {
		zone, err = time.LoadLocation(name)
	}
	if err != nil {
		return time.UTC
	}
	return zone
}

// Getenv is the value of a variable of the one who calls; empty where there is none.
func (c Call) Getenv(name string) string { return harness.Value(c.Env, name) }

// LookupEnv is Getenv, and tells an empty variable from one that is missing.
func (c Call) LookupEnv(name string) (value string, found bool) { return lookup(c.Env, name) }

func lookup(env []string, name string) (value string, found bool) {
	for _, pair := range env {
		if value, found = strings.CutPrefix(pair, name+"="); found {
			return value, true
		}
	}
	return "", false
}

// Environ is the environment that programs are started in, in two layers.
type Environ struct {
	Own   []string // of the one who asks, or what is kept for a task: a task that they make starts from it
	Given []string // what the person has set with orange env, which lies over it
}

// All is both layers.
func (e Environ) All() []string { return harness.Layer(e.Own, e.Given) }

type environKey struct{}

// WithEnviron is ctx with the environment of the programs that are started under it. environ is asked again for each
// of them, by several goroutines at once.
func WithEnviron(ctx context.Context, environ func() Environ) context.Context {
	return context.WithValue(ctx, environKey{}, environ)
}

// EnvironOf is the environment of ctx, without what belongs to the program that started this process or the one who
// asks. A context of no one has that of the process.
func EnvironOf(ctx context.Context) Environ {
	environ, _ := ctx.Value(environKey{}).(func() Environ)
	if environ == nil {
		return Environ{Own: envfilter.WithoutTask(os.Environ())}
	}
	e := environ()
	return Environ{Own: envfilter.WithoutTask(e.Own), Given: e.Given}
}

// Environment is the whole environment of the programs that are started under ctx.
func Environment(ctx context.Context) []string { return EnvironOf(ctx).All() }

// Getenv is the value of a variable of that environment; empty where there is none.
func Getenv(ctx context.Context, name string) string { return harness.Value(Environment(ctx), name) }

// LookupEnv is the same, and tells an empty variable from one that is missing.
func LookupEnv(ctx context.Context, name string) (value string, found bool) {
	return lookup(Environment(ctx), name)
}

// TempDir is the folder for what is there for a moment.
func TempDir(ctx context.Context) string { return cmp.Or(Getenv(ctx, "TMPDIR"), "/tmp") }

// UserHome is the folder of the person in that environment; empty where it names none.
func UserHome(ctx context.Context) string { return Getenv(ctx, "HOME") }
