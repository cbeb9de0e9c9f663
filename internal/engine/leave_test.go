package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/action"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
)

func TestLeave_endsReleasesAndForgets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	_, _, err := w.Leave(t.Context(), id, "", worker)
	wantCode(t, err, rejection.ActorDenied)
	folder, refs, err := w.Leave(t.Context(), id, "to the big machine", human)
	must(t, err)
	wantText(t, "hooks", w.performer.done(), action.KillSession+" "+action.ReleaseWorkspace)
	if _, err := w.store.Load(t.Context(), id); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("it is on record: %v", err)
	}
	lines, err := os.ReadFile(filepath.Join(folder, "history.jsonl"))
	must(t, err)
	if !strings.Contains(string(lines), "to the big machine") || len(refs) != 0 {
		t.Errorf("%s has\n%s", folder, lines)
	}
	if all, err := w.files.Folders(); err != nil || len(all) != 0 {
		t.Errorf("a rebuild would find %v, %v", all, err)
	}
}

func TestLeave_waitsForTheWorkspaceAndGoesOnLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.performer.fails[action.ReleaseWorkspace] = errPerformer
	if _, _, err := w.Leave(t.Context(), id, "", human); err == nil || !strings.Contains(err.Error(),
		"leave yet: release_workspace: the performer fails") {
		t.Errorf("it left: %v", err)
	}
	if got := w.task(id); got.Workspace == "" || got.Attention == "" {
		t.Errorf("it is %+v", got)
	}
	delete(w.performer.fails, action.ReleaseWorkspace)
	folder, _, err := w.Leave(t.Context(), id, "", human)
	must(t, err)
	if folder == "" {
		t.Error("its folder is nowhere")
	}
}

// One that came back keeps what it left behind the first time.
func TestLeave_twiceKeepsBothFolders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := w.wanted(false)
	n.ID = "OrangeStory0000000001"
	folders := map[string]bool{}
	for range 3 {
		_, err := w.Create(t.Context(), n)
		must(t, err)
		folder, _, err := w.Leave(t.Context(), n.ID, "", human)
		must(t, err)
		folders[folder] = true
	}
	if len(folders) != 3 {
		t.Errorf("the folders are %v", folders)
	}
}

// Its work is looked at between the end of its agents and the end of its workspace.
func TestBeginToLeave_endsTheAgentsOnceAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	wantCode(t, w.BeginToLeave(t.Context(), id, "", worker), rejection.ActorDenied)
	w.performer.fails[action.KillSession] = errPerformer
	if err := w.BeginToLeave(t.Context(), id, "", human); err == nil || !strings.Contains(err.Error(),
		"leave yet: kill_session: the performer fails") {
		t.Errorf("its agents have ended: %v", err)
	}
	delete(w.performer.fails, action.KillSession)
	for range 2 {
		must(t, w.BeginToLeave(t.Context(), id, "to the big machine", human))
	}
	if got := w.task(id); got.Workspace == "" || got.Session != "" || got.Attention == "" {
		t.Errorf("it is %+v", got)
	}
	wantText(t, "hooks", w.performer.done(), action.KillSession+" "+action.KillSession) // with the one that failed
}
