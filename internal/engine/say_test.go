package engine_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"orange/internal/engine"
	"orange/internal/rules/history"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/run/tmux"
)

// voice is the agents of a task: some wait, some live, and typing may be unsafe.
type voice struct {
	fakeAgents
	waits  []bool // the answers, one after the other
	unsafe []error
	typed  []string
	ends   bool // the program is ended between the event and the typing
}

func (v *voice) Waits(context.Context, task.Task, string) (bool, error) {
	if len(v.waits) == 0 {
		return false, nil
	}
	now := v.waits[0]
	v.waits = v.waits[1:]
	return now, nil
}

func (v *voice) Say(ctx context.Context, _ task.Task, role, agent, text string,
	begin func(context.Context) error) error {
	var err error
	if len(v.unsafe) > 0 {
		err, v.unsafe = v.unsafe[0], v.unsafe[1:]
	}
	if pasted, is := errors.AsType[*tmux.NotSafe](err); err != nil && (!is || !pasted.Pasted) {
		return err
	}
	if failed := begin(ctx); failed != nil {
		return failed
	}
	if v.ends {
		runtime.Goexit()
	}
	v.typed = append(v.typed, role+" "+agent+" "+text)
	return err
}

// heardBy is the world with these agents.
func (w *world) heardBy(v *voice) *world {
	w.rewire(func(p *engine.Ports) { p.Agents = v })
	return w
}

func (w *world) said(id string) []history.Event { return w.events(id, history.PersonSaid) }

func TestSay_isOnRecordWithWhoSaidItAndHow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	v := &voice{unsafe: []error{&tmux.NotSafe{Reason: tmux.NotReady}, &tmux.NotSafe{Reason: tmux.PersonTyping}}}
	var warned []string
	w.heardBy(v).OnWarn(func(text string) { warned = append(warned, text) })
	role, how, err := w.Say(t.Context(), id, "", " use the helper\n", human)
	must(t, err)
	said := w.said(id)
	if role != "worker" || how != history.HowTyped || len(v.typed) != 1 || len(said) != 1 || len(warned) != 1 {
		t.Fatalf("%s heard it by %s: %q, %v, warned %q", role, how, v.typed, said, warned)
	}
	e := said[0]
	if e.Person != human.Person || e.Actor != task.RoleHuman || e.Reason != "use the helper" ||
		e.Data["role"] != "worker" || e.Data[history.DataHow] != history.HowTyped {
		t.Errorf("the event is %+v", e)
	}
	if !strings.HasSuffix(v.typed[0], " use the helper") {
		t.Errorf("typed was %q", v.typed)
	}
}

func TestSay_countsAsAnActOfAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	w.move(id, "clarification", worker)
	if got := w.task(id).Counters.Get("questions"); got != 1 {
		t.Fatalf("questions = %d", got)
	}
	_, _, err := w.heardBy(&voice{}).Say(t.Context(), id, "", "the blue one", human)
	must(t, err)
	if got := w.task(id).Counters.Get("questions"); got != 0 {
		t.Errorf("questions = %d after an answer", got)
	}
}

// At a dialog, and where no agent lives, nothing is said and nothing recorded.
func TestSay_isRefusedWhereItWouldNotBeHeard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	for found, err := range map[string]error{
		"a dialog": &tmux.NotSafe{Reason: tmux.DialogOpen}, "no worker that lives": task.ErrNotFound,
	} {
		_, _, refused := w.heardBy(&voice{unsafe: []error{err}}).Say(t.Context(), id, "", "hello", human)
		wantCode(t, refused, rejection.SayRefused)
		if !strings.Contains(refused.Error(), found) {
			t.Errorf("the refusal is %v, want %q", refused, found)
		}
	}
	_, _, refused := w.heardBy(&voice{}).Say(t.Context(), id, "", "hello", worker)
	wantCode(t, refused, rejection.ActorDenied)
	for _, text := range []string{" \n", strings.Repeat("x", 5000)} {
		if _, _, err := w.heardBy(&voice{}).Say(t.Context(), id, "", text, human); err == nil {
			t.Errorf("%d bytes were said", len(text))
		}
	}
	if said := w.said(id); len(said) != 0 {
		t.Errorf("on record is %v", said)
	}
}

// Enter is held back when a dialog opens right after the text: it is on record, and the answer says where it is.
func TestSay_withoutEnterSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("working")
	v := &voice{unsafe: []error{&tmux.NotSafe{Reason: tmux.DialogOpen, Pasted: true}}}
	_, _, err := w.heardBy(v).Say(t.Context(), id, "", "hello", human)
	if err == nil || !strings.Contains(err.Error(), "Enter was not pressed") {
		t.Errorf("the error is %v", err)
	}
	if len(w.said(id)) != 1 {
		t.Error("it is not on record")
	}
}

func TestSay_reachesTheCommandWithWhichAnAgentWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	waiting := w.wait(t.Context(), id)
	w.heardBy(&voice{waits: []bool{true, true}})
	_, how, err := w.Say(t.Context(), id, task.RoleWorker, "tea is ready", human)
	must(t, err)
	got := <-waiting
	must(t, got.err)
	said := got.waited.Said
	if how != history.HowWait || len(said) != 1 || said[0].Text != "tea is ready" || said[0].By != human.Person ||
		!got.waited.Blocked {
		t.Errorf("by %s it heard %+v", how, got.waited)
	}
}

// The command may have ended between the look and the event: then the text is typed, and recorded once.
func TestSay_isTypedWhereTheWaitHasJustEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.reach("agent-review")
	v := &voice{waits: []bool{true, false}}
	_, how, err := w.heardBy(v).Say(t.Context(), id, task.RoleWorker, "hello", human)
	must(t, err)
	if how != history.HowTyped || len(v.typed) != 1 || len(w.said(id)) != 1 {
		t.Errorf("by %s was typed %q, on record is %v", how, v.typed, w.said(id))
	}
}
