package client_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/crypto/ssh"

	"orange/fleet/custody"
	"orange/fleet/setup"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/history"
	"orange/internal/rules/signed"
	"orange/internal/testkit/parity"
)

// evil is the queue and the workflow of an attacker.
const evil = "evil"

// attackedFleet is a fleet of the built programs with two hosts, and an attacker who has a connection to its server,
// the repository with the snapshots, and the account of the host "small". The host "big" has a task.
type attackedFleet struct {
	fleetOf
	line
	asker parity.Side
	small parity.Side
	vault string
	c     sdk.Client // of the attacker
	host  ssh.Signer // the key of "small", which the attacker can read
	stop  func()     // ends the daemon of "big"
}

func newAttacked(t *testing.T) *attackedFleet {
	t.Helper()
	address := testkit.Server(t)
	l := newLine(t, orange(t))
	a := &attackedFleet{fleetOf: newFleet(t, l, address), line: l, small: l.at("small", l.here.Orange, parity.AtHost),
		vault: filepath.Join(l.dir, "vault.git")}
	a.asker = l.at("asker", l.here.Orange, parity.FromAfar("big")) // with the built programs
	testkit.Must(t, a.small.Make())
	testkit.Must(t, exec.Command("git", "init", "-q", "--bare", a.vault).Run())
	a.personJoins(a.asker)
	a.stop = a.hostJoins(l.big, "big", a.vault)
	a.hostJoins(a.small, "small", a.vault)
	a.waits(a.asker, "small", "fleet", "hosts", "--json")
	var err error
	a.host, err = setup.HostKey(home(a.small))
	testkit.Must(t, err)
	a.c = testkit.Dial(t, address)
	w := worker.New(a.c, evil, worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, queue, name string, m json.RawMessage) (
		out json.RawMessage, err error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{TaskQueue: queue,
			ScheduleToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}})
		err = workflow.ExecuteActivity(ctx, name, m).Get(ctx, &out)
		return out, err
	}, workflow.RegisterOptions{Name: evil})
	testkit.Must(t, w.Start())
	t.Cleanup(w.Stop)
	a.says(a.asker, "fleet", "create", "--on", "big", "--project", "coffee", "--harness", "idle", "--workflow", "own",
		"--id", parity.ID, "--no-spawn", "feat/a", "A thing")
	return a
}

func home(s parity.Side) string { return filepath.Join(s.Dir, "orange") }

// calls calls an activity at a host, past all that custody checks.
func (a *attackedFleet) calls(queue, name string, message, answer any) error {
	a.t.Helper()
	text, err := json.Marshal(message)
	testkit.Must(a.t, err)
	run, err := a.c.ExecuteWorkflow(a.t.Context(), sdk.StartWorkflowOptions{TaskQueue: evil}, evil, queue, name,
		json.RawMessage(text))
	testkit.Must(a.t, err)
	var said json.RawMessage
	if err := run.Get(a.t.Context(), &said); err != nil {
		return err
	}
	return json.Unmarshal(said, answer)
}

// asks sends an update to a workflow.
func (a *attackedFleet) asks(id, update string, message any) error {
	handle, err := a.c.UpdateWorkflow(a.t.Context(), sdk.UpdateWorkflowOptions{WorkflowID: id, UpdateName: update,
		Args: []any{message}, WaitForStage: sdk.WorkflowUpdateStageCompleted})
	if err == nil {
		err = handle.Get(a.t.Context(), nil)
	}
	return err
}

// refused fails the test where an error is not a refusal with the code.
func (a *attackedFleet) refused(what string, err error, codes ...wire.Code) {
	a.t.Helper()
	var said *temporal.ApplicationError
	if !errors.As(err, &said) || !slices.Contains(codes, wire.Code(said.Type())) {
		a.t.Errorf("%s: %v, expected a refusal with the code %q", what, err, codes)
	}
}

func (a *attackedFleet) custody() wire.Custody {
	a.t.Helper()
	var m wire.Message[wire.Custody]
	value, err := a.c.QueryWorkflow(a.t.Context(), wire.TaskID(parity.ID), "", wire.CustodyQuery)
	if err == nil {
		err = value.Get(&m)
	}
	testkit.Must(a.t, err)
	return m.Body
}

func (a *attackedFleet) untilCustody(what string, is func(wire.Custody) bool) wire.Custody {
	a.t.Helper()
	late, tick := time.After(2*time.Minute), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for {
		now := a.custody()
		if is(now) {
			return now
		}
		select {
		case <-late:
			a.t.Fatalf("%s is waited for in vain: %+v", what, now)
		case <-tick.C:
		}
	}
}

// events are those of the task, as orange at a host has them.
func (a *attackedFleet) events(at parity.Side) []history.Event {
	a.t.Helper()
	var said struct{ Events []history.Event }
	out, err := at.Program("task", "history", "--json", parity.ID).Output()
	testkit.Must(a.t, err)
	testkit.Must(a.t, json.Unmarshal(out, &said))
	return said.Events
}

// summary is a request for another summary, as a person has it signed.
func summary(key, text string) wire.Request {
	return wire.Request{Fleet: testkit.Fleet, Host: "big", Task: parity.ID, Epoch: 1, Method: "update",
		Args: []string{"--summary=" + text, "--", parity.ID}, Person: "ada", Key: key,
		Expires: time.Now().Add(5 * time.Minute).Unix()}
}

func signedBy(t *testing.T, key ssh.Signer, r wire.Request) wire.Ask {
	t.Helper()
	ask, err := sign.Ask(key, r)
	testkit.Must(t, err)
	return ask
}

// newBirth is what a task is to be created from, signed by a key as ada's.
func newBirth(t *testing.T, key ssh.Signer, id string) wire.Birth {
	t.Helper()
	b := wire.Birth{Project: "coffee", On: "any", Branch: "feat/b", Summary: "Mine", Workflow: "own"}
	b.Ask = signedBy(t, key, wire.Request{Fleet: testkit.Fleet, Task: id, Method: wire.MethodCreate,
		Args: []string{sign.BirthDigest(b)}, Person: "ada", Key: "born", Expires: time.Now().Add(time.Minute).Unix()})
	return b
}

// What the attackers of docs/proof.md cannot do, they try with a connection to the server, the repository and the
// account of a host, on the programs as they are built.
// Attackers cannot (docs/proof.md): have an unsigned request done.
func TestAttackers_ofTheBuiltProgramsGetNothingDone(t *testing.T) {
	t.Parallel()
	a := newAttacked(t)
	good := a.requests()
	a.reports()
	a.lists()
	a.answers()
	a.snapshots()
	a.afterTheRescue(good)
}

// requests: without a person's signature for this very request at this host, now, nothing is done.
func (a *attackedFleet) requests() (good wire.Ask) {
	t := a.t
	t.Helper()
	own, err := setup.HostKey(home(a.big))
	testkit.Must(t, err)
	good = testkit.Ask(t, summary("good", "Good words"))
	changed := good
	changed.Request.Args = []string{"--summary=Mine", "--", parity.ID}
	other := good
	other.Request.Key = "another"
	late, elsewhere, stale := summary("late", "Mine"), summary("elsewhere", "Mine"), summary("stale", "Mine")
	late.Expires = time.Now().Add(-time.Second).Unix()
	elsewhere.Host, stale.Epoch = "small", 7
	long := summary("long", "Mine")
	long.Expires = time.Now().Add(24 * time.Hour).Unix()
	testkit.Must(t, a.calls(wire.HostQueue("big"), wire.AnswerActivity, wire.Of(good), &wire.Message[wire.Reply]{}))
	before := a.events(a.big)
	for what, one := range map[string]struct {
		ask  wire.Ask
		code wire.Code
	}{
		"no signature":              {wire.Ask{Request: summary("none", "Mine")}, wire.CodeUnsigned},
		"changed on its way":        {changed, wire.CodeUnsigned},
		"under another key":         {other, wire.CodeUnsigned},
		"signed by another host":    {signedBy(t, a.host, summary("small", "Mine")), wire.CodeStranger},
		"signed by the host itself": {signedBy(t, own, summary("own", "Mine")), wire.CodeStranger},
		"signed by a stranger": {signedBy(t, testkit.Key(t, "mallory"), summary("mallory", "Mine")),
			wire.CodeStranger},
		"expired":                      {testkit.Ask(t, late), wire.CodeExpired},
		"made to hold for too long":    {testkit.Ask(t, long), wire.CodeExpired},
		"for another host":             {testkit.Ask(t, elsewhere), wire.CodeElsewhere},
		"for an epoch that is not yet": {testkit.Ask(t, stale), wire.CodeStaleEpoch},
	} {
		var reply wire.Message[wire.Reply]
		a.refused(what+", at the host", a.calls(wire.HostQueue("big"), wire.AnswerActivity, wire.Of(one.ask), &reply),
			one.code)
		// custody looks at some things first
		codes := []wire.Code{one.code, wire.CodeStaleEpoch, wire.CodeKeyReused}
		a.refused(what+", at the custody", a.asks(wire.TaskID(parity.ID), wire.AskUpdate, wire.Of(one.ask)), codes...)
	}
	// the same once more is answered, and not done
	testkit.Must(t, a.calls(wire.HostQueue("big"), wire.AnswerActivity, wire.Of(good), &wire.Message[wire.Reply]{}))
	if after := a.events(a.big); len(after) != len(before) {
		t.Errorf("there are %d events, and %d before the attacks", len(after), len(before))
	}
	const another = "OrangeStory0000000002"
	var taken wire.Message[wire.TakeAnswer]
	testkit.Must(t, a.calls(wire.HostQueue("big"), wire.TakeActivity, wire.Of(wire.Take{Task: another, Epoch: 1,
		Birth: newBirth(t, a.host, another)}), &taken))
	if taken.Body.Refused == "" {
		t.Errorf("a task is created that no person asked for: %+v", taken.Body)
	}
	return good
}

// reports: the list shows what the host of the task has signed, and nothing else.
func (a *attackedFleet) reports() {
	t := a.t
	t.Helper()
	told := a.untilCustody("a report with the new summary", func(c wire.Custody) bool {
		return c.Row.Summary == "Good words"
	})
	forge := func(key ssh.Signer, host string, epoch int) wire.Report {
		r := wire.Report{Fleet: testkit.Fleet, Host: host, Epoch: epoch, Task: parity.ID, Version: 1 << 20,
			Row: wire.Row{Project: "coffee", Summary: "Mine", Status: "done", Over: true, Head: told.Row.Head}}
		if key == nil {
			return r
		}
		r, err := sign.Report(key, r)
		testkit.Must(t, err)
		return r
	}
	own, err := setup.HostKey(home(a.big))
	testkit.Must(t, err)
	for what, r := range map[string]wire.Report{"unsigned": forge(nil, "big", 1),
		"for another host": forge(a.host, "big", 1), "as another host": forge(a.host, "small", 1),
		"of a stranger": forge(testkit.Key(t, "mallory"), "big", 1), "of an epoch that is not": forge(own, "big", 2)} {
		testkit.Must(t, a.c.SignalWorkflow(t.Context(), wire.TaskID(parity.ID), "", wire.ReportSignal, wire.Of(r)))
		if now := a.custody(); now.Row.Summary != "Good words" || now.Row.Over ||
			now.Phase != string(custody.PhaseHeld) {
			t.Errorf("a report %s: the list shows %+v", what, now)
		}
	}
}

// lists: no one but the authority adds a signer.
func (a *attackedFleet) lists() {
	t := a.t
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home(a.small), "fleet", "trust.json"))
	testkit.Must(t, err)
	var trust, forged custody.Trust
	testkit.Must(t, json.Unmarshal(text, &trust))
	key := sign.KeyOf(testkit.Key(t, "mallory").PublicKey())
	mallory := signed.Person{Name: "mallory", Key: key, Create: true}.Line()
	forged = trust
	forged.People.Text += mallory + "\n"
	own := trust
	own.People, err = sign.List(a.host, strings.Replace(forged.People.Text, "version ", "version 9", 1))
	testkit.Must(t, err)
	for what, one := range map[string]custody.Trust{"a line more": forged, "signed by a host": own} {
		for _, id := range []string{wire.RegistryID, wire.TaskID(parity.ID)} {
			if err := a.asks(id, wire.TrustUpdate, one); err == nil {
				t.Errorf("%s takes a list with %s", id, what)
			}
		}
	}
	a.refused("a request of the one that was added", a.calls(wire.HostQueue("big"), wire.AnswerActivity,
		wire.Of(signedBy(t, testkit.Key(t, "mallory"), summary("added", "Mine"))), &wire.Message[wire.Reply]{}),
		wire.CodeStranger)
	// an edited copy at a host does not make one a person there either: the host refuses all until it has a good one
	edited, err := json.Marshal(forged)
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(filepath.Join(home(a.small), "fleet", "trust.json"), edited, 0o600))
	r := summary("edited", "Mine")
	r.Host, r.Person = "small", "mallory"
	if err := a.calls(wire.HostQueue("small"), wire.AnswerActivity, wire.Of(signedBy(t, testkit.Key(t, "mallory"), r)),
		&wire.Message[wire.Reply]{}); err == nil {
		t.Error("a host takes an edited list of people")
	}
	testkit.Must(t, os.WriteFile(filepath.Join(home(a.small), "fleet", "trust.json"), text, 0o600))
}

// answers: what another host says in the place of the one that was asked is no answer.
func (a *attackedFleet) answers() {
	t := a.t
	t.Helper()
	a.stop()
	before := a.events(a.big)
	var lock sync.Mutex
	said := 0
	w := worker.New(a.c, wire.HostQueue("big"), worker.Options{DisableWorkflowWorker: true})
	w.RegisterActivityWithOptions(func(m wire.Message[wire.Ask]) (wire.Message[wire.Reply], error) {
		lock.Lock()
		defer lock.Unlock()
		said++
		r := m.Body.Request
		reply, err := sign.Reply(a.host, wire.Reply{Fleet: r.Fleet, Host: r.Host, Epoch: r.Epoch, Task: r.Task,
			Key: r.Key, Digest: sign.Digest(r), Done: true, Output: "updated", Head: wire.Head{Event: 99, Hash: "ff"}})
		return wire.Of(reply), err
	}, activity.RegisterOptions{Name: wire.AnswerActivity})
	testkit.Must(t, w.Start())
	out, err := a.asker.Program("fleet", "update", parity.ID, "--summary", "Last words", "--key",
		"forged").CombinedOutput()
	w.Stop()
	lock.Lock()
	defer lock.Unlock()
	if said == 0 || err == nil || !strings.Contains(string(out), "not known whether it was done") {
		t.Errorf("an answer of another host (%d times) is taken for one: %v: %s", said, err, out)
	}
	if after := a.events(a.big); len(after) != len(before) {
		t.Errorf("there are %d events of a request that did not reach the host", len(after)-len(before))
	}
	a.stop = a.keeps(fleetProgram(a.big), "host")
	a.waits(a.asker, "Last words", "fleet", "result", "forged") // it is still to be had, from the host itself
}

// snapshots: no host takes a task from a snapshot that the task's host did not sign.
func (a *attackedFleet) snapshots() {
	t := a.t
	t.Helper()
	a.untilCustody("a snapshot of the last words", func(c wire.Custody) bool {
		return c.Row.Summary == "Last words" && c.Row.Shipped >= c.Row.Head.Event
	})
	a.stop()
	ref := "refs/orange/fleet/" + parity.ID + "/record"
	genuine := a.vaulted("", "rev-parse", ref)
	key := setup.HostKeyPath(home(a.small))
	for what, words := range map[string][]string{"not signed": {"commit-tree", "--no-gpg-sign"},
		"signed by another host": {"-c", "gpg.format=ssh", "commit-tree", "--gpg-sign=" + key}} {
		message := a.vaulted("", "log", "-1", "--format=%B", genuine)
		forged := a.vaulted(message, append(words, genuine+"^{tree}", "-p", genuine, "-F", "-")...)
		a.vaulted("", "update-ref", ref, forged)
		out, err := a.asker.Program("fleet", "rescue", parity.ID, "--to", "small", "--now", what).CombinedOutput()
		now := a.untilCustody("the answer of the host", func(c wire.Custody) bool { return len(c.Because) > 0 })
		if now.Host == "small" && now.Phase == string(custody.PhaseHeld) ||
			!strings.Contains(strings.Join(now.Because, " "), "nothing of its snapshot was taken") {
			t.Errorf("a snapshot that is %s: %+v (%v: %s)", what, now, err, out)
		}
		folder := filepath.Join(home(a.small), "tasks", "coffee", parity.ID)
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a snapshot that is %s: the task has a folder at the host: %v", what, err)
		}
	}
	a.vaulted("", "update-ref", ref, genuine)
	a.untilCustody("the rescue", func(c wire.Custody) bool {
		return c.Host == "small" && c.Phase == string(custody.PhaseHeld)
	})
}

// vaulted runs git in the repository with the snapshots, as the attacker can.
func (a *attackedFleet) vaulted(in string, words ...string) string {
	a.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", a.vault, "-c", "user.name=Mallory", "-c",
		"user.email=m@localhost"}, words...)...)
	cmd.Env, cmd.Stdin = a.small.Env, strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		a.t.Fatalf("git %q: %v: %s", words, err, out)
	}
	return strings.TrimSpace(string(out))
}

// afterTheRescue: what was signed for the epoch before is worth nothing.
func (a *attackedFleet) afterTheRescue(good wire.Ask) {
	t := a.t
	t.Helper()
	own, err := setup.HostKey(home(a.big))
	testkit.Must(t, err)
	now := a.custody()
	report, err := sign.Report(own, wire.Report{Fleet: testkit.Fleet, Host: "big", Epoch: 1, Task: parity.ID,
		Version: 1 << 20, Row: wire.Row{Project: "coffee", Summary: "Mine", Status: "done", Over: true,
			Head: now.Row.Head}})
	testkit.Must(t, err)
	testkit.Must(t, a.c.SignalWorkflow(t.Context(), wire.TaskID(parity.ID), "", wire.ReportSignal, wire.Of(report)))
	if after := a.custody(); after.Row.Over || after.Row.Summary != "Last words" {
		t.Errorf("a report of an epoch that is over: the list shows %+v", after)
	}
	a.refused("a request of the epoch before", a.calls(wire.HostQueue("small"), wire.AnswerActivity, wire.Of(good),
		&wire.Message[wire.Reply]{}), wire.CodeElsewhere)
	stale := summary("stale-epoch", "Mine")
	stale.Host = "small"
	a.refused("a request of the epoch before at the new host", a.calls(wire.HostQueue("small"), wire.AnswerActivity,
		wire.Of(testkit.Ask(t, stale)), &wire.Message[wire.Reply]{}), wire.CodeStaleEpoch)
	var taken wire.Message[wire.TakeAnswer]
	testkit.Must(t, a.calls(wire.HostQueue("small"), wire.TakeActivity, wire.Of(wire.Take{Task: parity.ID, Epoch: 1,
		Birth: newBirth(t, testkit.Key(t, "ada"), parity.ID)}), &taken))
	if !strings.Contains(taken.Body.Refused, "this host knows the epoch") {
		t.Errorf("a take of an epoch that is over: %+v", taken.Body)
	}
	file := filepath.Join(a.line.dir, "people")
	testkit.Must(t, os.WriteFile(file, []byte(testkit.List(t, signed.OfPeople, 1, "ada").Text), 0o600))
	if out, err := a.small.Program("task", "verify", parity.ID, "--people", file).CombinedOutput(); err != nil {
		t.Errorf("the history after the attacks: %v: %s", err, out)
	}
}
