package host_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"orange/fleet/custody"
	"orange/fleet/host"
	"orange/fleet/testkit"
)

// A host tells an empty server what it has from its own files; a person signed what each task was created from.
func TestHeld_isWhatAServerThatKnowsNothingNeeds(t *testing.T) {
	t.Parallel()
	store := &host.Store{Dir: t.TempDir(), Clock: func() (string, time.Duration, error) { return "boot", 0, nil },
		Now: time.Now}
	one := &host.Host{Fleet: testkit.Fleet, Name: "h1", Key: testkit.Key(t, "h1"), Store: store}
	birth := testkit.Birth(t, "ada", "abc", "any", time.Now().Add(-24*time.Hour))
	took := func(task string, epoch int) {
		t.Helper()
		if err := store.Change(func(now custody.Holder) (custody.Holder, error) {
			return now.Took(task, epoch)
		}); err != nil {
			t.Fatal(err)
		}
	}
	took("abc", 3)
	took("old", 1) // before the host kept births
	testkit.Must(t, store.KeepBirth("abc", birth))
	held, err := one.Held()
	if err != nil || len(held) != 2 || held[1].Birth != nil {
		t.Fatalf("%+v, %v", held, err)
	}
	trust := testkit.Trust(t, "h1")
	s, err := custody.Resume(testkit.Fleet, *held[0].Birth, trust, held[0].Report, time.Now())
	if err != nil || s.Epoch != 3 || s.Host != "h1" {
		t.Errorf("%+v, %v", s, err)
	}
	testkit.Must(t, store.DropBirth("abc"))
	for range 2 { // a second time is no error
		if err := store.DropBirth("abc"); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(filepath.Join(store.Dir, "births"))
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if err := store.KeepBirth("../abc", birth); err == nil {
		t.Error("an id leads elsewhere")
	}
}
