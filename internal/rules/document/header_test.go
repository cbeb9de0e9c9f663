package document_test

import (
	"slices"
	"testing"
	"time"

	"orange/internal/rules/document"
	"orange/internal/rules/task"
)

func TestTheKeysOfAHeaderAreThoseThatNoCounterMayHave(t *testing.T) {
	t.Parallel()
	full := task.Task{PRURL: "u", PRState: "OPEN", Attention: "look", QueuedFor: "working",
		CreatedAt: time.Unix(0, 0), UpdatedAt: time.Unix(0, 0)}
	var keys []string
	for _, v := range document.Fields(full) {
		keys = append(keys, v.Key)
	}
	if !slices.Equal(keys, task.HeaderKeys()) {
		t.Errorf("the header has %q, the names that are kept free are %q", keys, task.HeaderKeys())
	}
}
