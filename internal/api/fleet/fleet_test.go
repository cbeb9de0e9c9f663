package fleet_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/api/fleet"
	"orange/internal/api/remote"
	"orange/internal/rules/task"
)

// patient is long enough for a machine that has a lot to do.
const patient = time.Minute

var big = remote.Host{Name: "big", SSH: "me@big"}

func hosts(t *testing.T) fleet.Hosts {
	t.Helper()
	return fleet.Hosts{Home: t.TempDir()}
}

// fakeSSH is the only program on PATH but those of the system: it notes what it was given and does what a script says.
func fakeSSH(t *testing.T, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text := "#!/bin/sh\nfor word; do printf '%s\\n' \"$word\"; done >" + dir + "/args\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAsk_sendsACallAndReadsTheReply(t *testing.T) {
	dir := fakeSSH(t, `cat >"$(dirname "$0")/stdin"; echo Welcome; printf '%s\n' '{"v":1,"exit":3,"stdout":"no\n"}'`)
	call := remote.Call{V: 1, Argv: []string{"task", "next", "--", "x; rm -rf /"}, Key: "k"}
	host := remote.Host{Name: "big", SSH: "me@big", Command: "/o/orange"}
	reply, err := hosts(t).Ask(t.Context(), host, call, patient)
	if err != nil || reply.Exit != 3 || reply.Stdout != "no\n" {
		t.Errorf("found %+v, %v", reply, err)
	}
	words := strings.Fields(read(t, dir, "args"))
	if want := []string{"--", "me@big", "/o/orange", "answer"}; !slices.Equal(words[len(words)-4:], want) {
		t.Errorf("ssh got %q", words)
	}
	for _, word := range []string{"-oBatchMode=yes", "-oClearAllForwardings=yes", "-a", "-x", "-oConnectTimeout=5"} {
		if !slices.Contains(words, word) {
			t.Errorf("ssh got no %s: %q", word, words)
		}
	}
	if sent, err := remote.ReadCall([]byte(read(t, dir, "stdin"))); err != nil || sent.Argv[3] != "x; rm -rf /" ||
		sent.Key != "k" {
		t.Errorf("it was sent %+v, %v", sent, err)
	}
}

func TestAsk_saysWhyThereIsNoReply(t *testing.T) {
	call := remote.Call{V: 1, Find: "x"}
	for name, tt := range map[string]struct{ script, want string }{
		"no way there":    {`echo "ssh: connect to host big port 22: Connection refused" >&2; exit 255`, "Connection refused"},
		"no program":      {`echo "sh: orange: not found" >&2; exit 127`, "name its path with --command"},
		"an old program":  {`echo 'unknown command "answer"' >&2; exit 2`, `unknown command "answer"`},
		"another program": {`echo hello`, `does it understand "orange answer"?`},
		"a later reply":   {`echo '{"v":7,"exit":0}'`, "update orange here (has 1, needs 7)"},
		"a terminal's":    {`printf '\033[2Jgone' >&2; exit 255`, `\x1b[2Jgone`},
	} {
		fakeSSH(t, tt.script)
		_, err := hosts(t).Ask(t.Context(), big, call, patient)
		if !errors.Is(err, remote.ErrNotReached) || !strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := hosts(t).Ask(t.Context(), big, call, patient); !errors.Is(err, remote.ErrNotReached) {
		t.Errorf("without ssh: %v", err)
	}
}

func TestAsk_waitsNoLongerThanItMay(t *testing.T) {
	fakeSSH(t, `exec cat >/dev/null <`+fifo(t))
	_, err := hosts(t).Ask(t.Context(), big, remote.Call{V: 1}, 200*time.Millisecond)
	if !errors.Is(err, remote.ErrNotReached) || !strings.Contains(err.Error(), "no answer within 200ms") {
		t.Errorf("found %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := hosts(t).Ask(ctx, big, remote.Call{V: 1}, patient); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped by a person: %v", err)
	}
}

func TestAsk_startsNothingForWhatIsNoHostAndNoCall(t *testing.T) {
	dir := fakeSSH(t, `echo '{"v":1,"exit":0}'`)
	for _, h := range []remote.Host{{Name: "x", SSH: "-oProxyCommand=touch /tmp/x"}, {Name: "x", SSH: "a b"},
		{Name: "x", SSH: "big", Command: "a;b"}, {SSH: "big"}} {
		if _, err := hosts(t).Ask(t.Context(), h, remote.Call{V: 1}, patient); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%+v: %v", h, err)
		}
	}
	watch := remote.Call{V: 1, Argv: []string{"task", "watch"}}
	if _, err := hosts(t).Ask(t.Context(), big, watch, patient); !errors.Is(err, task.ErrUsage) {
		t.Errorf("a call that may not be forwarded: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "args")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ssh was started: %v", err)
	}
}

func TestAttach_givesSSHNothingThatAShellReads(t *testing.T) {
	const id = "OrangeStory0000000001"
	dir := fakeSSH(t, "")
	argv, err := hosts(t).Attach(t.Context(), big, id, "worker", false)
	want := "me@big orange task attach " + id + " --role worker"
	if err != nil || !strings.HasSuffix(strings.Join(argv, " "), want) || !slices.Contains(argv, "-t") {
		t.Errorf("found %q, %v", argv, err)
	}
	for _, wrong := range [][2]string{{"x; y", ""}, {id, "worker; y"}, {"", ""}} {
		if _, err := hosts(t).Attach(t.Context(), big, wrong[0], wrong[1], true); err == nil {
			t.Errorf("%q is attached to", wrong)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "args")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("ssh was started: %v", err)
	}
	if _, err := hosts(t).Attach(t.Context(), big, id, "", true); err != nil ||
		!strings.HasSuffix(read(t, dir, "args"), "\n"+id+"\n") {
		t.Errorf("ssh got %q, %v", read(t, dir, "args"), err)
	}
}

func TestChange_writesWhatReadReads(t *testing.T) {
	t.Parallel()
	f := hosts(t)
	none, err := f.Read()
	if err != nil || none.Name != "" || none.Patience != remote.UsualPatience {
		t.Errorf("without a file: %+v, %v", none, err)
	}
	want := remote.Fleet{Name: "here", Snapshots: "git@example.com:me/# snapshots", Patience: 9 * time.Second,
		Hosts: []remote.Host{big, {Name: "lab", SSH: "lab", Command: "/opt/orange"}}}
	if err := f.Change(t.Context(), func(remote.Fleet) (remote.Fleet, error) { return want, nil }); err != nil {
		t.Fatal(err)
	}
	got, err := f.Read()
	if err != nil || got.Name != want.Name || got.Snapshots != want.Snapshots || got.Patience != want.Patience ||
		!slices.Equal(got.Hosts, want.Hosts) {
		t.Errorf("found %+v, %v", got, err)
	}
	refused := errors.New("no")
	if err := f.Change(t.Context(), func(remote.Fleet) (remote.Fleet, error) { return got, refused }); !errors.Is(err,
		refused) {
		t.Errorf("a change that is refused: %v", err)
	}
	twice := want
	twice.Hosts = append(twice.Hosts, big)
	if err := f.Change(t.Context(), func(remote.Fleet) (remote.Fleet, error) { return twice, nil }); err == nil {
		t.Error("a host has two rows")
	}
	if info, err := os.Stat(filepath.Join(f.Home, "fleet", "fleet.yml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestParse_namesTheLineOfEachMistake(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hosts: []":                         `f.yml:1:1: found no "name"`,
		"name: here\nhots: []":              `f.yml:2:1: found the unknown key "hots"`,
		"name: -x":                          `f.yml:1:7: cannot call a host "-x"`,
		"name: here\nhosts:\n  - name: big": `f.yml:3:5: found no "ssh"`,
		"name: here\nhosts:\n  - {name: big, ssh: -v}":  `f.yml:3:5: cannot reach a host at "-v"`,
		"name: here\npatience: 2h":                      `f.yml:2:11: found "2h" as patience, expected one from 1s`,
		"name: here\nhosts:\n  - {name: here, ssh: a}":  `found two hosts "here"`,
		"name: here\nsnapshots: []":                     `f.yml:2:12: found a list as snapshots`,
		"name: here\nhosts: [{name: a, ssh: b, ip: c}]": `f.yml:2:`,
	} {
		if _, err := fleet.Parse("f.yml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	f, err := fleet.Parse("f.yml", []byte("name: here\nserver: temporal.example:7233\nlabels: [gpu]\n"))
	if err != nil || f.Server != "temporal.example:7233" {
		t.Errorf("with a server: %+v, %v", f, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("name: here\nsnapshots: origin\nhosts:\n  - {name: big, ssh: me@big}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		one, err := fleet.Parse("f.yml", text)
		if err != nil || one.Server != "" {
			return
		}
		for _, h := range one.Hosts {
			if err := h.Check(); err != nil {
				t.Fatalf("%q has %+v: %v", text, h, err)
			}
		}
		again, err := fleet.Parse("f.yml", fleet.Format(one))
		if err != nil || again.Name != one.Name || again.Snapshots != one.Snapshots ||
			!slices.Equal(again.Hosts, one.Hosts) {
			t.Fatalf("%q becomes %q: %v", text, fleet.Format(one), err)
		}
	})
}

func TestKept_isTheCallUntilItIsDropped(t *testing.T) {
	t.Parallel()
	f := hosts(t)
	pending := remote.Pending{Host: "big", Call: remote.Call{V: 1, Key: "K.1",
		Argv: []string{"task", "next", "--", "x"}}}
	if err := f.Keep("K.1", pending); err != nil {
		t.Fatal(err)
	}
	got, err := f.Kept("K.1")
	if err != nil || got.Host != "big" || got.Call.Key != "K.1" || !slices.Equal(got.Call.Argv, pending.Call.Argv) {
		t.Errorf("found %+v, %v", got, err)
	}
	if err := f.Drop("K.1"); err != nil {
		t.Error(err)
	}
	if _, err := f.Kept("K.1"); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("once it is dropped: %v", err)
	}
	for _, key := range []string{"", "../x", "a/b", ".."} {
		if err := f.Keep(key, pending); err == nil {
			t.Errorf("%q is a key", key)
		}
		if _, err := f.Kept(key); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestHello_namesTheHomeAndWhatProjectsAreTheSame(t *testing.T) {
	t.Parallel()
	f, other := hosts(t), hosts(t)
	missing := task.Project{Name: "gone", Path: filepath.Join(t.TempDir(), "gone"), DefaultBranch: "main"}
	one, err := f.Hello(t.Context(), "v1", []task.Project{missing})
	if err != nil || one.Version != "v1" || one.V != remote.Version || len(one.Projects) != 1 ||
		one.Projects[0].Trouble == "" {
		t.Errorf("found %+v, %v", one, err)
	}
	again, err := f.Hello(t.Context(), "v1", nil)
	if err != nil || again.Home != one.Home || one.Home == "" {
		t.Errorf("the home is %q and %q, %v", one.Home, again.Home, err)
	}
	if apart, err := other.Hello(t.Context(), "v1", nil); err != nil || apart.Home == one.Home {
		t.Errorf("two homes are %q, %v", apart.Home, err)
	}
}
