package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/doctor"
	"orange/internal/task"
)

// past is the record and the files, with a history that somebody may have changed.
type past struct {
	*world
	changed []string
}

func (p past) IDs(ctx context.Context, project string) ([]string, error) {
	return p.store.IDs(ctx, project)
}

func (p past) Strays(ctx context.Context) ([]string, error) { return p.store.Strays(ctx) }

func (p past) Whole(ctx context.Context, id string) (task.Whole, error) {
	w, err := p.store.Whole(ctx, id)
	if p.changed != nil {
		w.Lines = p.changed
	}
	return w, err
}

func (p past) Rules(ctx context.Context, ref task.WorkflowRef) error {
	_, err := p.world.Rules.Pinned(ctx, ref)
	return err
}

func (p past) Kept(project, id, digest string) (string, bool, error) {
	return p.files.Kept(project, id, digest)
}

func (w *world) verify(id string, changed []string) []task.Finding {
	w.t.Helper()
	d := &doctor.Doctor{Home: w.home, Files: w.files, Shown: w.Engine}
	found, err := d.Verify(w.t.Context(), past{w, changed}, []string{id})
	must(w.t, err)
	return found
}

func problems(found []task.Finding) string {
	var out []string
	for _, f := range found {
		if f.Level != task.LevelOK {
			out = append(out, f.Found)
		}
	}
	return strings.Join(out, "\n")
}

// flipped are the places of the bytes that are flipped: every one in a long test, else some that are drawn.
func flipped(t *testing.T, bytes int) []int {
	t.Helper()
	if os.Getenv("ORANGE_TEST_LONG") != "" {
		all := make([]int, bytes)
		for i := range all {
			all[i] = i
		}
		return all
	}
	seed := rand.Uint64()
	t.Logf("the places are drawn by %d", seed)
	return rand.New(rand.NewPCG(seed, 1)).Perm(bytes)[:bytes/25]
}

func TestOneFlippedByte_anywhereInAHistoryIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("reviewing")
	if got := problems(w.verify(id, nil)); got != "" {
		t.Fatalf("the past does not hold although nobody has touched it:\n%s", got)
	}
	path := w.files.History("garden", id)
	text, err := os.ReadFile(path)
	must(t, err)
	places := flipped(t, len(text))
	for _, at := range places {
		line := strings.Count(string(text[:at]), "\n") + 1
		other := []byte(string(text))
		other[at] ^= 1
		must(t, os.WriteFile(path, other, 0o644))
		if got := problems(w.verify(id, nil)); !strings.Contains(got, fmt.Sprintf("%s:%d: ", path, line)) {
			t.Fatalf("byte %d in line %d of the file is flipped, and is not named:\n%s", at, line, got)
		}
		must(t, os.WriteFile(path, text, 0o644))
		if text[at] == '\n' || other[at] == '\n' {
			continue // the record has no line ends
		}
		lines := strings.Split(strings.TrimSuffix(string(other), "\n"), "\n")
		if got := problems(w.verify(id, lines)); !strings.Contains(got, fmt.Sprintf("line %d: ", line)) {
			t.Fatalf("byte %d in event %d of the record is flipped, and is not named:\n%s", at, line, got)
		}
	}
	t.Logf("%d of %d bytes were flipped, each alone, in the file and in the record", len(places), len(text))
}

func TestAKeptText_thatIsChangedOrGoneIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	rested := w.events(id, task.StatusChanged)[1].Evidence[0]
	path := filepath.Join(w.files.Dir("garden", id), "evidence", rested.Digest)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(text, 'x'), 0o644))
	if got := problems(w.verify(id, nil)); !strings.Contains(got, "## plan, evidence/"+rested.Digest+" is not what it was") {
		t.Errorf("a text was changed: %q", got)
	}
	must(t, os.Remove(path))
	if got := problems(w.verify(id, nil)); !strings.Contains(got, "## plan, evidence/"+rested.Digest+" is not kept any more") {
		t.Errorf("a text is gone: %q", got)
	}
	must(t, os.WriteFile(path, text, 0o644))
}

func TestARecord_thatSaysWhatItsHistoryDoesNotIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	s := w.load(id)
	c := task.Change{Task: s.Task, Expect: s.Task.Version}
	c.Task.Counters = c.Task.Counters.With(task.ReviewRound, 7)
	c.Task.Previous = "done"
	_, err := w.store.Commit(t.Context(), c)
	must(t, err)
	got := problems(w.verify(id, nil))
	for _, want := range []string{`review_round is "0" by its history, and "7" on record`, `previous status is "planning" by its history, and "done" on record`, "TASK.md: review_round"} {
		if !strings.Contains(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	c = task.Change{Task: s.Task, Expect: s.Task.Version + 1} // as it was
	_, err = w.store.Commit(t.Context(), c)
	must(t, err)
}
