package host

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/history"
)

// An answer has told already how a task is. It may be lost on its way: a while later the task is reported all the same.
func TestWentWithAnswer_putsOffWhatAnAnswerHasTold(t *testing.T) {
	t.Parallel()
	const id = "4FzXk0aB3cD5eF7gH9iJ1"
	d := &Daemon{Pace: Pace{Report: time.Hour}, Host: &Host{Store: &Store{Dir: filepath.Join(t.TempDir(), "fleet"),
		Clock: func() (string, time.Duration, error) { return "b1", time.Hour, nil }}}}
	d.begin()
	must := func(err error) {
		t.Helper()
		testkit.Must(t, err)
	}
	happens := func(seq int) { d.noticed(Happening{Task: id, Event: &history.Event{Seq: seq, Type: history.Merged}}) }
	due := func() bool {
		t.Helper()
		all := d.due(func(one *duty, now time.Time) bool { return one.changed && !now.Before(one.next) })
		return len(all) == 1
	}
	must(d.Host.Store.Change(func(h custody.Holder) (custody.Holder, error) { return h.Took(id, 1) }))
	happens(7)
	if !due() || d.wentWithAnswer(id) {
		t.Error("nothing has told of event 7")
	}
	_, _, err := d.Host.Store.Next(id, wire.Row{Head: wire.Head{Event: 9}}, true) // with an answer
	must(err)
	happens(8)
	happens(9)
	if !due() || !d.wentWithAnswer(id) || due() {
		t.Error("it reports at once what an answer has told")
	}
	d.of(id).again, d.of(id).next = time.Time{}.Add(1), time.Time{}.Add(1) // an hour has passed
	if !due() || d.wentWithAnswer(id) {
		t.Error("it never reports what an answer has told")
	}
	happens(9)
	d.all()
	if d.wentWithAnswer(id) {
		t.Error("it puts off what is about more than events")
	}
	happens(10)
	if d.wentWithAnswer(id) {
		t.Error("nothing has told of event 10")
	}
}

// A push for each task that moves would be more than a repository far away should get.
func TestToShip_takesWhatIsDueSoonWithWhatIsDue(t *testing.T) {
	t.Parallel()
	d := &Daemon{Pace: Pace{Settle: time.Minute, Snapshot: time.Hour}, Host: &Host{Store: &Store{
		Dir:   filepath.Join(t.TempDir(), "fleet"),
		Clock: func() (string, time.Duration, error) { return "b1", time.Hour, nil }}}}
	d.begin()
	ids := []string{"4FzXk0aB3cD5eF7gH9iJ1", "4FzXk0aB3cD5eF7gH9iJ2", "4FzXk0aB3cD5eF7gH9iJ3"}
	for i, in := range []time.Duration{time.Second, 30 * time.Second, 2 * time.Minute} {
		err := d.Host.Store.Change(func(h custody.Holder) (custody.Holder, error) { return h.Took(ids[i], 1) })
		testkit.Must(t, err)
		d.of(ids[i]).ship = time.Now().Add(in)
	}
	if got := d.toShip(); len(got) > 0 {
		t.Errorf("before one is due it ships %q", got)
	}
	d.of(ids[0]).ship = time.Now()
	if got := d.toShip(); len(got) != 1 || !slices.Equal(got[0], ids[:2]) {
		t.Errorf("it ships %q, want %q at once", got, ids[:2])
	}
	if got := d.toShip(); len(got) > 0 {
		t.Errorf("at once again it ships %q", got)
	}
	// One that is refused while others are not goes alone, until it is taken.
	d.Say = func(string) {}
	for code, want := range map[string][]int{"failed": {1, 1}, "": {2}} {
		d.noteSnapshot(SnapshotAnswer{Task: ids[1], Error: code, Code: code}, true)
		d.of(ids[0]).ship, d.of(ids[1]).ship = time.Now(), time.Now()
		var got []int
		for _, push := range d.toShip() {
			got = append(got, len(push))
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %q of one it makes pushes of %d tasks, want %d", code, got, want)
		}
	}
}
