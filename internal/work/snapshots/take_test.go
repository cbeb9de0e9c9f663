package snapshots

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/ship"
)

// several has tasks T1 to T3 on record; no other one is.
func several(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.begin()
	first := p.Dir("garden", "T1")
	for _, id := range []string{"T2", "T3"} {
		must(t, os.CopyFS(p.Dir("garden", id), os.DirFS(first)))
	}
	seq := map[string]int{"T1": 3, "T2": 3, "T3": 3}
	p.Load = func(_ context.Context, id string) (record.Snapshot, error) {
		if seq[id] == 0 {
			return record.Snapshot{}, task.Notef(task.ErrNotFound, "there is no task %s", id)
		}
		return record.Snapshot{Task: task.Task{ID: id, Project: "garden", Branch: "topic", Seq: seq[id],
			Workflow: ownRules()}}, nil
	}
	return p
}

// counted is a repository for snapshots that notes each push; pushes are the tasks of each.
func counted(t *testing.T) (at string, pushes func() []string) {
	t.Helper()
	at = vault(t)
	noted := filepath.Join(at, "noted")
	hook := "#!/bin/sh\ncut -d/ -f4 | uniq | tr '\\n' ' ' >>" + noted + "\necho >>" + noted + "\n"
	must(t, os.WriteFile(filepath.Join(at, "hooks", "post-receive"), []byte(hook), 0o700))
	return at, func() []string {
		t.Helper()
		text, err := os.ReadFile(noted)
		must(t, err)
		return strings.Split(strings.TrimSuffix(string(text), " \n"), " \n")
	}
}

func TestSnapshotsOfOneProjectArePushedAtOnce(t *testing.T) {
	t.Parallel()
	p := several(t)
	at, pushes := counted(t)
	order := record.SnapshotOrder{To: at, IfChanged: true}
	for i, taken := range p.Take(t.Context(), []string{"T3", "T1", "T9", "T2", "T1"}, order) {
		want := []string{"T1", "T2", "T3", "T9"}[i]
		if there := taken.Err == nil && taken.Record != ""; taken.Task != want || there == (want == "T9") {
			t.Errorf("the snapshot of %s: %+v", want, taken)
		}
	}
	if got := strings.Join(pushes(), ","); got != "T1 T2 T3" {
		t.Errorf("pushed %q", got)
	}
	for _, taken := range p.Take(t.Context(), []string{"T1", "T2", "T3"}, order) {
		if h, err := p.holdingOf(taken.Task); err != nil || !taken.Unchanged || h.Acknowledged[at] != taken.Record ||
			len(h.Sent) > 0 {
			t.Errorf("again: %+v, held as %+v, %v", taken, h, err)
		}
	}
}

func TestASnapshotThatIsRefusedStopsNoneOfTheOthers(t *testing.T) {
	t.Parallel()
	for name, refuses := range map[string]func(at string, p *place){
		"another home has pushed one": func(at string, p *place) {
			dir := p.Dir("garden", "T2")
			commit, err := ship.Snapshots{Repo: p.repo}.FolderCommit(t.Context(), dir,
				map[string]string{aboutName: "{}"}, "m\n")
			must(t, err)
			must(t, ship.Snapshots{Repo: p.repo}.Ship(t.Context(), at, ship.Shipment{Task: "T2",
				Shipped: ship.Shipped{Record: commit}}))
		},
		"the repository does not want it": func(at string, _ *place) {
			hook := "#!/bin/sh\ncase $1 in */T2/*) exit 1; esac\n"
			must(t, os.WriteFile(filepath.Join(at, "hooks", "update"), []byte(hook), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := several(t)
			at := vault(t)
			refuses(at, p)
			for _, taken := range p.Take(t.Context(), []string{"T1", "T2", "T3"}, record.SnapshotOrder{To: at}) {
				if refused := taken.Err != nil; refused != (taken.Task == "T2") {
					t.Errorf("the snapshot of %s: %v", taken.Task, taken.Err)
				}
				moved := errors.Is(taken.Err, ship.ErrSnapshotMoved)
				if taken.Task == "T2" && moved != strings.HasPrefix(name, "another") {
					t.Errorf("the reason: %v", taken.Err)
				}
				there := gitIn(t, at, "for-each-ref", "--format=%(objectname)",
					"refs/orange/fleet/"+taken.Task+"/record")
				if (there == taken.Record) == (taken.Task == "T2") {
					t.Errorf("of %s there is %q, want %q", taken.Task, there, taken.Record)
				}
			}
		})
	}
}

// A repository that is not reached is asked for all tasks at once: for each it could take minutes.
func TestARepositoryThatIsNotReachedIsAskedOnce(t *testing.T) {
	t.Parallel()
	p := several(t)
	calls := 0
	counted := proc.WithEnviron(t.Context(), func() proc.Environ {
		calls++ // once or more for each program
		return proc.Environ{Own: os.Environ()}
	})
	at := filepath.Join(t.TempDir(), "nowhere.git")
	take := func(ids ...string) int {
		t.Helper()
		calls = 0
		for _, taken := range p.Take(counted, ids, record.SnapshotOrder{To: at}) {
			if taken.Err == nil {
				t.Errorf("the snapshot of %s got there", taken.Task)
			}
		}
		return calls
	}
	take("T1", "T2", "T3")
	// What became of the first ones has to be known first.
	if one, three := take("T1"), take("T1", "T2", "T3"); one != three || one == 0 {
		t.Errorf("an environment was asked for %d times for one task, %d times for three", one, three)
	}
	gitIn(t, filepath.Dir(at), "init", "-q", "--bare", at)
	for _, taken := range p.Take(t.Context(), []string{"T1", "T2", "T3"}, record.SnapshotOrder{To: at}) {
		must(t, taken.Err)
	}
}

// A program was ended when its push had arrived, and before it noted that.
func TestSnapshotsThatArrivedUnseenAreBehindTheNextOnes(t *testing.T) {
	t.Parallel()
	p := several(t)
	at := vault(t)
	order := record.SnapshotOrder{To: at}
	first := p.Take(t.Context(), []string{"T1", "T2"}, order)
	for _, taken := range first {
		must(t, taken.Err)
		must(t, p.hold(taken.Task, holding{Epoch: 1, Sent: map[string]string{at: taken.Record}}))
	}
	for i, taken := range p.Take(t.Context(), []string{"T1", "T2"}, order) {
		must(t, taken.Err)
		if parent := gitIn(t, at, "rev-parse", "refs/orange/fleet/"+taken.Task+"/record^"); parent != first[i].Record {
			t.Errorf("the next snapshot of %s is behind %s, want %s", taken.Task, parent, first[i].Record)
		}
	}
}

// What is no refusal by the repository's own word, such as a proxy's answer, may be about one of them too.
func TestTheOthersArePushedWhereverTheRepositoryAnswers(t *testing.T) {
	t.Parallel()
	p := several(t)
	at := vault(t)
	hook := "#!/bin/sh\nif [ $(wc -l) -gt 2 ]; then kill -9 $PPID; fi\n"
	must(t, os.WriteFile(filepath.Join(at, "hooks", "pre-receive"), []byte(hook), 0o700))
	for _, taken := range p.Take(t.Context(), []string{"T1", "T2", "T3"}, record.SnapshotOrder{To: at}) {
		must(t, taken.Err)
	}
}
