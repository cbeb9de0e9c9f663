package worktree

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/gitconfig"
	"orange/internal/work/git"
	"orange/internal/work/shared"
)

// sharedOf is what all worktrees of a home share, as it is now.
func sharedOf(t *testing.T, r git.Repo) gitconfig.Settings {
	t.Helper()
	_, state, err := shared.Common{Repo: r}.Look(t.Context(), "", gitconfig.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// What an agent changes of what all worktrees share is seen, put back, and has no effect on Orange's git meanwhile.
func TestShared_isSeenAndPutBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do      func(t *testing.T, h home, s Slot)
		key     string
		refused bool
	}{
		"an identity": {do: func(t *testing.T, _ home, s Slot) { gitIn(t, s.Dir, "config", "user.name", "Bot") },
			key: "user.name"},
		"hooks elsewhere": {do: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "config", "core.hooksPath", "/none")
		}, key: "core.hookspath"},
		"signatures off": {do: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "config", "commit.gpgSign", "false")
		}, key: "commit.gpgsign"},
		"an ssh program": {do: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "config", "core.sshCommand", "false")
		}, key: "core.sshcommand"},
		"a filter": {do: func(t *testing.T, _ home, s Slot) { gitIn(t, s.Dir, "config", "filter.x.clean", "false") },
			key: "filter.x.clean"},
		"an address": {do: func(t *testing.T, _ home, s Slot) {
			gitIn(t, s.Dir, "config", "remote.origin.url", "elsewhere")
		}, key: "remote.origin.url", refused: true},
		"a dead checkout": {do: func(t *testing.T, h home, _ Slot) {
			gitIn(t, h.Path, "config", "--file", filepath.Join(h.Path, ".git/config"), "core.bare", "true")
		}, key: "core.bare", refused: true},
		"an extension": {do: func(t *testing.T, h home, _ Slot) {
			config := filepath.Join(h.Path, ".git/config")
			gitIn(t, h.root, "config", "--file", config, "extensions.unheardOf", "x")
			gitIn(t, h.root, "config", "--file", config, "core.repositoryFormatVersion", "1")
		}, key: "extensions.unheardof", refused: true},
		"a hook": {do: func(t *testing.T, h home, _ Slot) {
			write(t, h.Path, ".git/hooks/pre-push", "#!/bin/sh\nexit 1\n")
		}, key: "hooks/pre-push"},
		"rules for attributes": {do: func(t *testing.T, h home, _ Slot) {
			write(t, h.Path, ".git/info/attributes", "* -text\n")
		}, key: "info/attributes", refused: true},
		"what git ignores": {do: func(t *testing.T, h home, _ Slot) { write(t, h.Path, ".git/info/exclude", "*\n") },
			key: "info/exclude"},
		"other parents": {do: func(t *testing.T, h home, _ Slot) { write(t, h.Path, ".git/info/grafts", "") },
			key: "info/grafts"},
		"other objects": {do: func(t *testing.T, h home, _ Slot) {
			write(t, h.Path, ".git/objects/info/alternates", filepath.Join(h.root, "more")+"\n")
		}, key: "objects/info/alternates", refused: true},
		"an object in the place of another": {do: func(t *testing.T, h home, s Slot) {
			commit(t, s.Dir, "b.txt", "x")
			gitIn(t, s.Dir, "replace", gitIn(t, h.Path, "rev-parse", "main"), gitIn(t, s.Dir, "rev-parse", "HEAD"))
			gitIn(t, h.Path, "pack-refs", "--all")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			s := h.prepared(t, "topic", "T1")
			before := sharedOf(t, h.Repo)
			stamp, known, err := h.common().Look(t.Context(), "", gitconfig.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			c.do(t, h, s)
			now, after, err := h.common().Look(t.Context(), stamp, known)
			if err != nil || now == stamp {
				t.Fatalf("nothing was seen: %v", err)
			}
			changes := gitconfig.Differences(before, after)
			if len(changes) == 0 || c.key != "" && !slices.ContainsFunc(changes, func(one gitconfig.Change) bool {
				return one.Key == c.key
			}) {
				t.Fatalf("seen is %v, want %s", changes, c.key)
			}
			noted, refused, err := h.common().AsNoted(t.Context(), changes, before, filepath.Join(h.root, "hooks"))
			if err != nil || (len(refused) > 0) != c.refused {
				t.Fatalf("refused is %v, %v", refused, err)
			}
			if !c.refused {
				_, err := noted.Run(t.Context(), "commit", "--allow-empty", "-q", "-m", "mine")
				if err != nil {
					t.Error(err)
				}
				want(t, "its author", gitIn(t, h.Path, "log", "-1", "--format=%an"), "Ada")
			}
			if err := h.common().PutBack(t.Context(), changes, before); err != nil {
				t.Fatal(err)
			}
			want(t, "left", fmt.Sprint(gitconfig.Differences(before, sharedOf(t, h.Repo))), "[]")
		})
	}
}

// Each setting that counts, set by an agent: it is seen and named, a commit by what was noted has nothing of it or is
// refused, and it is put back.
func TestShared_noticesAndRestoresEachSettingAndKeepsItFromCommits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.prepared(t, "topic", "T1")
	gitIn(t, h.Path, "config", "user.name", "Ada")
	config, before := filepath.Join(h.Path, ".git/config"), sharedOf(t, h.Repo)
	refusedKeys := 0
	for _, key := range []string{"user.name", "user.signingkey", "author.email", "committer.name", "core.bare",
		"core.worktree", "core.hookspath", "core.sshcommand", "core.fsmonitor", "core.attributesfile",
		"core.excludesfile", "core.askpass", "core.editor", "core.pager", "core.gitproxy", "commit.gpgsign",
		"commit.template", "gpg.format", "gpg.ssh.program", "credential.helper", "credential.https://a.b.helper",
		"filter.x.clean", "diff.external", "diff.x.command", "diff.x.textconv", "merge.x.driver", "remote.origin.url",
		"remote.origin.uploadpack", "url.git@a:.insteadof", "http.proxy", "http.https://a.b.sslverify",
		"protocol.ext.allow", "include.path", "includeif.gitdir:/a.path", "alias.co", "submodule.lib.update",
		"branch.main.remote", "branch.a.b.pushremote", "push.default", "tag.gpgsign", "trailer.sign.command",
		"extensions.worktreeconfig", "notes.rewriteref", "init.templatedir", "uploadpack.packobjectshook",
		"receive.denynonfastforwards"} {
		value := map[string]string{"core.bare": "true", "commit.gpgsign": "true", "tag.gpgsign": "true",
			"gpg.format": "x509", "http.https://a.b.sslverify": "false", "extensions.worktreeconfig": "true",
			"receive.denynonfastforwards": "true", "push.default": "matching", "core.fsmonitor": "true",
			"submodule.lib.update": "rebase", "protocol.ext.allow": "always"}[key]
		gitIn(t, h.root, "config", "--file", config, key, cmp.Or(value, "bot"))
		_, after, err := h.common().Look(t.Context(), "", gitconfig.Settings{})
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		changes := gitconfig.Differences(before, after)
		if len(changes) != 1 || changes[0].Key != key || !strings.Contains(changes[0].String(), key) {
			t.Errorf("%s: seen is %v", key, changes)
		}
		noted, refused, err := h.common().AsNoted(t.Context(), changes, before, filepath.Join(h.root, "hooks"))
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if len(refused) > 0 {
			refusedKeys++
		} else {
			if _, err := noted.Run(t.Context(), "commit", "--allow-empty", "-q", "-m", "for "+key); err != nil {
				t.Errorf("%s: a commit by what was noted: %v", key, err)
			}
			want(t, key, gitIn(t, h.root, "-C", h.Path, "log", "-1", "--format=%an %cn %G? %s"), "Ada Ada N for "+key)
		}
		if err := h.common().PutBack(t.Context(), changes, before); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		want(t, "left of "+key, fmt.Sprint(gitconfig.Differences(before, sharedOf(t, h.Repo))), "[]")
	}
	if refusedKeys != 16 { // those that one run of git cannot do without, and those that say where the work goes
		t.Errorf("%d settings are refused", refusedKeys)
	}
}

// A configuration that is a link hides nothing that is written behind it.
func TestShared_seesWhatIsWrittenBehindALink(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	config, moved := filepath.Join(h.Path, ".git/config"), filepath.Join(h.root, "moved")
	stamp, before, err := h.common().Look(t.Context(), "", gitconfig.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(config, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, config); err != nil {
		t.Fatal(err)
	}
	stamp, now, err := h.common().Look(t.Context(), stamp, before)
	want(t, "the link", fmt.Sprint(gitconfig.Differences(before, now), err), "[config is new] <nil>")
	gitIn(t, h.root, "config", "--file", moved, "user.name", "Bot")
	_, now, err = h.common().Look(t.Context(), stamp, now)
	want(t, "behind it", fmt.Sprint(gitconfig.Differences(before, now), err),
		`[config is new user.name was not set, is "Bot"] <nil>`)
}

// One thing that cannot be put back keeps no other, and a setting without a value is true.
func TestPutBack_goesOn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	write(t, h.Path, ".git/config", read(t, h.Path, ".git/config")+"[commit]\n\tgpgSign\n")
	before := sharedOf(t, h.Repo)
	gitIn(t, h.Path, "config", "commit.gpgSign", "")
	gitIn(t, h.Path, "config", "user.name", "Bot")
	gitIn(t, h.Path, "config", "core.worktree", "/nowhere/at/all")
	changes := append(gitconfig.Differences(before, sharedOf(t, h.Repo)),
		gitconfig.Change{Key: "hooks", OfFile: true, Added: true})
	wantError(t, h.common().PutBack(t.Context(), changes, before), "a folder is in its place")
	want(t, "left", fmt.Sprint(gitconfig.Differences(before, sharedOf(t, h.Repo))), "[]")
}

// script writes a program into the main checkout, or below git's folder there.
func script(t *testing.T, h home, name, text string) {
	t.Helper()
	write(t, h.Path, name, "#!/bin/sh\n"+text+"\n")
	if err := os.Chmod(filepath.Join(h.Path, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

// A hook in a folder below, one that is a link, and one that the person's own setting leads to run as they were.
func TestAsNoted_keepsHooksOfAllShapes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	script(t, h, "scripts/pc.sh", `. "$(dirname "$0")/lib/more.sh"; touch `+filepath.Join(h.root, "mine"))
	script(t, h, ".git/hooks/lib/more.sh", "true")
	if err := os.Symlink("../../scripts/pc.sh", filepath.Join(h.Path, ".git/hooks/pre-commit")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, h.Path, "config", "core.hooksPath", ".git/hooks")
	before := sharedOf(t, h.Repo)
	script(t, h, ".git/hooks/lib/more.sh", "touch "+filepath.Join(h.root, "theirs"))
	script(t, h, ".git/hooks/post-commit", "touch "+filepath.Join(h.root, "theirs"))
	noted, refused, err := h.common().AsNoted(t.Context(), gitconfig.Differences(before, sharedOf(t, h.Repo)), before,
		filepath.Join(h.root, "hooks"))
	if err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	if _, err := noted.Do(t.Context(), git.Call{Dir: h.Path, Hooks: true,
		Args: []string{"commit", "--allow-empty", "-q", "-m", "mine"}}); err != nil {
		t.Fatal(err)
	}
	want(t, "mine ran", exists(h.root, "mine"), true)
	want(t, "theirs ran", exists(h.root, "theirs"), false)
}

// The hooks that were noted run where some have changed since, with their modes, and no other.
func TestAsNoted_runsTheHooksThatWereNoted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	script(t, h, ".git/hooks/pre-commit", "touch "+filepath.Join(h.root, "mine"))
	before := sharedOf(t, h.Repo)
	script(t, h, ".git/hooks/pre-commit", "touch "+filepath.Join(h.root, "theirs"))
	script(t, h, ".git/hooks/post-commit", "touch "+filepath.Join(h.root, "theirs"))
	noted, refused, err := h.common().AsNoted(t.Context(), gitconfig.Differences(before, sharedOf(t, h.Repo)), before,
		filepath.Join(h.root, "hooks"))
	if err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	if _, err := noted.Do(t.Context(), git.Call{Dir: h.Path, Hooks: true,
		Args: []string{"commit", "--allow-empty", "-q", "-m", "mine"}}); err != nil {
		t.Fatal(err)
	}
	want(t, "mine ran", exists(h.root, "mine"), true)
	want(t, "theirs ran", exists(h.root, "theirs"), false)
}

// A look that goes on from the one before finds what changed since.
func TestShared_findsWhatChangedSinceTheLookBefore(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	stamp, before, err := h.common().Look(t.Context(), "", gitconfig.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	look := func(what string, changed bool) {
		t.Helper()
		var now gitconfig.Settings
		if stamp, now, err = h.common().Look(t.Context(), stamp, before); err != nil {
			t.Fatal(err)
		}
		want(t, what, len(gitconfig.Differences(before, now)) > 0, changed)
		before = now
	}
	look("nothing changed", false)
	write(t, h.Path, ".git/info/exclude", "x\n")
	look("a file changed", true)
	gitIn(t, h.Path, "config", "core.editor", "vi")
	look("the configuration changed", true)
	look("nothing changed since", false)
}
