package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

func TestAStatusThatAnAgentWrites_isRestoredAndNotedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	for range 2 { // an agent that insists is reported again
		w.edit(id, "\nstatus: working\n", "\nstatus: done\n")
		for range 3 {
			s, _, err := w.Refresh(t.Context(), id)
			must(t, err)
			wantText(t, "status", string(s.Task.Status), "working")
		}
	}
	noted := w.events(id, history.DocumentRestored)
	if len(noted) != 2 || noted[0].Data["field"] != "status" || noted[0].Data["found"] != "done" ||
		noted[0].Data["kept"] != "working" {
		t.Errorf("the history tells %+v", noted)
	}
	if text := w.document(id); !strings.Contains(text, "\nstatus: working\n") {
		t.Errorf("the document shows\n%s", text)
	}
	wantText(t, "hooks", w.performer.done(), "")
}

func TestANewTaskWithAWorkspace_reportsNoEditOfItsHeader(t *testing.T) {
	t.Parallel()
	for _, status := range []task.Status{"pending", "clarification", "agent-review", "reviewing"} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.runner.dead = true // the caller comes before the runner
			out, err := w.Create(t.Context(), task.New{Project: w.repository.project, Summary: "x", Status: status,
				Workflow: "default", Actor: human})
			must(t, err)
			s, _, err := w.Refresh(t.Context(), out.Task.ID)
			must(t, err)
			if noted := w.events(s.Task.ID, history.DocumentRestored); len(noted) != 0 {
				t.Errorf("the history tells of %+v", noted)
			}
			if text := w.document(s.Task.ID); s.Task.Workspace != "" &&
				!strings.Contains(text, "\nworkspace: "+s.Task.Workspace+"\n") {
				t.Errorf("the document shows\n%s", text)
			}
		})
	}
}

func TestAStaleHeader_isRenewedInSilence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("planning")
	old := w.document(id)
	w.write(id, plan)
	w.move(id, "working", worker)
	// saved by an editor that read it before the move
	must(t, os.WriteFile(w.files.Document("garden", id), []byte(old+plan), 0o644))
	before := len(w.events(id, ""))
	s, _, err := w.Refresh(t.Context(), id)
	must(t, err)
	if after := len(w.events(id, "")); after != before || s.Task.Status != "working" {
		t.Errorf("%d events became %d, the status is %s", before, after, s.Task.Status)
	}
	if text := w.document(id); !strings.Contains(text, "\nstatus: working\n") {
		t.Errorf("the document shows\n%s", text)
	}
}

func TestWhatPeopleMaySetInTheHeader_isTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.edit(id, "\nsummary: \"mend the gate\"\n", "\nsummary: \"paint the gate: blue\"\n")
	w.edit(id, "\nharness: claude\n", "\nharness: pi\n")
	w.edit(id, "\nreview_effort: \"\"\n", "\nreview_effort: high\n")
	w.edit(id, "\nmodel: \"\"\n", "\nmodel: opus\n")
	w.edit(id, "\nreview_model: \"\"\n", "\nreview_model: sonnet\n")
	for range 2 {
		_, _, err := w.Refresh(t.Context(), id)
		must(t, err)
	}
	got := w.task(id)
	if got.Summary != "paint the gate: blue" || got.Harness != "pi" || got.ReviewEffort != "high" ||
		got.Model != "opus" || got.ReviewModel != "sonnet" ||
		got.ReviewHarness != "codex" {
		t.Errorf("the task is %+v", got)
	}
	if noted := w.events(id, history.Updated); len(noted) != 1 || noted[0].Data["harness"] != "pi" ||
		len(noted[0].Data) != 5 {
		t.Errorf("the history tells %+v", noted)
	}
}

func TestABrokenHeader_getsANewOneAboveAndIsNotedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.write(id, handoff)
	w.edit(id, "\nstatus: working\n", "\nstatus: a: b: c\n")
	broken := w.document(id)
	for range 2 {
		_, _, err := w.Refresh(t.Context(), id)
		must(t, err)
	}
	if noted := w.events(id, history.DocumentRestored); len(noted) != 1 || noted[0].Data["problem"] == "" {
		t.Errorf("the history tells %+v", noted)
	}
	d := document.Read([]byte(w.document(id)))
	if !strings.HasPrefix(d.Body, broken) {
		t.Errorf("the body is\n%s", d.Body)
	}
	w.move(id, "agent-review", worker)
}

func TestADocumentThatCannotBeRead_refusesAGateAndHidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("planning")
	path := w.files.Document("garden", id)
	must(t, os.Remove(path))
	must(t, os.Mkdir(path, 0o755))
	_, err := w.ask(id, "working", worker)
	wantCode(t, err, "gate_unmet")
	if err != nil && !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("the refusal does not say why: %v", err)
	}
	wantText(t, "status", string(w.task(id).Status), "planning")
}

func TestAFileInPlaceOfTheLink_isAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("planning")
	w.write(id, "\nold words\n")
	body := document.Read([]byte(w.document(id))).Body
	w.repository.replaced = []byte("---\nstatus: done\n---\nnew words\n" + plan)
	w.move(id, "working", worker)
	noted := w.events(id, history.DocumentAdopted)
	if len(noted) != 1 || w.repository.relinked != 1 {
		t.Fatalf("relinked %d times, the history tells %+v", w.repository.relinked, noted)
	}
	d := document.Read([]byte(w.document(id)))
	wantText(t, "body", d.Body, "new words\n"+plan)
	kept, err := os.ReadFile(filepath.Join(w.files.Dir("garden", id), "evidence", noted[0].Data["before"]))
	must(t, err)
	wantText(t, "the old body", string(kept), body)
}

func TestMirrorsThatLag_areRepaired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	history := filepath.Join(w.files.Dir("garden", id), "history.jsonl")
	want, err := os.ReadFile(history)
	must(t, err)
	must(t, os.WriteFile(history, want[:40], 0o644))
	must(t, os.Remove(w.files.Document("garden", id)))
	must(t, w.Settle(t.Context(), id))
	got, err := os.ReadFile(history)
	must(t, err)
	wantText(t, "history", string(got), string(want))
	if text := w.document(id); !strings.Contains(text, "\nstatus: working\n") {
		t.Errorf("the document is\n%s", text)
	}
}

func TestUpdate_changesSummaryAndBranchWithoutAMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	summary, branch := "another", "feature"
	blank := " "
	_, err := w.Update(t.Context(), id, task.Update{Summary: &blank, Actor: worker})
	if !errors.Is(err, task.ErrUsage) {
		t.Errorf("a blank summary: %v", err)
	}
	_, err = w.Create(t.Context(), task.New{Project: w.repository.project, Summary: blank, Harness: "claude",
		Workflow: "default", Actor: human})
	if !errors.Is(err, task.ErrUsage) {
		t.Errorf("a task with a blank summary: %v", err)
	}
	got, err := w.Update(t.Context(), id, task.Update{Summary: &summary, Branch: &branch, Actor: worker})
	must(t, err)
	if got.Summary != summary || got.Branch != branch || got.Status != "working" {
		t.Errorf("the task is %+v", got)
	}
	other := w.create("second", false).Task.ID
	if _, err := w.Update(t.Context(), other, task.Update{Branch: &branch, Actor: human}); err == nil ||
		!strings.Contains(err.Error(), id) {
		t.Errorf("the branch of another task: %v", err)
	}
}

// signs gives sessions their names, as long as it can.
type signs struct {
	fakeAgents
	name string
	err  error
}

func (s *signs) Rename(context.Context, task.Task) (string, error) { return s.name, s.err }

func TestUpdate_hasTheSessionFollowTheBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	before := w.task(id).Session
	update := func(branch string) task.Task {
		got, err := w.Update(t.Context(), id, task.Update{Branch: &branch, Actor: worker})
		must(t, err)
		if got.Branch != branch {
			t.Errorf("the branch is %q, want %q", got.Branch, branch)
		}
		events, err := w.store.Events(t.Context(), id, 0)
		must(t, err)
		noted, _, err := history.Fold(events)
		if err != nil || noted.Branch != got.Branch || noted.Session != got.Session && got.Session != before {
			t.Errorf("the history tells of %q on %q, the record of %q on %q (%v)", noted.Session, noted.Branch,
				got.Session, got.Branch, err)
		}
		return got
	}
	for _, tt := range []struct {
		branch   string
		terminal engine.Agents
		session  string
	}{
		{"one", &fakeAgents{}, before},
		{"two", &signs{err: errors.New("no terminal to be reached from here")}, before},
		{"three", &signs{name: ""}, before}, // it has ended, and no one has noticed yet
		{"four", &signs{name: "garden/four"}, "garden/four"},
		{"four", &signs{name: "garden/four~abc"}, "garden/four~abc"}, // Orange makes up for what it could not do then
	} {
		w.rewire(func(p *engine.Ports) { p.Agents = tt.terminal })
		if got := update(tt.branch); before == "" || got.Session != tt.session {
			t.Errorf("on %q with %v its session is %q, want %q", tt.branch, tt.terminal, got.Session, tt.session)
		}
	}
}

// lateHand writes into the document at the worst moment: after Orange compared its header, before it renews it.
type lateHand struct {
	engine.Folder
	write func()
}

func (m *lateHand) Sync(t task.Task, past record.HistoryLines, header string) error {
	if write := m.write; write != nil {
		m.write = nil
		write()
	}
	return m.Folder.Sync(t, past, header)
}

func TestWhatPeopleWriteWhileTheHeaderIsRenewed_isNotLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("planning")
	w.rewire(func(p *engine.Ports) {
		p.Folder = &lateHand{Folder: w.files, write: func() {
			w.edit(id, "\nsummary: \"mend the gate\"\n", "\nsummary: \"paint the gate\"\n")
		}}
	})
	w.write(id, plan)
	w.move(id, "working", worker)
	wantText(t, "summary", w.task(id).Summary, "paint the gate")
	if text := w.document(id); !strings.Contains(text, "\nstatus: working\n") ||
		!strings.Contains(text, "\nsummary: \"paint the gate\"\n") {
		t.Errorf("the document shows\n%s", text)
	}
}

// Someone who reads the document sees what an editor put in the place of the link, before any look of a monitor.
func TestDocument_takesOverAFileInPlaceOfTheLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("planning")
	w.repository.replaced = []byte("new words\n" + plan)
	text, err := w.Document(t.Context(), w.task(id))
	must(t, err)
	if !strings.Contains(text, "new words") || w.repository.relinked != 1 {
		t.Errorf("relinked %d times; the text is\n%s", w.repository.relinked, text)
	}
}
