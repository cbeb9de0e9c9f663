package engine_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"orange/internal/proof/simulate"
	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// observed is a second, simple record of what happened: it knows no version, no lock and no rule of the engine.
type observed struct {
	questions   []*question
	tasks       []*observedTask
	hooks       map[int64]*observedHook
	written     map[string][]string
	summaries   [][2]string     // a task, and a summary that an editor wrote into its header
	overwritten map[string]bool // notes that a program lost which saved an old document
	notes       int
}

type observedTask struct {
	id      string
	deleted bool
	status  task.Status
	commit  string   // the one that it was about at its end
	after   []string // the tasks that it waits for still
}

type observedHook struct {
	task, action         string
	begunBy, performedBy *process // the process that began it last, and the one that performs it now
}

func newObserved() *observed {
	return &observed{hooks: map[int64]*observedHook{}, written: map[string][]string{}, overwritten: map[string]bool{}}
}

func (w *observed) hook(id int64) *observedHook {
	if w.hooks[id] == nil {
		w.hooks[id] = &observedHook{}
	}
	return w.hooks[id]
}

func (w *observed) find(id string) *observedTask {
	for _, t := range w.tasks {
		if t.id == id {
			return t
		}
	}
	return nil
}

// noteOverwrite notes what is in the present document and not in the one that is about to be saved.
func (w *observed) noteOverwrite(id, now, old string) {
	for _, summary := range w.summaries {
		line := "summary: " + summary[1]
		if summary[0] == id && strings.Contains(now, line) && !strings.Contains(old, line) {
			w.overwritten[summary[1]] = true
		}
	}
	for _, text := range w.written[id] {
		if strings.Count(now, text) > strings.Count(old, text) {
			w.overwritten[text] = true
		}
	}
	for _, a := range w.questions {
		if strings.Contains(now, "\n"+a.reason+"\n") && !strings.Contains(old, "\n"+a.reason+"\n") {
			w.overwritten[a.reason] = true
		}
	}
}

// short is the name of a task in the trace.
func (s *simulation) short(id string) string {
	for i, t := range s.seen.tasks {
		if t.id == id {
			return "T" + strconv.Itoa(i+1)
		}
	}
	return "T?"
}

// noteCommit looks at every change that was made durable.
func (s *simulation) noteCommit(p *process, c record.Change, t task.Task, open []record.Seat) {
	one := s.seen.find(t.ID)
	if one == nil {
		one = &observedTask{id: t.ID}
		s.seen.tasks = append(s.seen.tasks, one)
		s.counts.tasks++
	}
	s.audit.Committed(c, t, open)
	s.noteWaiting(one, t, c)
	for _, e := range c.Events {
		s.noteSubject(p, t, e)
		if e.IsMove() {
			s.counts.moves++
		}
	}
	for _, settled := range c.Settled {
		if settled.State == task.HookPending || settled.State == task.HookFailed {
			continue
		}
		s.counts.hooks++
	}
}

func (s *simulation) noteDeleted(id string) {
	if one := s.seen.find(id); one != nil {
		one.deleted = true
		s.pushed[id] = false
	}
}

// noteBegun notes which process performs a hook.
func (s *simulation) noteBegun(p *process, id int64) {
	s.audit.Begun("", id)
	s.seen.hook(id).begunBy = p
}

// checkPerform looks at a hook that is about to be performed.
func (s *simulation) checkPerform(p *process, job record.Job) {
	h := s.seen.hook(job.Hook.ID)
	h.task, h.action = job.Task.ID, job.Hook.Action
	// A hook that is dropped while a process performs it cannot be called back. No other process may perform it.
	if seen := s.audit.Hook(job.Hook.ID); seen.Settled > 0 && (!seen.Superseded || h.begunBy != p) {
		s.breakf("hook %d (%s) of %s is performed after it was settled", job.Hook.ID, h.action, s.short(h.task))
	}
	if h.performedBy != nil && h.performedBy != p && !h.performedBy.dead && !h.performedBy.ended {
		s.breakf("hook %d (%s) of %s is performed by two programs at once", job.Hook.ID, h.action, s.short(h.task))
	}
	h.performedBy = p
	s.audit.Performs(background, job)
}

// checkStart looks at an agent that is about to be started.
func (s *simulation) checkStart(a *simulate.Agent) {
	if s.Started(a.Hook) != nil {
		s.breakf("hook %d of %s starts a second agent", a.Hook, s.short(a.Task))
	}
	if other := s.Living(a.Task, a.Role); other != nil {
		s.breakf("%v of %s is started while %v lives", a, s.short(a.Task), other)
	}
	for _, other := range s.Agents {
		if other.Alive && other.Task != a.Task && other.Workspace == a.Workspace {
			s.breakf("%v of %s is started in %s, where %v of %s lives", a, s.short(a.Task), a.Workspace, other,
				s.short(other.Task))
		}
	}
	if s.prepared[a.Workspace] != a.Task {
		s.breakf("%v of %s is started in %s, which was prepared for %s", a, s.short(a.Task), a.Workspace,
			s.short(s.prepared[a.Workspace]))
	}
}

// checkPrepare looks at a workspace that is about to be prepared.
func (s *simulation) checkPrepare(t task.Task) {
	for _, a := range s.Agents {
		if a.Alive && a.Workspace == t.Workspace && a.Task != t.ID {
			s.breakf("the workspace %s is prepared for %s while %v of %s lives in it", t.Workspace, s.short(t.ID),
				a, s.short(a.Task))
		}
	}
}

// anyPending reports whether any task owes a hook.
func (s *simulation) anyPending() bool {
	all, err := s.List(background, record.Filter{})
	if err != nil {
		s.breakf("cannot list: %v", err)
		return false
	}
	for _, t := range all {
		if one, err := s.Load(background, t.ID); err == nil && len(one.Owed) > 0 {
			return true
		}
	}
	return false
}

// check verifies what must be true when nothing is left to do.
func (s *simulation) check() {
	moves := map[string]int{}
	for _, one := range s.seen.tasks {
		if one.deleted {
			s.checkGone(one.id)
			continue
		}
		snapshot, err := s.store.Load(background, one.id)
		if err != nil {
			s.breakf("%s cannot be loaded: %v", s.short(one.id), err)
			return
		}
		events, err := s.store.Events(background, one.id, 0)
		if err != nil {
			s.breakf("the history of %s cannot be read: %v", s.short(one.id), err)
			return
		}
		s.checkMoves(snapshot.Task, events, moves)
		if err := s.audit.Check(background, snapshot, events); err != nil {
			s.breakf("%v", err)
			return
		}
		s.checkDocument(snapshot.Task)
		s.checkReplay(snapshot.Task)
		s.checkSummaries(one.id, events)
		s.checkWaiting(one, snapshot.Task)
		s.checkMerge(snapshot.Task, events)
	}
	s.checkQuestions(moves)
	s.checkAgents()
	s.checkLeases()
	s.checkEnvironments()
}

// checkMoves makes a historian read the history, and counts the moves by the reason that was given.
func (s *simulation) checkMoves(t task.Task, events []history.Event, moves map[string]int) {
	h := newHistorian(s.Workflow, reach{1000, 1000, 1000}) // people act at the same time: there is no bound
	h.concurrent = true
	for _, e := range events {
		h.reads(e)
		if e.IsMove() {
			moves[t.ID+" "+e.Reason]++
		}
	}
	if len(h.wrong) > 0 {
		s.breakf("%s: %s", s.short(t.ID), strings.Join(h.wrong, "\n"))
	}
}

// checkDocument looks for what agents and people wrote into TASK.md.
func (s *simulation) checkDocument(t task.Task) {
	text, err := s.files.Read(t.Project, t.ID, true)
	if err != nil {
		s.breakf("%v", err)
		return
	}
	d := document.Read(text)
	for _, wrote := range s.seen.written[t.ID] {
		if !s.seen.overwritten[wrote] && !strings.Contains(d.Body, wrote) {
			s.breakf("what an agent wrote into TASK.md of %s is gone: %q", s.short(t.ID), wrote)
		}
	}
	for _, a := range s.seen.questions {
		count := strings.Count(d.Body, "\n"+a.reason+"\n")
		if a.kind != "changes" || a.task != t.ID || s.seen.overwritten[a.reason] {
			continue
		}
		if count != a.appended || count > 1 || a.answered && a.out.Moved && count != 1 {
			s.breakf("the text of %s is there %d times in TASK.md of %s", a.reason, count, s.short(t.ID))
		}
	}
}

// checkSummaries checks that Orange took over every summary that an editor wrote into the header.
func (s *simulation) checkSummaries(id string, events []history.Event) {
	for _, summary := range s.seen.summaries {
		taken := slices.ContainsFunc(events, func(e history.Event) bool {
			return e.Type == history.Updated && e.Data["summary"] == summary[1]
		})
		if summary[0] == id && !s.seen.overwritten[summary[1]] && !taken {
			s.breakf("%q, which an editor wrote into the header of %s, was never taken over", summary[1], s.short(id))
		}
	}
}

func (s *simulation) checkGone(id string) {
	if _, err := os.Stat(s.files.Dir(s.Project.Name, id)); err == nil {
		for _, a := range s.seen.questions {
			if a.kind == "delete" && a.task == id && !a.answered {
				return // it died between the record and the files
			}
		}
		s.breakf("%s is deleted, and its folder is there", s.short(id))
	}
}

// checkQuestions compares the answers with the history. The reason that was given names a move.
func (s *simulation) checkQuestions(moves map[string]int) {
	seen := map[string]string{}
	rest := maps.Clone(moves)
	for _, a := range s.seen.questions {
		if one := s.seen.find(a.task); one != nil && one.deleted {
			continue
		}
		n := moves[a.task+" "+a.reason]
		delete(rest, a.task+" "+a.reason)
		switch moved := a.answered && a.out.Moved; {
		case n > 1:
			s.breakf("%s of %s was made %d times", a.reason, s.short(a.task), n)
		case a.kind == "create" || a.kind == "respawn" || a.kind == "retry" || a.kind == "delete" || a.kind == "died":
		case moved && n != 1:
			s.breakf("%s of %s was granted, and the history does not have it", a.reason, s.short(a.task))
		case a.answered && a.err == nil && !moved && n != 0:
			s.breakf("%s of %s was made, and the answer was that there was nothing to do", a.reason,
				s.short(a.task))
		case a.answered && a.err == nil && !moved && !a.out.Queued && a.to != "" && a.out.Task.Status != a.to:
			s.breakf("%s of %s has the answer that there was nothing to do, and it is in %q", a.reason, s.short(a.task),
				a.out.Task.Status)
		case a.answered && refused(a.err) && n != 0:
			s.breakf("%s of %s was refused (%v), and made", a.reason, s.short(a.task), a.err)
		}
		if a.answered && a.out.Moved {
			s.checkAnswer(a, seen)
		}
	}
	for what, n := range rest {
		id, reason, _ := strings.Cut(what, " ")
		known := reason == "" || reason == "deleted" || reason == "a workspace became free" ||
			strings.Contains(reason, "ended and left") || strings.Contains(reason, "crashes in") ||
			strings.HasPrefix(reason, "done is what it waited for: ") && n == 1 ||
			reason == redCheck || strings.HasPrefix(reason, "merged before it was cut short") ||
			strings.HasPrefix(reason, "the merge is in conflict in ")
		if !known || n > 1 && (reason == "" || reason == "deleted") {
			s.breakf("no one asked for a move of %s: %q, %d times", s.short(id), reason, n)
		}
	}
}

// checkAnswer checks that the event of an answer is in the history, and that no other answer has it.
func (s *simulation) checkAnswer(a *question, seen map[string]string) {
	id := a.out.Task.ID
	if one := s.seen.find(id); one == nil || one.deleted {
		return
	}
	events, err := s.store.Events(background, id, a.out.Event.Seq-1)
	if err != nil || len(events) == 0 || events[0].Hash != a.out.Event.Hash {
		s.breakf("%s got event %d of %s, and the history does not have it", a.reason, a.out.Event.Seq,
			s.short(id))
		return
	}
	key := fmt.Sprintf("%s %d", id, a.out.Event.Seq)
	if other := seen[key]; other != "" {
		s.breakf("%s and %s both got event %d of %s", a.reason, other, a.out.Event.Seq, s.short(id))
	}
	seen[key] = a.reason
}

// checkAgents checks that every living agent may live, and that every death was seen.
func (s *simulation) checkAgents() {
	for _, a := range s.Agents {
		one := s.seen.find(a.Task)
		if !a.Alive {
			s.counts.agentDeaths += map[bool]int{true: 1}[a.ByItself]
			if one.deleted || !a.ByItself || s.audit.Hook(a.Hook).SeatEnded {
				continue
			}
			if s.audit.Hook(a.Hook).Deaths != 1 {
				s.breakf("the death of %v of %s had %d consequences", a, s.short(a.Task), s.audit.Hook(a.Hook).Deaths)
			}
			continue
		}
		t, err := s.store.Load(background, a.Task)
		if err != nil || !t.Task.Live {
			s.breakf("%v of %s lives, and its task is over: %v", a, s.short(a.Task), err)
			continue
		}
		seat, err := s.store.Seat(background, a.Seat)
		if err != nil || seat.Ended {
			s.breakf("%v of %s lives, and has no seat: %v", a, s.short(a.Task), err)
		}
	}
	for _, one := range s.seen.tasks {
		open, err := s.store.OpenSeats(background, one.id)
		if err != nil {
			s.breakf("%v", err)
		}
		for _, seat := range open {
			if a := s.Started(seat.Hook); a == nil || !a.Alive {
				s.breakf("the %s of hook %d of %s has a seat, and does not live", seat.Role, seat.Hook, s.short(one.id))
			}
		}
	}
}

func (s *simulation) checkLeases() {
	holders, err := s.store.Holders(background, "")
	if err != nil || len(holders) > s.Project.PoolSize {
		s.breakf("%d workspaces are taken, of %d: %v", len(holders), s.Project.PoolSize, err)
	}
	by := map[string]string{}
	for _, h := range holders {
		if other := by[h.Task]; other != "" {
			s.breakf("%s has two workspaces, %s and %s", s.short(h.Task), other, h.Workspace)
		}
		by[h.Task] = h.Workspace
	}
	for _, one := range s.seen.tasks {
		if one.deleted {
			if by[one.id] != "" {
				s.breakf("%s is deleted, and has the workspace %s", s.short(one.id), by[one.id])
			}
			continue
		}
		t, err := s.store.Load(background, one.id)
		if err != nil {
			s.breakf("%v", err)
			continue
		}
		if t.Task.Workspace != by[one.id] || !t.Task.Live && by[one.id] != "" {
			s.breakf("%s (%s) says it has the workspace %q, and the lease is of %q", s.short(one.id),
				t.Task.Status, t.Task.Workspace, by[one.id])
		}
	}
}
