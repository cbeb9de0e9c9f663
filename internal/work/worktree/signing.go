package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/run/proc"
	"orange/internal/work/git"
)

// Committing is what git does at each commit in the repository.
type Committing struct {
	How       string // commits are signed, in words; empty where none is
	Trouble   string // why no agent could sign one, as far as that shows without a person
	HooksPath string // core.hooksPath, which names the folder of hooks; empty where it is not set
	// the programs that are not installed of filters without which git refuses files, by the filters' names
	Missing map[string]string
}

// signLimit is how long a try of a signature may take.
const signLimit = 5 * time.Second

// Committing tells what git does at each commit. Of a signature it tries only what needs no one: no passphrase, and no
// touch of a key.
func (r Needs) Committing(ctx context.Context) (Committing, error) {
	out, err := r.Do(ctx, git.Call{Dir: r.Path, Hooks: true, Args: []string{"config", "--null", "--get-regexp",
		`^(commit\.gpgsign|gpg\..*|user\.signingkey|core\.hookspath|filter\..*)$`}})
	if err != nil && git.ExitCode(err) != 1 { // git's status where there is no such key
		return Committing{}, fmt.Errorf("ask git what it does at a commit: %w", err)
	}
	set := map[string]string{}
	for _, entry := range strings.Split(string(out.Stdout), "\x00") {
		key, value, hasValue := strings.Cut(entry, "\n")
		if !hasValue {
			value = "true"
		}
		set[key] = value
	}
	c := r.signs(ctx, set)
	c.HooksPath, c.Missing = set["core.hookspath"], missingFilters(set, proc.Getenv(ctx, "PATH"))
	return c, nil
}

// signs tells how commits are signed, by what is set.
func (r Needs) signs(ctx context.Context, set map[string]string) Committing {
	if !isTrue(set["commit.gpgsign"]) {
		return Committing{}
	}
	switch set["gpg.format"] {
	case "ssh":
		return signsBySSH(ctx, r.Path, set)
	case "", "openpgp":
		return signsByGPG(ctx, set)
	}
	return Committing{How: "by " + set["gpg.format"] + "; not tried"}
}

// signsBySSH tries a signature with an ssh key that lies in a file.
func signsBySSH(ctx context.Context, dir string, set map[string]string) Committing {
	key := set["user.signingkey"]
	switch {
	case key == "" && set["gpg.ssh.defaultkeycommand"] != "":
		return Committing{How: "by an ssh key that a program names; not tried"}
	case key == "":
		return Committing{How: "by an ssh key", Trouble: "no key is named; name one: git config user.signingKey FILE"}
	case strings.HasPrefix(key, "key::"), strings.HasPrefix(key, "ssh-"), strings.HasPrefix(key, "sk-"):
		return Committing{How: "by a key of your ssh agent; not tried"}
	}
	if below, home := strings.CutPrefix(key, "~/"); home {
		key = filepath.Join(proc.UserHome(ctx), below)
	}
	if !filepath.IsAbs(key) {
		key = filepath.Join(dir, key)
	}
	signing := Committing{How: fmt.Sprintf("by the ssh key %q", key)}
	text, err := proc.ReadFile(key)
	if err != nil {
		text, err = proc.ReadFile(key + ".pub")
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		signing.Trouble = fmt.Sprintf("there is no file %q; bring it back, or name another one: git config "+
			"user.signingKey FILE", key)
		return signing
	case err != nil:
		signing.Trouble = err.Error()
		return signing
	case set["gpg.ssh.program"] != "", strings.HasPrefix(string(text), "sk-"), needsTouch(key):
		signing.How += "; not tried"
		return signing
	}
	try := proc.Command{Name: "ssh-keygen", Args: []string{"-Y", "sign", "-n", "git", "-f", key}, Dir: dir,
		Env: []string{"SSH_ASKPASS_REQUIRE=never", "LC_ALL=C"}, Stdin: strings.NewReader("x")}
	ended, err := proc.RunLimited(ctx, try, proc.Limits{Time: signLimit, Output: git.MostSaid})
	if err == nil && ended.Code != 0 {
		err = errors.New(strings.TrimSpace(ended.Output))
	}
	if err != nil {
		signing.Trouble = fmt.Sprintf("it signs nothing without you: %v; put it into your ssh agent (ssh-add)", err)
	}
	return signing
}

// needsTouch reports whether the public key next to a private one is of hardware that a person has to touch.
func needsTouch(key string) bool {
	text, err := proc.ReadFile(strings.TrimSuffix(key, ".pub") + ".pub")
	return err == nil && strings.HasPrefix(string(text), "sk-")
}

// signsByGPG looks for the secret key, and tries no signature: that may ask for a passphrase.
func signsByGPG(ctx context.Context, set map[string]string) Committing {
	program := "gpg"
	for _, name := range []string{"gpg.program", "gpg.openpgp.program"} {
		if set[name] != "" {
			program = set[name]
		}
	}
	key := set["user.signingkey"]
	signing := Committing{How: fmt.Sprintf("by %s with the key %q; not tried", program, key)}
	args := []string{"--batch", "--no-tty", "--list-secret-keys"}
	if key == "" {
		signing.How = fmt.Sprintf("by %s with the key of the committer; not tried", program)
	} else {
		args = append(args, "--", key)
	}
	ended, err := proc.RunLimited(ctx, proc.Command{Name: program, Args: args, Env: []string{"LC_ALL=C"}},
		proc.Limits{Time: signLimit, Output: git.MostSaid})
	switch {
	case err != nil:
		signing.Trouble = fmt.Sprintf("%v; install it, or sign nothing: git config commit.gpgSign false", err)
	case ended.Code != 0 && !ended.TimedOut:
		signing.Trouble = fmt.Sprintf("it has no such secret key (%s); import it, or name another one: git config "+
			"user.signingKey KEY", strings.TrimSpace(ended.Output))
	}
	return signing
}
