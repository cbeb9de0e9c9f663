package mirror_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orange/internal/store/mirror"
)

func TestWatch_reportsEveryNewOrWrittenFileUntilItIsCancelled(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	ctx, off := context.WithCancel(t.Context())
	touched, done := make(chan string, 1000), make(chan error, 1)
	go func() { done <- mirror.Watch(ctx, dir, func(path string) { touched <- path }) }()
	wait := func(want string) {
		t.Helper()
		late := time.After(20 * time.Second)
		for {
			select {
			case got := <-touched:
				if got == want {
					return
				}
			case <-late:
				t.Fatalf("it never heard of %q", want)
			}
		}
	}
	wait("") // what was there before
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	must(t, os.WriteFile(one, []byte("a"), 0o644))
	wait(one)
	must(t, os.Rename(one, two))
	wait(two)
	file, err := os.OpenFile(two, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteString("b")
	must(t, err)
	must(t, file.Close())
	wait(two)
	off()
	must(t, <-done)
}
