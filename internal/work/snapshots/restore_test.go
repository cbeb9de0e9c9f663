package snapshots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/fencing"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/work/ship"
)

const rules = "name: own\n"

// place is a home with a repository, where task T1 may be.
type place struct {
	t *testing.T
	Keeper
	slots
	known  *task.Task // T1, where it is on record
	events []history.Event
	told   func() // runs while a restore is on its way
	got    []record.Adoption
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, slots: repository(t)}
	p.Keeper = Keeper{Home: t.TempDir(), Slots: p, Files: p, Workflows: p, Adopter: p,
		Sync: func(context.Context, string) error { return nil }, FilesLock: func(id string) string { return id }}
	p.Events = func(context.Context, string, int) ([]history.Event, error) { return p.got[len(p.got)-1].Events, nil }
	p.Load = func(_ context.Context, id string) (record.Snapshot, error) {
		if p.known == nil {
			return record.Snapshot{}, task.Notef(task.ErrNotFound, "there is no task %s", id)
		}
		return record.Snapshot{Task: *p.known}, nil
	}
	return p
}

func (p *place) Dir(project, id string) string { return filepath.Join(p.Home, "tasks", project, id) }

func (*place) Lock(context.Context, string) (func(), error) { return func() {}, nil }

func (*place) Workflow(context.Context, string) ([]byte, error) { return []byte(rules), nil }

func (*place) SaveWorkflow(context.Context, task.WorkflowRef, []byte) error { return nil }

func (p *place) Tell(_ context.Context, _, id string, _ []byte) (record.Adoption, error) {
	if p.told != nil {
		p.told()
	}
	return record.Adoption{Task: task.Task{ID: id, Project: "garden", Branch: "topic", Seq: 3,
		Workflow: ownRules()}}, nil
}

func (p *place) Adopt(_ context.Context, told []record.Adoption, _ func(int)) []record.Adopted {
	p.got = append(p.got, told...)
	p.known = &told[0].Task
	return []record.Adopted{{Adoption: told[0]}}
}

func ownRules() task.WorkflowRef {
	sum := sha256.Sum256([]byte(rules))
	return task.WorkflowRef{Name: "own", Digest: hex.EncodeToString(sum[:])}
}

// begin creates task T1, with three events.
func (p *place) begin() {
	p.t.Helper()
	p.known = &task.Task{ID: "T1", Project: "garden", Branch: "topic", Seq: 3, Workflow: ownRules()}
	var lines strings.Builder
	prev := ""
	for i, kind := range []string{history.Created, history.Updated, history.Updated} {
		e, err := history.Seal(history.Event{Type: kind, Workflow: "w1"}, i+1, prev)
		must(p.t, err)
		line, err := json.Marshal(e)
		must(p.t, err)
		lines.WriteString(string(line) + "\n")
		p.events, prev = append(p.events, e), e.Hash
	}
	dir := p.Dir("garden", "T1")
	must(p.t, writeFile(filepath.Join(dir, "TASK.md"), []byte("# A task\n")))
	must(p.t, writeFile(filepath.Join(dir, "history.jsonl"), []byte(lines.String())))
}

func (p *place) take(at string) error {
	return p.Take(p.t.Context(), []string{"T1"}, record.SnapshotOrder{To: at})[0].Err
}

func (p *place) restore(at string, o fencing.RestoreOrder) error {
	_, err := p.Restore(p.t.Context(), "garden", "T1", at, o)
	return err
}

// nothing was left of a snapshot that was refused.
func (p *place) hasNothing(what string) {
	p.t.Helper()
	_, err := os.Lstat(p.Dir("garden", "T1"))
	refs := gitIn(p.t, p.repo.Path, "for-each-ref", "refs/orange/restore")
	if !errors.Is(err, os.ErrNotExist) || refs != "" || len(p.got) > 0 {
		p.t.Errorf("%s: %v, refs %q, adopted %d", what, err, refs, len(p.got))
	}
}

func subjectAt(t *testing.T, at string) string {
	t.Helper()
	return gitIn(t, at, "log", "-1", "--format=%s", "refs/orange/fleet/T1/record")
}

// Only one home brings a task back, and the one that had it is held back from then on.
func TestRestore_takesTheTaskFromTheHomeThatHadIt(t *testing.T) {
	t.Parallel()
	a, b, c, at := newPlace(t), newPlace(t), newPlace(t), vault(t)
	a.begin()
	must(t, a.take(at))
	c.told = func() { // another home is faster
		if subjectAt(t, at) == "epoch 1, event 3" {
			must(t, b.restore(at, fencing.RestoreOrder{}))
		}
	}
	err := c.restore(at, fencing.RestoreOrder{})
	if !errors.Is(err, fencing.ErrUnexpected) || !strings.Contains(err.Error(), "that one has it; nothing was done") {
		t.Errorf("the second home: %v", err)
	}
	c.hasNothing("the second home")
	if _, err := os.Stat(heldPath(c.Home, "T1")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the second home holds it: %v", err)
	}
	if got := subjectAt(t, at); got != "epoch 2, event 3" || len(b.got) != 1 {
		t.Errorf("the newest snapshot is %q", got)
	}
	h, err := b.holdingOf("T1")
	if tip := gitIn(t, at, "rev-parse", "refs/orange/fleet/T1/record"); err != nil || h.Epoch != 2 ||
		h.Acknowledged[at] != tip {
		t.Errorf("it is held as %+v, %v", h, err)
	}
	if err := a.take(at); err == nil || !strings.Contains(err.Error(), "orange task leave T1") {
		t.Errorf("the first home: %v", err)
	}
	wants(t, "the first home", NewGuard(a.Home, a).refusal(t, "T1"), "at another home since epoch 2")
	wants(t, "the new home", NewGuard(b.Home, b).refusal(t, "T1"), "")
	gitIn(t, b.repo.Path, "commit", "-q", "--allow-empty", "-m", "more") // not on the branch of the task
	must(t, b.take(at))
	// From there it goes on to a third one.
	c.told = nil
	must(t, c.restore(at, fencing.RestoreOrder{}))
	if got := subjectAt(t, at); got != "epoch 3, event 3" {
		t.Errorf("the newest snapshot is %q", got)
	}
}

// A restore that is cut short after its first snapshot was pushed goes on with that.
func TestRestore_goesOnWithItsOwnSnapshot(t *testing.T) {
	t.Parallel()
	a, b, at := newPlace(t), newPlace(t), vault(t)
	a.begin()
	must(t, a.take(at))
	must(t, b.restore(at, fencing.RestoreOrder{Epoch: 2}))
	b.known = nil
	must(t, os.RemoveAll(b.Dir("garden", "T1")))
	must(t, b.restore(at, fencing.RestoreOrder{Epoch: 2}))
	if got := subjectAt(t, at); got != "epoch 2, event 3" {
		t.Errorf("the newest snapshot is %q", got)
	}
}

func TestRestore_isDoneOncePerEpoch(t *testing.T) {
	t.Parallel()
	a, b, at := newPlace(t), newPlace(t), vault(t)
	a.begin()
	must(t, a.take(at))
	if err := b.restore(at, fencing.RestoreOrder{Epoch: 1}); !errors.Is(err, fencing.ErrUnexpected) {
		t.Errorf("in the epoch of the snapshot: %v", err)
	}
	b.hasNothing("in the epoch of the snapshot")
	for range 2 {
		must(t, b.restore(at, fencing.RestoreOrder{Epoch: 4}))
	}
	if got := subjectAt(t, at); got != "epoch 4, event 3" || len(b.got) != 1 {
		t.Errorf("the newest snapshot is %q, adopted %d times", got, len(b.got))
	}
	if err := b.restore(at, fencing.RestoreOrder{Epoch: 3}); !errors.Is(err, fencing.ErrUnexpected) {
		t.Errorf("in an earlier epoch: %v", err)
	}
	if err := b.restore(at, fencing.RestoreOrder{}); !errors.Is(err, task.ErrUsage) {
		t.Errorf("once more, by hand: %v", err)
	}
	must(t, b.Hold(t.Context(), "T1", 5)) // its next snapshot looks what is there
	if h, err := b.holdingOf("T1"); err != nil || h.Epoch != 5 || len(h.Acknowledged) != 0 {
		t.Errorf("it is held as %+v, %v", h, err)
	}
}

// What a home has of a task is no answer once another home has had it: that one has done more, and what it has
// acknowledged is not here.
func TestRestore_takesNoStaleLocalCopyForTheTask(t *testing.T) {
	t.Parallel()
	a, b, c, at := newPlace(t), newPlace(t), newPlace(t), vault(t)
	a.begin()
	must(t, a.take(at))
	must(t, b.restore(at, fencing.RestoreOrder{Epoch: 2}))
	must(t, b.restore(at, fencing.RestoreOrder{Epoch: 3})) // no other home has had it
	must(t, c.restore(at, fencing.RestoreOrder{Epoch: 4}))
	err := b.restore(at, fencing.RestoreOrder{Epoch: 5})
	if !errors.Is(err, fencing.ErrUnexpected) || !strings.Contains(err.Error(), "orange task leave T1 --push-to") {
		t.Errorf("it is restored by what was there: %v", err)
	}
	if h, err := b.holdingOf("T1"); err != nil || h.Epoch != 3 || subjectAt(t, at) != "epoch 4, event 3" {
		t.Errorf("it is held as %+v, %v; the newest is %q", h, err, subjectAt(t, at))
	}
	must(t, os.RemoveAll(filepath.Join(b.Home, "fleet", "held")))
	if err := b.restore(at, fencing.RestoreOrder{Epoch: 5}); !errors.Is(err, fencing.ErrUnexpected) {
		t.Errorf("without a note of its own snapshots: %v", err)
	}
	gitIn(t, at, "update-ref", "-d", "refs/orange/fleet/T1/record")
	must(t, b.restore(at, fencing.RestoreOrder{Epoch: 5})) // no home has pushed any
	must(t, os.RemoveAll(filepath.Join(b.Home, "fleet", "held")))
	must(t, os.RemoveAll(at))
	if err := b.restore(at, fencing.RestoreOrder{Epoch: 5}); err == nil || errors.Is(err, fencing.ErrUnexpected) {
		t.Errorf("what could not be looked at: %v", err)
	}
}

// The work of the home before stays in the repository, also where this home pushes other work before that is laid out.
func TestRestore_keepsTheWorkBehindItsFirstSnapshot(t *testing.T) {
	t.Parallel()
	a, b, at := newPlace(t), newPlace(t), vault(t)
	a.begin()
	must(t, a.take(at))
	work := gitIn(t, at, "rev-parse", "refs/orange/fleet/T1/work")
	must(t, b.restore(at, fencing.RestoreOrder{Epoch: 2}))
	gitIn(t, at, "merge-base", "--is-ancestor", work, "refs/orange/fleet/T1/record")
	if first := gitIn(t, at, "log", "-1", "--first-parent", "--skip=1", "--format=%s",
		"refs/orange/fleet/T1/record"); first != "epoch 1, event 3" {
		t.Errorf("the record before it is %q", first)
	}
}

func TestRestore_takesWhatTheFleetKnows(t *testing.T) {
	t.Parallel()
	a, b, at := newPlace(t), newPlace(t), vault(t)
	a.begin()
	must(t, a.take(at))
	before := gitIn(t, at, "for-each-ref")
	for name, o := range map[string]fencing.RestoreOrder{"off the chain": {Event: 2, Hash: a.events[2].Hash},
		"another workflow": {Workflow: "w2"}, "no key": {Keys: []string{"a b"}}} {
		if err := b.restore(at, o); err == nil {
			t.Errorf("%s: it was restored", name)
		}
		b.hasNothing(name)
	}
	if after := gitIn(t, at, "for-each-ref"); after != before {
		t.Errorf("the refs were %s and are %s", before, after)
	}
	o := fencing.RestoreOrder{Epoch: 2, Event: 9, Hash: "x", Host: "h1", Keys: []string{"k1"}}
	for range 2 { // whose answer was lost asks again
		back, err := b.Restore(t.Context(), "garden", "T1", at, o)
		if must(t, err); !slices.Equal(back.Lost, o.Keys) {
			t.Errorf("lost are %q, want %q", back.Lost, o.Keys)
		}
	}
	got := b.got[0]
	if len(got.Events) != 1 || got.Events[0].Type != fencing.AskLost || len(got.Notes) != 2 ||
		!strings.Contains(got.Notes[0], "the fleet has heard of event 9") {
		t.Errorf("added is %+v, noted %q", got.Events, got.Notes)
	}
}

// signs gives a home a key, and returns the line that lets another one trust it.
func (p *place) signs(host string) string {
	p.t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		p.t.Skip("there is no ssh-keygen: signatures cannot be made")
	}
	key := filepath.Join(p.Home, "fleet", "host_key")
	must(p.t, os.MkdirAll(filepath.Dir(key), 0o700))
	out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", host, "-f", key).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	must(p.t, err)
	return host + ` namespaces="git" ` + string(public)
}

// trusts gives a home the hosts whose snapshots it takes.
func (p *place) trusts(lines ...string) {
	p.t.Helper()
	path := filepath.Join(p.Home, "fleet", "hosts")
	must(p.t, writeFile(path, []byte(strings.Join(lines, ""))))
}

// forged is a commit that has the signature of another one, and another message.
func forged(t *testing.T, repo, commit string) string {
	t.Helper()
	raw := gitIn(t, repo, "cat-file", "commit", commit)
	file := filepath.Join(t.TempDir(), "commit")
	must(t, os.WriteFile(file, []byte(raw+" and more\n"), 0o600))
	return gitIn(t, repo, "hash-object", "-t", "commit", "-w", file)
}

// Attackers cannot (docs/proof.md): have a host take a forged snapshot.
func TestRestore_takesOnlySignedSnapshotsWhereThereAreSigners(t *testing.T) {
	t.Parallel()
	a, at := newPlace(t), vault(t)
	a.begin()
	must(t, a.take(at))
	const record, work = "refs/orange/fleet/T1/record", "refs/orange/fleet/T1/work"
	unsigned := gitIn(t, at, "rev-parse", work)
	h1 := a.signs("h1")
	stranger := newPlace(t)
	foreign := stranger.signs("h2")
	home := func(order fencing.RestoreOrder, signers ...string) (*place, error) {
		b := newPlace(t)
		b.trusts(signers...)
		return b, b.restore(at, order)
	}
	refused := func(what, why string, order fencing.RestoreOrder, signers ...string) {
		t.Helper()
		before := gitIn(t, at, "for-each-ref")
		b, err := home(order, signers...)
		if !errors.Is(err, fencing.ErrUnexpected) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", what, err)
		}
		b.hasNothing(what)
		if after := gitIn(t, at, "for-each-ref"); after != before {
			t.Errorf("%s: the refs were %s and are %s", what, before, after)
		}
	}
	refused("unsigned", "it is not signed by an ssh key", fencing.RestoreOrder{}, h1)
	must(t, a.take(at))
	good, goodWork := gitIn(t, at, "rev-parse", record), gitIn(t, at, "rev-parse", work)
	refused("of a foreign host", "which ", fencing.RestoreOrder{}, foreign)
	refused("of no host", "which ", fencing.RestoreOrder{}, "\n")
	refused("of another host than had it", `signed by "h1", and "h2" had the task`, fencing.RestoreOrder{Host: "h2"},
		h1, foreign)
	gitIn(t, at, "update-ref", record, forged(t, at, good))
	refused("a forged record", "its signature is not one of this commit", fencing.RestoreOrder{}, h1)
	gitIn(t, at, "update-ref", record, good)
	gitIn(t, at, "update-ref", work, forged(t, at, goodWork))
	refused("forged work", "its record names the work", fencing.RestoreOrder{}, h1)
	gitIn(t, at, "update-ref", work, unsigned)
	refused("the work of an earlier snapshot", "its record names the work", fencing.RestoreOrder{}, h1)
	gitIn(t, at, "update-ref", work, goodWork)
	b, err := home(fencing.RestoreOrder{Host: "h1"}, h1, foreign)
	if err != nil || len(b.got) != 1 {
		t.Fatalf("a signed one: %v", err)
	}
	// The new home has no key of its own: the guard of the first one does not believe it, and waits all the same.
	a.trusts(h1)
	wants(t, "an unsigned claim", NewGuard(a.Home, a).refusal(t, "T1"), "it is not signed by an ssh key")
}

// What a repository's own configuration says of signatures does not count: agents can write it.
// Attackers cannot (docs/proof.md): have a host take a forged snapshot.
func TestSigner_doesNotGoByTheRepositorysConfiguration(t *testing.T) {
	t.Parallel()
	a, at := newPlace(t), vault(t)
	a.begin()
	h1 := a.signs("h1")
	must(t, a.take(at))
	b := newPlace(t)
	b.trusts("\n")
	own := filepath.Join(t.TempDir(), "signers")
	must(t, os.WriteFile(own, []byte(h1), 0o600))
	program := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch \"$0\".ran\nexit 0\n"), 0o700))
	for key, value := range map[string]string{"gpg.ssh.allowedSignersFile": own, "gpg.ssh.program": program,
		"gpg.program": program, "gpg.format": "openpgp", "gpg.minTrustLevel": "undefined"} {
		gitIn(t, b.repo.Path, "config", key, value)
	}
	if err := b.restore(at, fencing.RestoreOrder{}); !errors.Is(err, fencing.ErrUnexpected) {
		t.Errorf("it was restored by what its own repository says: %v", err)
	}
	if _, err := os.Stat(program + ".ran"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the repository's program ran: %v", err)
	}
}

// A home that pushed a snapshot and was ended before it noted so goes on behind that one.
func TestASnapshotThatWasPushedAndNotNotedIsFoundOut(t *testing.T) {
	t.Parallel()
	p, vault := newPlace(t), vault(t)
	p.begin()
	must(t, p.take(vault))
	before, err := p.holdingOf("T1")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(p.Dir("garden", "T1"), "TASK.md"), []byte("# Another\n"), 0o600))
	must(t, p.take(vault))
	lost, err := p.holdingOf("T1")
	must(t, err)
	before.Sent[vault] = lost.Acknowledged[vault] // as it was noted before the push
	must(t, p.hold("T1", before))
	if err := p.take(vault); err != nil {
		t.Errorf("after its own snapshot: %v", err)
	}
	before.Sent[vault] = before.Acknowledged[vault] // it sent that one, and another home has pushed since
	must(t, p.hold("T1", before))
	if err := p.take(vault); !errors.Is(err, ship.ErrSnapshotMoved) {
		t.Errorf("after the snapshot of another home: %v", err)
	}
}

func TestASnapshotIsPushedOnlyIfSomethingChanged(t *testing.T) {
	t.Parallel()
	p, vault := newPlace(t), vault(t)
	p.begin()
	take := func() record.TakenSnapshot {
		t.Helper()
		taken := p.Take(t.Context(), []string{"T1"}, record.SnapshotOrder{To: vault, IfChanged: true})[0]
		must(t, taken.Err)
		return taken
	}
	first := take()
	if second := take(); first.Unchanged || !second.Unchanged || second.Record != first.Record {
		t.Errorf("the first is %+v, the second %+v", first, second)
	}
	gitIn(t, p.repo.Path, "checkout", "-q", "topic")
	gitIn(t, p.repo.Path, "commit", "-q", "--allow-empty", "-m", "More")
	if third := take(); third.Unchanged {
		t.Error("a new commit is not in the snapshot")
	}
	p.known.Seq++
	if fourth := take(); fourth.Unchanged {
		t.Error("a new event is not in the snapshot")
	}
}
