package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"orange/internal/proof/simulate"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// question is a question to the engine, with its answer.
type question struct {
	reason   string // the reason that is given, which identifies the move in the history
	kind     string // create, request, command, changes, merge, respawn, retry, delete, died
	task     string
	to       task.Status // empty where the workflow says it
	role     string
	answered bool
	out      record.Outcome
	err      error
	appended int // how often its text was written into the document
}

// ask notes a question and its answer. A program that dies in between has no answer.
func (p *process) ask(kind, id string, to task.Status, role string, do func(token string) (record.Outcome, error)) {
	s := p.sim
	a := &question{reason: fmt.Sprintf("ask %d", len(s.seen.questions)+1), kind: kind, task: id, to: to, role: role}
	s.seen.questions = append(s.seen.questions, a)
	p.question = a
	s.logf(p, fmt.Sprintf("%s (%s) for %s %s", kind, a.reason, s.short(id), to))
	if kind == "retry" {
		s.environments.noteQuestion(s, p, id, true)
	}
	if role == task.RoleHuman && (kind == workflow.MoveSpawn || to == "planning") {
		s.environments.noteQuestion(s, p, id, false)
	}
	a.out, a.err = do(a.reason)
	p.waitTurn("is answered", nil)
	s.environments.noteAnswer(s, p, a.out, a.err)
	a.answered = true
	s.logf(p, firstLine(fmt.Sprintf("hears: moved %v, queued %v, %v", a.out.Moved, a.out.Queued, a.err)))
}

var background = context.Background()

// newEvent makes something new happen.
func (s *simulation) newEvent() {
	if len(s.seen.tasks) < s.maxTasks && s.random.IntN(5) == 0 || len(s.seen.tasks) == 0 {
		s.create()
		return
	}
	if id := s.firstOther(); id != "" && s.random.IntN(4) > 0 {
		s.pushOn(id)
		return
	}
	alive := s.AllLiving()
	n := s.random.IntN(100)
	if len(alive) == 0 {
		n = 66 + s.random.IntN(34)
	}
	switch {
	case n < 62:
		s.agentActs(alive[s.random.IntN(len(alive))])
	case n < 66:
		s.agentDies(nil, alive[s.random.IntN(len(alive))])
	case n < 71:
		s.start("monitor", serviceEnvironment, nil, func(p *process) { _ = s.monitor(p).Look(background) })
	case n < 76:
		s.reportDeath()
	case n < 80:
		s.upkeep()
	case n < 81:
		s.endServer(s.random.IntN(2) == 0)
	case n < 82:
		s.bringWork()
	case n < 84:
		s.checkTurnsRed()
	case n < 86:
		s.logf(nil, "time passes")
		pause(time.Duration(1+s.random.IntN(300)) * time.Second)
	default:
		s.personActs()
	}
}

// personCommand makes one of the people run a command.
func (s *simulation) personCommand(body func(p *process)) {
	who := people()[s.random.IntN(len(people()))]
	s.start(who, who, nil, body)
}

// actor is the person whose program this is.
func (p *process) actor() task.Actor { return task.Actor{Role: task.RoleHuman, Person: p.environment} }

func (s *simulation) create() {
	spawn, context := s.random.IntN(4) != 0, ""
	if s.random.IntN(2) == 0 {
		context = s.note("context")
	}
	status := []task.Status{"", "", "", "", "clarification", "agent-review", "reviewing"}[s.random.IntN(7)]
	var after []string
	if status == "" && s.random.IntN(2) == 0 {
		after = s.othersFirst()
	}
	n := task.New{
		Project: s.Project, Summary: "mend the gate", Harness: "claude", ReviewHarness: "codex", Context: context,
		Workflow: "default", Spawn: spawn || len(after) > 0, Status: status, After: after,
	}
	s.personCommand(func(p *process) {
		n.Actor = p.actor()
		p.ask("create", "", status, task.RoleHuman, func(string) (record.Outcome, error) {
			return p.engine.Create(background, n)
		})
	})
}

// note is a line that no other text has.
func (s *simulation) note(what string) string {
	s.seen.notes++
	return fmt.Sprintf("%s %d.", what, s.seen.notes)
}

// agentActs makes an agent write what its status wants, or something else, and ask for the move, or another one.
func (s *simulation) agentActs(a *simulate.Agent) {
	t, err := s.Load(background, a.Task)
	if err != nil {
		return
	}
	a.Touched = s.Now()
	text, to := s.agentPlan(a, t.Task)
	writes, asks, dies, changes := s.random.IntN(10), s.random.IntN(10), s.random.IntN(20), s.random.IntN(10)
	s.start(a.Role+" of "+s.short(a.Task), agentEnvironment(a), a, func(p *process) {
		if dies == 0 {
			s.agentDies(p, a)
		}
		if changes < 3 {
			s.changeBranch(p, a)
		}
		if text != "" && writes > 0 {
			p.write(a.Task, text)
		}
		if dies == 1 {
			s.agentDies(p, a)
		}
		if asks > 0 && to != "" {
			s.agentRequests(p, a, to)
		}
		if dies == 2 {
			s.agentDies(p, a)
		}
	})
}

// agentPlan is what the agent is about to write, and to ask for.
func (s *simulation) agentPlan(a *simulate.Agent, t task.Task) (text string, to task.Status) {
	states := []task.Status{"pending", "planning", "working", "clarification", "agent-review", "reviewing",
		"stuck", "done", "cancelled"}
	odd := s.random.IntN(12)
	switch {
	case odd == 0:
		return "", states[s.random.IntN(len(states))]
	case odd == 1 && len(s.seen.written[a.Task]) > 0: // a text that has moved the task before, perhaps
		text = s.seen.written[a.Task][s.random.IntN(len(s.seen.written[a.Task]))]
	case a.Role == task.RoleReviewer || odd == 2:
		verdict := []string{"PASS", "FAIL"}[s.random.IntN(2)]
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
		to = []task.Status{"working", "working", "working", "clarification", "planning"}[s.random.IntN(5)]
	case "working":
		to = []task.Status{"agent-review", "agent-review", "agent-review", "agent-review", "stuck",
			"clarification"}[s.random.IntN(6)]
	case "agent-review":
		to = "reviewing"
	default:
		to = "working"
	}
	return text, to
}

// write puts a text at the end of the document, or saves the whole document as it was read some time before.
func (p *process) write(id, text string) {
	s := p.sim
	path := s.files.Document(s.Project.Name, id)
	if s.random.IntN(5) != 0 {
		_ = act(p, "writes "+firstLine(text), func() error { return s.appendText(id, text) })
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
		s.seen.noteOverwrite(id, string(now), string(old))
		if err := os.WriteFile(path, append(bytes.Clone(old), text...), 0o644); err != nil {
			return err
		}
		s.seen.written[id] = append(s.seen.written[id], text)
		s.noteVerdict(id, text)
		return nil
	})
}

func (s *simulation) appendText(id, text string) error {
	if err := s.files.Append(s.Project.Name, id, text); err != nil {
		return err
	}
	s.seen.written[id] = append(s.seen.written[id], text)
	s.noteVerdict(id, text)
	return nil
}

func firstLine(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", " | ")
}

// agentRequests is an agent's command: Orange first finds out who asks.
func (s *simulation) agentRequests(p *process, a *simulate.Agent, to task.Status) {
	caller := task.Caller{Secret: a.Secret}
	if s.random.IntN(4) == 0 {
		caller = task.Caller{Above: []task.Process{{PID: a.PID, Began: a.Began()}}}
	}
	actor, err := p.engine.Actor(background, a.Task, caller)
	if err != nil {
		s.logf(p, "is nobody: "+err.Error())
		return
	}
	if actor.Role != a.Role && (caller.Secret != "" || actor.Role != task.RoleHuman) {
		s.breakf("%v speaks as %q", a, actor.Role)
	}
	if actor.Role == task.RoleHuman {
		return // its hook has not noted its process yet: the real one is recognised by its secret
	}
	p.ask("request", a.Task, to, a.Role, func(token string) (record.Outcome, error) {
		return p.engine.Request(background, task.Request{Task: a.Task, To: to, Actor: actor, Reason: token})
	})
	if a.Role == task.RoleWorker && s.random.IntN(3) == 0 {
		s.agentWaits(p, a)
	}
}

// agentWaits is a worker's command that waits for its reviewer: Orange can tell it the news.
func (s *simulation) agentWaits(p *process, a *simulate.Agent) {
	self := task.Process{PID: p.number, Began: "then"}
	_ = act(p, "waits", func() error { return s.store.Wait(background, a.Task, a.Role, self) })
	for range 20 {
		p.waitTurn("still waits", nil)
	}
	_ = act(p, "waits no longer", func() error { return s.store.Unwait(background, a.Task, a.Role, self) })
}

// agentDies is the end of an agent that no hook wanted.
func (s *simulation) agentDies(p *process, a *simulate.Agent) {
	if !a.Alive {
		return
	}
	a.Noted = s.random.IntN(2) == 0
	if s.random.IntN(3) != 0 {
		a.Ending = task.Ending{Known: true, Status: s.random.IntN(2)}
	} else if s.random.IntN(2) == 0 {
		a.Ending = task.Ending{Known: true, Signal: 9}
	} else if a.Noted && s.random.IntN(4) == 0 {
		a.Ending = task.Ending{Unstarted: "no such program"}
	}
	// Dead windows stay until someone closes them. No one closes one that its own hook has still to find.
	if s.random.IntN(3) == 0 && s.audit.Hook(a.Hook).Settled > 0 {
		a.Window = ""
	}
	s.endAgent(a, true)
	if p != nil {
		p.waitTurn("its agent is dead", nil)
	}
}

// reportDeath reports a death that happened some time ago, however often it was reported before.
func (s *simulation) reportDeath() {
	var gone []*simulate.Agent
	for _, a := range s.Agents {
		if !a.Alive {
			gone = append(gone, a)
		}
	}
	if len(gone) == 0 {
		return
	}
	a := gone[s.random.IntN(len(gone))]
	death := task.Death{Task: a.Task, Role: a.Role, Hook: a.Hook, Ending: a.Ending}
	twice := s.random.IntN(3) == 0
	s.start("watcher", serviceEnvironment, nil, func(p *process) {
		for range 2 {
			p.ask("died", a.Task, "", task.ActorEngine, func(string) (record.Outcome, error) {
				return p.engine.Died(background, death)
			})
			if !twice {
				return
			}
		}
	})
}

// upkeep is one of the things that a monitor also does.
func (s *simulation) upkeep() {
	id := s.randomTask()
	what := s.random.IntN(7)
	s.start("keeper", serviceEnvironment, nil, func(p *process) {
		switch what {
		case 0:
			_, _ = p.engine.RespawnDead(background, id)
		case 1:
			_, _ = p.engine.StartNext(background, s.Project.Name)
		case 2:
			_ = p.engine.Finish(background)
		case 3:
			_ = p.engine.Free(background, id)
		case 4:
			_, _ = p.engine.Stalled(background, id, time.Now())
		case 5:
			_ = p.engine.Sync(background, id)
		default:
			_ = p.engine.Resume(background)
		}
	})
}

func (s *simulation) randomTask() string {
	return s.seen.tasks[s.random.IntN(len(s.seen.tasks))].id
}

// personActs is a person at work.
func (s *simulation) personActs() {
	id := s.randomTask()
	t, err := s.Load(background, id)
	if err != nil {
		return
	}
	n := s.random.IntN(100)
	switch {
	case n < 52:
		s.personContinues(t.Task)
	case n < 58:
		s.command(id, workflow.MoveCancel)
	case n < 66:
		s.personCommand(func(p *process) {
			p.ask("retry", id, "", task.RoleHuman, func(string) (record.Outcome, error) {
				return p.engine.Retry(background, id, p.actor())
			})
		})
	case n < 80:
		s.respawn(id)
	case n < 84:
		s.personCommand(func(p *process) {
			p.ask("delete", id, "", task.RoleHuman, func(string) (record.Outcome, error) {
				_, err := p.engine.Delete(background, id, p.actor())
				return record.Outcome{}, err
			})
		})
	case n < 90:
		s.editHeader(id)
	case n < 94:
		summary := s.note("summary")
		s.personCommand(func(p *process) {
			_, _ = p.engine.Update(background, id, task.Update{Summary: &summary, Actor: p.actor()})
		})
	default:
		states := []task.Status{"planning", "working", "agent-review", "reviewing", "stuck", "done"}
		s.request(id, states[s.random.IntN(len(states))])
	}
}

// personContinues is what a person does for a task that waits for one.
func (s *simulation) personContinues(t task.Task) {
	switch t.Status {
	case "pending":
		s.command(t.ID, workflow.MoveSpawn)
	case "stuck":
		s.request(t.ID, "reviewing")
	case "clarification":
		s.request(t.ID, "planning")
	case "reviewing":
		switch s.random.IntN(3) {
		case 0:
			s.request(t.ID, "done")
		case 1:
			override := s.random.IntN(3) == 0
			s.personCommand(func(p *process) {
				kind, m := "merge", task.Merge{Strategy: "merge"}
				if override {
					kind = overrideMerge
				}
				p.ask(kind, t.ID, "done", task.RoleHuman, func(token string) (record.Outcome, error) {
					if override {
						m.Override = token
					}
					out, _, err := p.engine.Merge(background, t.ID, m, p.actor())
					return out, err
				})
			})
		default:
			s.personCommand(func(p *process) {
				p.ask("changes", t.ID, "working", task.RoleHuman, func(token string) (record.Outcome, error) {
					return p.engine.RequestChanges(background, t.ID, token, p.actor())
				})
			})
		}
	default:
		if state, _ := s.Workflow.State(t.Status); s.Living(t.ID, state.Role) == nil {
			s.respawn(t.ID)
		}
	}
}

func (s *simulation) command(id, command string) {
	s.personCommand(func(p *process) {
		p.ask(command, id, "", task.RoleHuman, func(token string) (record.Outcome, error) {
			return p.engine.Command(background, id, command, p.actor(), token)
		})
	})
}

func (s *simulation) request(id string, to task.Status) {
	s.personCommand(func(p *process) {
		p.ask("request", id, to, task.RoleHuman, func(token string) (record.Outcome, error) {
			return p.engine.Request(background, task.Request{Task: id, To: to, Actor: p.actor(), Reason: token})
		})
	})
}

func (s *simulation) respawn(id string) {
	s.personCommand(func(p *process) {
		p.ask("respawn", id, "", task.RoleHuman, func(string) (record.Outcome, error) {
			return p.engine.Respawn(background, id, func(t task.Task, role string) (bool, error) {
				return at(p, "check whether the "+role+" lives", func() (bool, error) {
					return s.Living(t.ID, role) != nil, nil
				})
			}, p.actor())
		})
	})
}

// editHeader is an editor that writes into the header what only the engine may, or what anyone may.
func (s *simulation) editHeader(id string) {
	summary := s.note("another summary")
	line := []string{"status: done\n", "review_round: 7\n", "workspace: elsewhere\n",
		"summary: " + summary + "\n"}[s.random.IntN(4)]
	s.start("editor", serviceEnvironment, nil, func(p *process) {
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
			s.seen.noteOverwrite(id, string(text), edited)
			if strings.Contains(line, summary) {
				s.seen.summaries = append(s.seen.summaries, [2]string{id, summary})
			}
			return os.WriteFile(path, []byte(edited), 0o644)
		})
	})
}

// refused reports whether an answer was a no.
func refused(err error) bool {
	var r *rejection.Rejection
	return errors.As(err, &r)
}
