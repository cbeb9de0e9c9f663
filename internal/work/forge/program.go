package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/printable"
	"orange/internal/run/proc"
)

// How long a program may take for one answer, and for opening a pull request.
const (
	patience       = 20 * time.Second
	createPatience = time.Minute
)

// Bounds of what is taken in: an answer may come from someone who means no good.
const (
	mostAnswer = 32 << 20 // bytes of one answer
	mostText   = 16 << 10 // bytes of one text in it
	mostSaid   = 2000     // bytes of a refusal that people are shown
)

// program is the program of a host, and the words that people know it by.
type program struct {
	name, site string // gh, and GitHub
	from       string // where it is had
	calls      string // the command that tells how many calls are left; empty where there is none
	env        []string
	unset      []string
	path       string        // the folders that it is looked for in; where it is empty, PATH does at that moment
	patience   time.Duration // zero is a usual time
}

func (p program) find(ctx context.Context) (string, error) {
	return proc.Find(p.name, cmp.Or(p.path, proc.Getenv(ctx, "PATH")))
}

// run runs the program in the repository. No one is there to answer a question of it.
func (p program) run(ctx context.Context, dir, stdin string, args ...string) (proc.Result, error) {
	found, err := p.find(ctx)
	if err != nil {
		return proc.Result{}, fmt.Errorf("%w; install it (%s), log in with %q, and try again", err, p.from, p.login())
	}
	most := cmp.Or(p.patience, patience)
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	out, err := proc.Run(ctx, proc.Command{
		Name: found, Args: args, Dir: dir, Stdin: strings.NewReader(stdin), Most: mostAnswer,
		Watched: filepath.Base(found), Whole: proc.Every,
		Env:   append([]string{"NO_COLOR=1", "GIT_TERMINAL_PROMPT=0"}, p.env...),
		Unset: p.unset,
	})
	var ended *proc.Error
	switch {
	case errors.As(err, &ended):
		return out, p.refusal(ended)
	case errors.Is(err, context.DeadlineExceeded):
		return out, fmt.Errorf("%s gave no answer within %s: %w; check whether %s can be reached, and try again",
			p.name, most, err, p.site)
	}
	return out, err
}

func (p program) login() string { return p.name + " auth login" }

// refusal is the program's own refusal, with what to do about those that a person meets first. What it says may come
// from far away: it is cut to a length, and fit to be shown.
func (p program) refusal(ended *proc.Error) error {
	said := strings.TrimSpace(ended.Stderr)
	if said == "" {
		said = fmt.Sprintf("it ended with status %d and said nothing", ended.Code)
	}
	if len(said) > mostSaid {
		said = strings.ToValidUTF8(said[:mostSaid], "") + "…"
	}
	said = p.name + ": " + printable.Text(strings.TrimPrefix(said, p.name+": "))
	if tooMuch(said) {
		return &Limited{Said: said, site: p.site, calls: p.calls}
	}
	return &refusal{text: said + p.advice(said), cause: ended}
}

func (p program) advice(said string) string {
	low := strings.ToLower(said)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(low, word) })
	}
	switch {
	case has("known "+strings.ToLower(p.site)+" host", "no git remotes found", "correspond to the gh_host"):
		return fmt.Sprintf("; pull requests need a repository on %s as the remote origin", p.site)
	case has(p.login(), "http 401", "bad credentials"):
		return fmt.Sprintf("; log in with %q, and try again", p.login())
	case has("error connecting", "dial tcp", "no such host", "i/o timeout", "tls: ", "x509: "):
		return fmt.Sprintf("; check whether %s can be reached from here, and try again", p.site)
	case has("http 403", "not accessible", "http 404", "could not resolve to a"):
		return fmt.Sprintf("; look with %q whether the login may do that in this repository", p.name+" auth status")
	}
	return ""
}

// refusal is the program's own refusal, without the long argument list.
type refusal struct {
	text  string
	cause error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.cause }

func short(text string) string {
	if len(text) > mostText {
		text = text[:mostText] + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// end is the end of a log.
func end(log []byte, most int) string {
	text := strings.ToValidUTF8(string(log), "\uFFFD")
	if over := len(text) - most; over > 0 {
		text = strings.ToValidUTF8(text[over:], "")
	}
	return text
}

// HostOfRequest is the host in the address of a pull request, with its port.
func HostOfRequest(address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return "", fmt.Errorf("cannot ask for the pull request %q: it is no address", address)
	}
	return parsed.Host, nil
}
