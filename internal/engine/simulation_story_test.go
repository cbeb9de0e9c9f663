package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"orange/internal/decide"
	"orange/internal/record"
	"orange/internal/simulate"
	"orange/internal/task"
	"orange/internal/workflow"
)

// ask is what somebody asked of the engine, and what they were told.
type ask struct {
	token    string // the reason that is given, by which the move is known in the history
	kind     string // create, request, command, changes, merge, respawn, retry, delete, died
	task     string
	to       task.Status // empty where the workflow says it
	role     string
	answered bool
	out      record.Outcome
	err      error
	appended int // how often its wishes were written into the document
}

// asking notes a question and its answer. A program that dies in between has no answer.
func (p *process) asking(kind, id string, to task.Status, role string, do func(token string) (record.Outcome, error)) {
	s := p.sim
	a := &ask{token: fmt.Sprintf("ask %d", len(s.twin.asks)+1), kind: kind, task: id, to: to, role: role}
	s.twin.asks = append(s.twin.asks, a)
	p.asked = a
	s.tell(p, fmt.Sprintf("%s (%s) for %s %s", kind, a.token, s.short(id), to))
	if kind == "retry" {
		s.rights.asks(s, p, id, true)
	}
	if role == task.RoleHuman && (kind == workflow.MoveSpawn || to == "planning") {
		s.rights.asks(s, p, id, false)
	}
	a.out, a.err = do(a.token)
	p.arrive("is answered", nil)
	s.rights.answered(s, p, a.out, a.err)
	a.answered = true
	s.tell(p, firstLine(fmt.Sprintf("hears: moved %v, queued %v, %v", a.out.Moved, a.out.Queued, a.err)))
}

var here = context.Background()

// happen has something new happen.
func (s *sim) happen() {
	if len(s.twin.tasks) < s.tasks && s.dice.IntN(5) == 0 || len(s.twin.tasks) == 0 {
		s.creates()
		return
	}
	var alive []*simulate.Agent
	for _, a := range s.Agents {
		if a.Alive {
			alive = append(alive, a)
		}
	}
	n := s.dice.IntN(100)
	if len(alive) == 0 {
		n = 66 + s.dice.IntN(34)
	}
	switch {
	case n < 62:
		s.works(alive[s.dice.IntN(len(alive))])
	case n < 66:
		s.dies(nil, alive[s.dice.IntN(len(alive))])
	case n < 71:
		s.start("monitor", service, nil, func(p *process) { _ = s.monitor(p).Look(here) })
	case n < 76:
		s.tellsADeath()
	case n < 80:
		s.keeps()
	case n < 81:
		s.serverEnds(s.dice.IntN(2) == 0)
	case n < 84:
		s.tell(nil, "time passes")
		pause(time.Duration(1+s.dice.IntN(300)) * time.Second)
	default:
		s.decides()
	}
}

// person has one of the people run a command.
func (s *sim) person(body func(p *process)) {
	who := people()[s.dice.IntN(len(people()))]
	s.start(who, who, nil, body)
}

// actor is the person whose program this is.
func (p *process) actor() task.Actor { return task.Actor{Role: task.RoleHuman, Person: p.whose} }

func (s *sim) creates() {
	spawn, context := s.dice.IntN(4) != 0, ""
	if s.dice.IntN(2) == 0 {
		context = s.note("context")
	}
	status := []task.Status{"", "", "", "", "clarification", "agent-review", "reviewing"}[s.dice.IntN(7)]
	n := task.New{
		Project: s.Project, Summary: "mend the gate", Harness: "claude", ReviewHarness: "codex", Context: context,
		Workflow: "default", Spawn: spawn, Status: status,
	}
	s.person(func(p *process) {
		n.Actor = p.actor()
		p.asking("create", "", status, task.RoleHuman, func(string) (record.Outcome, error) {
			return p.engine.Create(here, n)
		})
	})
}

// note is a line that no other text has.
func (s *sim) note(what string) string {
	s.twin.notes++
	return fmt.Sprintf("%s %d.", what, s.twin.notes)
}

// works has an agent write what its status wants, or something else, and ask for the move, or another one.
func (s *sim) works(a *simulate.Agent) {
	t, err := s.Load(here, a.Task)
	if err != nil {
		return
	}
	a.Touched = s.Now()
	text, to := s.plans(a, t.Task)
	writes, asks, dies, changes := s.dice.IntN(10), s.dice.IntN(10), s.dice.IntN(20), s.dice.IntN(10)
	s.start(a.Role+" of "+s.short(a.Task), own(a), a, func(p *process) {
		if dies == 0 {
			s.dies(p, a)
		}
		if changes < 3 {
			s.changes(p, a)
		}
		if text != "" && writes > 0 {
			p.writes(a.Task, text)
		}
		if dies == 1 {
			s.dies(p, a)
		}
		if asks > 0 && to != "" {
			s.asks(p, a, to)
		}
		if dies == 2 {
			s.dies(p, a)
		}
	})
}

// plans is what the agent is about to write, and to ask for.
func (s *sim) plans(a *simulate.Agent, t task.Task) (text string, to task.Status) {
	states := []task.Status{"pending", "planning", "working", "clarification", "agent-review", "reviewing",
		"stuck", "done", "cancelled"}
	odd := s.dice.IntN(12)
	switch {
	case odd == 0:
		return "", states[s.dice.IntN(len(states))]
	case odd == 1 && len(s.twin.written[a.Task]) > 0: // a text that has moved the task before, perhaps
		text = s.twin.written[a.Task][s.dice.IntN(len(s.twin.written[a.Task]))]
	case a.Role == task.RoleReviewer || odd == 2:
		verdict := []string{"PASS", "FAIL"}[s.dice.IntN(2)]
		text = fmt.Sprintf("\n## Review\nVerdict: %s\n%s\n", verdict, s.note("finding"))
		to = map[string]task.Status{"PASS": "reviewing", "FAIL": "working"}[verdict]
		if verdict == "FAIL" && t.Counters.Get(task.ReviewRound) >= 2 {
			to = "stuck"
		}
		return text, to
	case t.Status == "planning" || t.Status == "clarification":
		text = "\n## Plan\nAPPROACH: " + s.note("dig") + "\n"
	default:
		text = "\n## Handoff\nDONE: " + s.note("all") + "\n"
	}
	switch t.Status {
	case "planning", "clarification":
		to = []task.Status{"working", "working", "working", "clarification", "planning"}[s.dice.IntN(5)]
	case "working":
		to = []task.Status{"agent-review", "agent-review", "agent-review", "agent-review", "stuck",
			"clarification"}[s.dice.IntN(6)]
	case "agent-review":
		to = "reviewing"
	default:
		to = "working"
	}
	return text, to
}

// writes puts a text at the end of the document, or saves the whole document as it was read a while ago.
func (p *process) writes(id, text string) {
	s := p.sim
	path := s.files.Document(s.Project.Name, id)
	if s.dice.IntN(5) != 0 {
		_ = act(p, "writes "+firstLine(text), func() error { return s.appends(id, text) })
		return
	}
	old, err := at(p, "reads TASK.md", func() ([]byte, error) { return os.ReadFile(path) })
	if err != nil {
		return
	}
	_ = act(p, "saves TASK.md with "+firstLine(text), func() error {
		now, err := os.ReadFile(path)
		if err != nil {
			return err // the task was deleted meanwhile
		}
		s.twin.lose(id, string(now), string(old))
		if err := os.WriteFile(path, append(bytes.Clone(old), text...), 0o644); err != nil {
			return err
		}
		s.twin.written[id] = append(s.twin.written[id], text)
		s.verdict(id, text)
		return nil
	})
}

func (s *sim) appends(id, text string) error {
	if err := s.files.Append(s.Project.Name, id, text); err != nil {
		return err
	}
	s.twin.written[id] = append(s.twin.written[id], text)
	s.verdict(id, text)
	return nil
}

func firstLine(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", " | ")
}

// asks is an agent's command: who asks is found out first.
func (s *sim) asks(p *process, a *simulate.Agent, to task.Status) {
	caller := task.Caller{Secret: a.Secret}
	if s.dice.IntN(4) == 0 {
		caller = task.Caller{Above: []task.Process{{PID: a.PID, Began: a.Began()}}}
	}
	actor, err := p.engine.Actor(here, a.Task, caller)
	if err != nil {
		s.tell(p, "is nobody: "+err.Error())
		return
	}
	if actor.Role != a.Role && (caller.Secret != "" || actor.Role != task.RoleHuman) {
		s.breaks("%v speaks as %q", a, actor.Role)
	}
	if actor.Role == task.RoleHuman {
		return // its hook has not noted its process yet: the real one is recognised by its secret
	}
	p.asking("request", a.Task, to, a.Role, func(token string) (record.Outcome, error) {
		return p.engine.Request(here, task.Request{Task: a.Task, To: to, Actor: actor, Reason: token})
	})
	if a.Role == task.RoleWorker && s.dice.IntN(3) == 0 {
		s.waits(p, a)
	}
}

// waits is a worker's command that waits for its reviewer: it can be told the news.
func (s *sim) waits(p *process, a *simulate.Agent) {
	self := task.Process{PID: p.number, Began: "then"}
	_ = act(p, "waits", func() error { return s.store.Wait(here, a.Task, a.Role, self) })
	for range 20 {
		p.arrive("still waits", nil)
	}
	_ = act(p, "waits no longer", func() error { return s.store.Unwait(here, a.Task, a.Role, self) })
}

// dies is the end of an agent that no hook wanted.
func (s *sim) dies(p *process, a *simulate.Agent) {
	if !a.Alive {
		return
	}
	a.Noted = s.dice.IntN(2) == 0
	if s.dice.IntN(3) != 0 {
		a.Ending = task.Ending{Known: true, Status: s.dice.IntN(2)}
	} else if s.dice.IntN(2) == 0 {
		a.Ending = task.Ending{Known: true, Signal: 9}
	} else if a.Noted && s.dice.IntN(4) == 0 {
		a.Ending = task.Ending{Unstarted: "no such program"}
	}
	// Dead windows stay until somebody closes them. Nobody closes one that its own hook has still to find.
	if s.dice.IntN(3) == 0 && s.audit.Hook(a.Hook).Settled > 0 {
		a.Window = ""
	}
	s.ends(a, true)
	if p != nil {
		p.arrive("its agent is dead", nil)
	}
}

// tellsADeath has a death told that was seen some time ago, however often it was told before.
func (s *sim) tellsADeath() {
	var gone []*simulate.Agent
	for _, a := range s.Agents {
		if !a.Alive {
			gone = append(gone, a)
		}
	}
	if len(gone) == 0 {
		return
	}
	a := gone[s.dice.IntN(len(gone))]
	death := task.Death{Task: a.Task, Role: a.Role, Hook: a.Hook, Ending: a.Ending}
	twice := s.dice.IntN(3) == 0
	s.start("watcher", service, nil, func(p *process) {
		for range 2 {
			p.asking("died", a.Task, "", task.ActorEngine, func(string) (record.Outcome, error) {
				return p.engine.Died(here, death)
			})
			if !twice {
				return
			}
		}
	})
}

// keeps is one of the things that a monitor does on the side.
func (s *sim) keeps() {
	id := s.someTask()
	what := s.dice.IntN(7)
	s.start("keeper", service, nil, func(p *process) {
		switch what {
		case 0:
			_, _ = p.engine.RespawnDead(here, id)
		case 1:
			_, _ = p.engine.StartNext(here, s.Project.Name)
		case 2:
			_ = p.engine.Finish(here)
		case 3:
			_ = p.engine.Free(here, id)
		case 4:
			_, _ = p.engine.Stalled(here, id, time.Now())
		case 5:
			_ = p.engine.Sync(here, id)
		default:
			_ = p.engine.Resume(here)
		}
	})
}

func (s *sim) someTask() string {
	return s.twin.tasks[s.dice.IntN(len(s.twin.tasks))].id
}

// decides is a person at work.
func (s *sim) decides() {
	id := s.someTask()
	t, err := s.Load(here, id)
	if err != nil {
		return
	}
	n := s.dice.IntN(100)
	switch {
	case n < 52:
		s.goesOn(t.Task)
	case n < 58:
		s.commands(id, workflow.MoveCancel)
	case n < 66:
		s.person(func(p *process) {
			p.asking("retry", id, "", task.RoleHuman, func(string) (record.Outcome, error) {
				return p.engine.Retry(here, id, p.actor())
			})
		})
	case n < 80:
		s.respawns(id)
	case n < 84:
		s.person(func(p *process) {
			p.asking("delete", id, "", task.RoleHuman, func(string) (record.Outcome, error) {
				_, err := p.engine.Delete(here, id, p.actor())
				return record.Outcome{}, err
			})
		})
	case n < 90:
		s.edits(id)
	case n < 94:
		summary := s.note("summary")
		s.person(func(p *process) {
			_, _ = p.engine.Update(here, id, task.Update{Summary: &summary, Actor: p.actor()})
		})
	default:
		states := []task.Status{"planning", "working", "agent-review", "reviewing", "stuck", "done"}
		s.requests(id, states[s.dice.IntN(len(states))])
	}
}

// goesOn is what a person does for a task that waits for one.
func (s *sim) goesOn(t task.Task) {
	switch t.Status {
	case "pending":
		s.commands(t.ID, workflow.MoveSpawn)
	case "stuck":
		s.requests(t.ID, "reviewing")
	case "clarification":
		s.requests(t.ID, "planning")
	case "reviewing":
		switch s.dice.IntN(3) {
		case 0:
			s.requests(t.ID, "done")
		case 1:
			override := s.dice.IntN(3) == 0
			s.person(func(p *process) {
				kind, m := "merge", task.Merge{Strategy: "merge"}
				if override {
					kind = mergeAllTheSame
				}
				p.asking(kind, t.ID, "done", task.RoleHuman, func(token string) (record.Outcome, error) {
					if override {
						m.Override = token
					}
					out, _, err := p.engine.Merge(here, t.ID, m, p.actor())
					return out, err
				})
			})
		default:
			s.person(func(p *process) {
				p.asking("changes", t.ID, "working", task.RoleHuman, func(token string) (record.Outcome, error) {
					return p.engine.RequestChanges(here, t.ID, token, p.actor())
				})
			})
		}
	default:
		if state, _ := s.law.def.State(t.Status); s.Living(t.ID, state.Role) == nil {
			s.respawns(t.ID)
		}
	}
}

func (s *sim) commands(id, command string) {
	s.person(func(p *process) {
		p.asking(command, id, "", task.RoleHuman, func(token string) (record.Outcome, error) {
			return p.engine.Command(here, id, command, p.actor(), token)
		})
	})
}

func (s *sim) requests(id string, to task.Status) {
	s.person(func(p *process) {
		p.asking("request", id, to, task.RoleHuman, func(token string) (record.Outcome, error) {
			return p.engine.Request(here, task.Request{Task: id, To: to, Actor: p.actor(), Reason: token})
		})
	})
}

func (s *sim) respawns(id string) {
	s.person(func(p *process) {
		p.asking("respawn", id, "", task.RoleHuman, func(string) (record.Outcome, error) {
			return p.engine.Respawn(here, id, func(t task.Task, role string) (bool, error) {
				return at(p, "look whether the "+role+" lives", func() (bool, error) {
					return s.Living(t.ID, role) != nil, nil
				})
			}, p.actor())
		})
	})
}

// edits is somebody who writes into the header what only the engine may, or what is theirs to say.
func (s *sim) edits(id string) {
	wish := s.note("another summary")
	line := []string{"status: done\n", "review_round: 7\n", "workspace: elsewhere\n",
		"summary: " + wish + "\n"}[s.dice.IntN(4)]
	s.start("editor", service, nil, func(p *process) {
		_ = act(p, "edits the header: "+line, func() error {
			path := s.files.Document(s.Project.Name, id)
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			key, _, _ := strings.Cut(line, " ")
			from := strings.Index(string(text), "\n"+key) + 1
			if from == 0 {
				return errors.New("there is no such line")
			}
			to := from + strings.Index(string(text[from:]), "\n") + 1
			edited := string(text[:from]) + line + string(text[to:])
			s.twin.lose(id, string(text), edited)
			if strings.Contains(line, wish) {
				s.twin.wishes = append(s.twin.wishes, [2]string{id, wish})
			}
			return os.WriteFile(path, []byte(edited), 0o644)
		})
	})
}

// refused says whether an answer was a no.
func refused(err error) bool {
	var r *decide.Rejection
	return errors.As(err, &r)
}
