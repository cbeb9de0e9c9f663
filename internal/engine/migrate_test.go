package engine_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/task"
)

// A dry run says what the migration will do, changes nothing, and refuses in the same words.
func TestWouldMigrate_saysWhatMigrateDoesAndChangesNothing(t *testing.T) {
	t.Parallel()
	w, id, _ := projecting(t)
	other := strings.NewReplacer("version: 1", "version: 2", "  plan: {role", "  draft: {role",
		"from: plan", "from: draft", "to: plan", "to: draft").Replace(phases)
	file := filepath.Join(w.home, "workflows", "phases.yml")
	must(t, os.WriteFile(file, []byte(other), 0o644))
	before, events := w.task(id), w.events(id, "")
	texts := func() []string {
		all, err := filepath.Glob(filepath.Join(w.home, "workflows", ".kept", "*.yml"))
		must(t, err)
		return all
	}
	kept := texts()
	_, refused := w.WouldMigrate(t.Context(), id, "phases", nil, human)
	if now := texts(); len(kept) != 1 || !slices.Equal(now, kept) {
		t.Errorf("a dry run kept a text that no task has: %q, want %q", now, kept)
	}
	_, want := w.Migrate(t.Context(), id, "phases", nil, human)
	if refused == nil || want == nil || refused.Error() != want.Error() ||
		!strings.Contains(refused.Error(), `no state "plan"`) {
		t.Errorf("it would be refused with\n%v\nand is with\n%v", refused, want)
	}
	stands := map[task.Status]task.Status{"plan": "draft"}
	would, err := w.WouldMigrate(t.Context(), id, "phases", stands, human)
	must(t, err)
	if now := w.task(id); !reflect.DeepEqual(now, before) || !reflect.DeepEqual(w.events(id, ""), events) {
		t.Errorf("a dry run left %+v with %d events, want %+v", now, len(w.events(id, "")), before)
	}
	done, err := w.Migrate(t.Context(), id, "phases", stands, human)
	must(t, err)
	if !would.Moved || !done.Moved || would.Task.Workflow != done.Task.Workflow || would.Task.Status != "draft" ||
		done.Task.Status != "draft" || len(done.Changes) == 0 || !reflect.DeepEqual(would.Changes, done.Changes) {
		t.Errorf("it would be\n%+v\nand is\n%+v", would, done)
	}
	if again, err := w.WouldMigrate(t.Context(), id, "phases", stands, human); err != nil || again.Moved {
		t.Errorf("it has them already: %+v, %v", again, err)
	}
	if _, err := w.WouldMigrate(t.Context(), id, "none", nil, human); err == nil {
		t.Error("a workflow that is not there is no refusal")
	}
}
