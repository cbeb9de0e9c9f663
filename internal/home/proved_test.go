package home_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"orange/internal/task"
)

const endless = `name: own
version: 1
states:
  todo: {}
  here: {}
  done: {terminal: true}
transitions:
  - {from: todo, to: here}
  - {from: todo, to: done}
`

func TestAWorkflow_thatDoesNotKeepWhatIsProvedIsRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	write(t, h, "workflows/own.yml", endless)
	for range 2 { // what is broken stays so, however often it is asked for
		_, err := h.Named(t.Context(), "own")
		if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), `nothing leads on from "here" [no-dead-end]`) ||
			!strings.Contains(err.Error(), "2. A person asks for") {
			t.Errorf("got %v", err)
		}
	}
	write(t, h, "workflows/own.yml", endless+"allow: {no-dead-end: it waits there for another place, terminating: the same}\n")
	def, err := h.Named(t.Context(), "own")
	must(t, err)
	note := strings.TrimSuffix(h.Kept(def.Digest), ".yml") + ".proved"
	first, err := os.Stat(note)
	must(t, err)
	_, err = h.Named(t.Context(), "own")
	must(t, err)
	if again, err := os.Stat(note); err != nil || !os.SameFile(first, again) {
		t.Errorf("it was proved a second time: %v", err)
	}
	must(t, os.WriteFile(note, []byte("edition 0\n"), 0o600))
	_, err = h.Named(t.Context(), "own")
	must(t, err)
	if text, err := os.ReadFile(note); err != nil || string(text) == "edition 0\n" {
		t.Errorf("what an earlier edition has proved was believed: %q, %v", text, err)
	}
}
