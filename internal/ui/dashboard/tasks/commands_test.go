package tasks

import (
	"testing"

	"orange/internal/ui/dashboard/screen"
)

// The table of keys is the person's: one who has moved a key reads the new one.
func TestInKeys_namesTheKeyAndNoCommand(t *testing.T) {
	t.Parallel()
	keys := screen.KeyTable{"start": {"enter"}, "say": {"f2"}, "part-3": {"3"}, "merge": {"m"}}
	for text, want := range map[string]string{
		`crash 1: it ended; start it again with "orange task respawn T1"; its last words: no`: "crash 1: it ended; " +
			"start it again with Enter; its last words: no",
		"say what to do: orange task say T1 TEXT, or there: orange task attach T1 --role worker": "say what to do: " +
			"f2, or there: Enter",
		"orange task why T1":                   "3",
		"merge it again: orange task merge T1": "merge it again: m",
		"orange task why T2":                   "orange task why T2", // another task
		"orange task update T1 --seen":         "orange task update T1 --seen",
	} {
		if got := InKeys(keys, "T1", text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
