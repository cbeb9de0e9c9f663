package host_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/host"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/history"
	"orange/internal/rules/signed"
)

const rules = "name: own\nversion: 1\nstates: {pending: {}, working: {}, checking: {}, done: {terminal: true}}\n" +
	"moves: {spawn: working}\ntransitions:\n" +
	"  - {from: pending, to: working, by: human}\n  - {from: working, to: checking, by: human}\n" +
	"  - {from: checking, to: done, by: human}\n"

// real is a host whose program is orange itself, with a home, a project "web" and a bare repository for snapshots.
func real(t *testing.T, program, name, vault string) *rig {
	t.Helper()
	r, dir := newRig(t), t.TempDir()
	home, repo := filepath.Join(dir, "home"), filepath.Join(dir, "web")
	testkit.Must(t, os.MkdirAll(filepath.Join(home, "workflows"), 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(home, "workflows", "own.yml"), []byte(rules), 0o600))
	run(t, home, "git", "init", "-q", "-b", "main", repo)
	run(t, home, "git", "-C", repo, "fetch", "-q", vault, "main")
	run(t, home, "git", "-C", repo, "reset", "-q", "--hard", "FETCH_HEAD")
	run(t, home, program, "project", "add", repo, "--name", "web", "--yes")
	r.Name, r.Snapshots, r.Key = name, vault, testkit.Key(t, name)
	orange := host.Orange{Path: program, Home: home}
	r.Program = orange
	r.Store.Dir = filepath.Join(home, "fleet")
	testkit.Must(t, os.MkdirAll(r.Store.Dir, 0o700))
	trust, err := json.Marshal(custody.Trust{People: testkit.List(t, signed.OfPeople, 1, "ada"),
		Hosts: testkit.List(t, signed.OfHosts, 1, "h1", "h2", "h3")})
	testkit.Must(t, err)
	for file, text := range map[string]string{"trust.json": string(trust),
		"authority.pub": testkit.Public(t, testkit.Authority) + "\n",
		"fleet.yml":     "server: \"none.example:1\"\nnamespace: " + testkit.Fleet + "\nname: " + name + "\n"} {
		testkit.Must(t, os.WriteFile(filepath.Join(r.Store.Dir, file), []byte(text), 0o600))
	}
	return r
}

func run(t *testing.T, home, name string, words ...string) {
	t.Helper()
	cmd := exec.Command(name, words...)
	cmd.Env = append(os.Environ(), "ORANGE_MONITOR=never", "ORANGE_HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s", name, words, err, out)
	}
}

// overSSH is what orange answers to a call that came from another machine.
func overSSH(t *testing.T, program, home string, call []byte) remote.Reply {
	t.Helper()
	cmd := exec.Command(program, "answer")
	cmd.Env, cmd.Stdin = append(os.Environ(), "ORANGE_MONITOR=never", "ORANGE_HOME="+home), bytes.NewReader(call)
	out, err := cmd.Output()
	testkit.Must(t, err)
	reply, err := remote.ReadReply(out)
	testkit.Must(t, err)
	return reply
}

// buildOrange is the program orange, with an environment for git, and a bare repository with one commit.
func buildOrange(t *testing.T) (program, vault string) {
	t.Helper()
	dir := t.TempDir()
	program, vault = filepath.Join(dir, "orange"), filepath.Join(dir, "vault.git")
	testkit.Build(t, dir, nil, "orange")
	for name, value := range map[string]string{"HOME": dir, "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_AUTHOR_NAME": "Ada",
		"GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com"} {
		t.Setenv(name, value)
	}
	run(t, dir, "git", "init", "-q", "-b", "main", filepath.Join(dir, "first"))
	run(t, dir, "git", "-C", filepath.Join(dir, "first"), "commit", "-q", "--allow-empty", "-m", "Begin")
	run(t, dir, "git", "clone", "-q", "--bare", filepath.Join(dir, "first"), vault)
	return program, vault
}

// loginIsProof looks at a host with "signed: off": the login is the proof there, but for what gives the host a task,
// and a signature that is there is checked all the same.
func loginIsProof(t *testing.T, program string, h *rig, id string, forged remote.Call) {
	t.Helper()
	home := h.Program.(host.Orange).Home
	file := filepath.Join(h.Store.Dir, "fleet.yml")
	before, err := os.ReadFile(file)
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(file, append(slices.Clone(before), "signed: off\n"...), 0o600))
	for _, c := range []struct {
		call    remote.Call
		refused string
	}{
		{remote.Call{Argv: []string{"task", "update", "--summary=Another thing", "--", id}, Key: "k7"}, ""},
		{remote.Call{Argv: []string{"task", "restore", "--from=x", "--project=web", "--", id}}, "held elsewhere"},
		{forged, "has signed another request"},
	} {
		c.call.V = remote.Version
		text, err := c.call.Text()
		testkit.Must(t, err)
		if said := overSSH(t, program, home, text); !strings.Contains(said.Refused, c.refused) ||
			(said.Refused == "") != (c.refused == "") || c.refused == "" && said.Exit != 0 {
			t.Errorf("with signed: off %q: %+v", c.call.Argv, said)
		}
	}
	testkit.Must(t, os.WriteFile(file, before, 0o600))
}

// ownBirth is the birth of the task with the id, under a workflow of the host.
func ownBirth(t *testing.T) wire.Birth {
	t.Helper()
	birth := wire.Birth{Project: "web", On: "any", Branch: "feat/a", Summary: "A thing", Rules: rules,
		Workflow: fmt.Sprintf("own@%x", sha256.Sum256([]byte(rules)))}
	birth.Ask = testkit.Ask(t, wire.Request{Fleet: testkit.Fleet, Task: id, Method: wire.MethodCreate,
		Args: []string{sign.BirthDigest(birth)}, Person: "ada", Key: "create", Expires: now.Add(time.Minute).Unix()})
	return birth
}

// What the host makes of the messages of the fleet are commands that orange knows, and what it reads are its answers.
// Attackers cannot (docs/proof.md): have a request done twice.
func TestHost_asksOrangeItself(t *testing.T) {
	program, vault := buildOrange(t)
	dir := filepath.Dir(program)
	h1, h2 := real(t, program, "h1", vault), real(t, program, "h2", vault)

	birth := ownBirth(t)
	for range 2 { // a repeat answers the same task
		m, err := h1.Take(t.Context(), wire.Of(wire.Take{Task: id, Epoch: 1, Birth: birth}))
		if testkit.Must(t, err); m.Body.Refused != "" || m.Body.Report.Row.Branch != "feat/a" {
			t.Fatalf("taken: %+v, %s", m.Body, m.Body.Refused)
		}
	}
	ask := testkit.Ask(t, wire.Request{Fleet: testkit.Fleet, Host: "h1", Task: id, Epoch: 1, Method: "move",
		Args: []string{"--", id, "checking"}, Person: "ada", Key: "k1", Expires: now.Add(time.Minute).Unix()})
	for range 2 {
		m, err := h1.Answer(t.Context(), wire.Of(ask))
		if testkit.Must(t, err); !m.Body.Done || !strings.Contains(m.Body.Output, "checking") {
			t.Fatalf("answered: %+v", m.Body)
		}
	}
	run(t, h1.Program.(host.Orange).Home, program, "task", "snapshot", id, "--to", vault)

	signers := filepath.Join(dir, "people")
	testkit.Must(t, os.WriteFile(signers, []byte(testkit.List(t, signed.OfPeople, 1, "ada").Text), 0o600))
	run(t, h1.Program.(host.Orange).Home, program, "task", "verify", id, "--people", signers)
	unsigned := remote.Call{V: remote.Version, Argv: []string{"task", "move", "--", id, "done"}, Key: "k9"}
	if said, err := h1.Program.Do(t.Context(), unsigned); err == nil {
		t.Errorf("the host does of its own what a person has to sign: %+v", said)
	}
	text, err := unsigned.Text()
	testkit.Must(t, err)
	if said := overSSH(t, program, h1.Program.(host.Orange).Home, text); said.Exit != 3 ||
		!strings.Contains(said.Refused, "whose people sign what they ask for") {
		t.Errorf("a request without a signature: %+v", said)
	}
	unsigned.Signed = &remote.Signed{Text: sign.RequestText(ask.Request), Signature: ask.Signature}
	if said, err := h1.Program.Do(t.Context(), unsigned); err != nil || said.Exit != 3 ||
		!strings.Contains(said.Refused, "has signed another request") {
		t.Errorf("a request with the signature of another one: %+v, %v", said, err)
	}

	for _, words := range [][]string{{"leave", "--yes"}, {"snapshot", "--to=" + vault},
		{"restore", "--from=" + vault, "--project=web"}} {
		line := append(append([]string{"task"}, words...), "--", id)
		text, err := remote.Call{V: remote.Version, Argv: line}.Text()
		testkit.Must(t, err)
		if said := overSSH(t, program, h1.Program.(host.Orange).Home, text); said.Exit != 3 ||
			!strings.Contains(said.Refused, "whose people sign what they ask for") {
			t.Errorf("%q over ssh without a signature: %+v", words, said)
		}
	}

	loginIsProof(t, program, h1, id, unsigned)

	take := wire.Take{Task: id, Epoch: 2, Birth: birth, From: "h1", Keys: []wire.DoneRequest{{Key: "k1"}, {Key: "k2"}},
		Rescue: new(testkit.Rescue(t, "ada", id, 1, "h2", "it burns", now))}
	for range 2 {
		m, err := h2.Take(t.Context(), wire.Of(take))
		if testkit.Must(t, err); m.Body.Refused != "" || m.Body.Report.Row.Status != "checking" ||
			strings.Join(m.Body.Lost, " ") != "k2" {
			t.Fatalf("rescued: %+v", m.Body)
		}
	}
	var told struct{ Events []history.Event }
	seen, err := h2.Look(t.Context(), wire.Of(wire.Look{Method: "history", Args: []string{"--json", "--", id}}))
	testkit.Must(t, err)
	testkit.Must(t, json.Unmarshal([]byte(seen.Body.Output), &told))
	came := slices.IndexFunc(told.Events, func(e history.Event) bool { return e.Type == history.Rebuilt })
	if e := told.Events[came]; e.Person != "ada" || !strings.HasPrefix(e.Reason, "it burns; it came to this home") {
		t.Errorf("it came back by %+v", e)
	} else if text, signature := e.Proof(); text == "" || signature != take.Rescue.Ask.Signature {
		t.Errorf("its rescue is not signed: %q, %q", text, signature)
	}
	run(t, h2.Program.(host.Orange).Home, program, "task", "verify", id, "--people", signers)
	for range 2 {
		_, err := h1.Leave(t.Context(), wire.Of(wire.Leave{Gone: wire.Gone{Task: id, Epoch: 1}}))
		testkit.Must(t, err)
	}
	m, err := h1.Look(t.Context(), wire.Of(wire.Look{Method: "show", Args: []string{"--", id}}))
	if testkit.Must(t, err); m.Body.Exit != 4 {
		t.Errorf("what has left is shown: %+v", m.Body)
	}
}

// signs gives hosts keys for their snapshots; each takes those of all of them.
func signs(t *testing.T, hosts ...*rig) {
	t.Helper()
	var all []byte
	for _, h := range hosts {
		key := filepath.Join(h.Store.Dir, "host_key")
		run(t, h.Store.Dir, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
		public, err := os.ReadFile(key + ".pub")
		testkit.Must(t, err)
		all = append(all, fmt.Sprintf("%s namespaces=\"git\" %s", h.Name, public)...)
	}
	for _, h := range hosts {
		testkit.Must(t, os.WriteFile(filepath.Join(h.Store.Dir, "hosts"), all, 0o600))
	}
}

// Defect: the second host brought the task back, and its answer was lost with it. No other host could from then on.
func TestHost_bringsBackWhatAnotherOneHasBroughtBackMeanwhile(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("it needs ssh-keygen")
	}
	program, vault := buildOrange(t)
	h1, h2, h3 := real(t, program, "h1", vault), real(t, program, "h2", vault), real(t, program, "h3", vault)
	signs(t, h1, h2, h3)
	takes := func(h *rig, take wire.Take) wire.TakeAnswer {
		t.Helper()
		take.Task, take.Birth = id, ownBirth(t)
		if take.From != "" {
			take.Rescue = new(testkit.Rescue(t, "ada", id, take.Epoch-1, "", "it burns", now))
			take.Keys = []wire.DoneRequest{{Key: "k1"}}
		}
		m, err := h.Take(t.Context(), wire.Of(take))
		testkit.Must(t, err)
		return m.Body
	}
	snapshot := func(h *rig) {
		t.Helper()
		run(t, h.Program.(host.Orange).Home, program, "task", "snapshot", id, "--to", vault)
	}
	first := takes(h1, wire.Take{Epoch: 1})
	snapshot(h1)
	known := wire.Head{Event: first.Report.Row.Head.Event + 1, Hash: "x"} // that event and k1 are lost with h1
	second := takes(h2, wire.Take{Epoch: 2, From: "h1", Known: known})
	if second.Refused != "" || strings.Join(second.Lost, " ") != "k1" {
		t.Fatalf("the second host: %+v", second)
	}
	snapshot(h2)
	third := takes(h3, wire.Take{Epoch: 3, From: "h1", Known: known})
	if !strings.Contains(third.Refused, `signed by "h2", and "h1" had the task`) {
		t.Errorf("the third host, which knows nothing of the second: %+v", third)
	}
	third = takes(h3, wire.Take{Epoch: 4, From: "h1", Since: []string{"h2", "h3"}, Known: known})
	if third.Refused != "" || strings.Join(third.Lost, " ") != "k1" ||
		third.Report.Row.Head.Event <= second.Report.Row.Head.Event {
		t.Errorf("the third host: %+v", third)
	}
}

// Defect: the answer of the first host was lost, and the second one created the task again. It could push no snapshot,
// because the first one had.
func TestHost_createsATaskThatAnotherOneHasCreatedMeanwhile(t *testing.T) {
	program, vault := buildOrange(t)
	h1, h2 := real(t, program, "h1", vault), real(t, program, "h2", vault)
	snapshot := func(h *rig) string {
		cmd := exec.Command(program, "task", "snapshot", id, "--to", vault)
		cmd.Env = append(os.Environ(), "ORANGE_MONITOR=never", "ORANGE_HOME="+h.Program.(host.Orange).Home)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return string(out)
		}
		return ""
	}
	for i, h := range []*rig{h1, h2} {
		m, err := h.Take(t.Context(), wire.Of(wire.Take{Task: id, Epoch: i + 1, Birth: ownBirth(t)}))
		if testkit.Must(t, err); m.Body.Refused != "" {
			t.Fatalf("%s: %+v", h.Name, m.Body)
		}
		if i > 0 {
			break
		}
		if said := snapshot(h1); said != "" {
			t.Fatalf("the first snapshot: %s", said)
		}
	}
	for range 2 {
		if said := snapshot(h2); said != "" {
			t.Errorf("a snapshot of the second host: %s", said)
		}
	}
	if said := snapshot(h1); !strings.Contains(said, "another one has pushed a snapshot of the task meanwhile") {
		t.Errorf("a later snapshot of the first host: %q", said)
	}
}
