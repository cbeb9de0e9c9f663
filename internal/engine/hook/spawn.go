package hook

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"orange/internal/rules/conflict"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
	"orange/internal/run/tmux"
	"orange/internal/work/worktree"
)

// spawnAgent starts the agent of a role in the task's session, which it makes where there is none. Its window has
// the role's name; that of a reviewer is named after the round.
func (h *Executor) spawnAgent(ctx context.Context, job record.Job) (record.Effect, error) {
	if job.Role == task.RoleReviewer {
		return h.spawn(ctx, job, "review-"+strconv.Itoa(job.Task.Counters.Get(task.ReviewRound)), history.ReviewStarted)
	}
	return h.spawn(ctx, job, job.Role, history.AgentSpawned)
}

// spawn ends a window of the same role that another event started, and starts the agent.
// The same hook again finds its own window and starts no agent; it reports the start all the same, because an
// attempt that was cut short reported nothing, and a hook that is settled is not performed again. Where it fails after
// it has ended the agent before, that is its effect.
func (h *Executor) spawn(ctx context.Context, job record.Job, window, event string) (record.Effect, error) {
	own, err := h.panesOf(ctx, job)
	if err != nil {
		return record.Effect{}, err
	}
	mine := strconv.FormatInt(job.Hook.ID, 10)
	agent, unknown := h.Setup.Harness(job.Harness())
	if unknown != nil || !agent.Resumes(job.Role, job.Hook.Permissions) {
		job.Conversation = ""
	}
	for _, p := range own {
		if p.Role == job.Role && p.Hook == mine {
			return h.spawnEffect(job, agent, p, window, event), nil
		}
	}
	var ended record.Effect
	if unknown == nil { // before the agent ends that is to be replaced
		if err := h.heedLimit(ctx, job, agent.Provider); err != nil {
			return ended, fmt.Errorf("cannot start the %s: %w", job.Role, err)
		}
	}
	for _, p := range own {
		if p.Role != job.Role {
			continue
		}
		if err := h.end(ctx, p, &ended); err != nil {
			return ended, err
		}
	}
	if job.Task.Workspace == "" {
		return ended, fmt.Errorf("cannot start the %s: the task has no workspace", job.Role)
	}
	if unknown != nil {
		return ended, unknown
	}
	start, err := h.prepare(ctx, job, agent, window, mine)
	if err != nil {
		return ended, err
	}
	if len(ended.EndSeats) == 0 { // else the session may have ended with its last window
		start.Seen = append([]tmux.Pane{}, own...)
	}
	// What outlived a window that is gone would be a second agent of the role in the same workspace.
	if err := h.Processes.EndMarked(ctx, h.marks(job.Task, job.Role)...); err != nil {
		return ended, fmt.Errorf("end what an earlier %s left running: %w", job.Role, err)
	}
	ended.EndSeats = []string{job.Role} // that may have been the agent, which outlived its terminal
	pane, err := h.Sessions.Start(ctx, start)
	if err != nil {
		return ended, fmt.Errorf("start the %s: %w", job.Role, err)
	}
	return h.spawnEffect(job, agent, pane, window, event), nil
}

// spawnEffect is what a hook did that has its agent's pane. The harness is nil where it cannot be read any more.
func (h *Executor) spawnEffect(job record.Job, agent *harness.Harness, p tmux.Pane,
	window, event string) record.Effect {
	data := map[string]string{"role": job.Role, "window": window, "session": p.Session}
	key := history.DataNamedHarness
	if reviews := job.Hook.Harness == task.HarnessReview; job.Agent == "" &&
		reviews == (event == history.ReviewStarted) {
		key = history.DataHarness // from which the task's own harnesses can be found again
	}
	data[key] = job.Harness()
	data["commit"] = job.Start.Subject.Commit
	switch {
	case job.Conversation != "":
		data[history.DataConversation] = job.Conversation
	case agent != nil && agent.Converses(job.Role, job.Hook.Permissions):
		data[history.DataConversation] = conversationOf(p.Seat)
	}
	if job.Again {
		data[history.DataResumed] = strconv.FormatBool(job.Conversation != "")
	}
	effect := record.Effect{Events: []history.Event{{Type: event, Data: data}}, Session: &p.Session, Seat: &record.Seat{
		Hash: p.Seat}}
	effect.Said = fmt.Sprintf("%s in session %s", job.Role, p.Session)
	if p.Dead {
		return effect
	}
	// else it was quick and is gone: the monitor sees its end
	if started, err := h.Processes.Lookup(p.PID); err == nil {
		effect.Seat.PID, effect.Seat.Began = p.PID, started.Began
	}
	return effect
}

// prepare writes the prompt and the ticket, and checks that the program is there before anything is started.
func (h *Executor) prepare(ctx context.Context, job record.Job, agent *harness.Harness, window, mine string) (
	tmux.Start, error) {
	if err := checkModelAndEffort(job, agent); err != nil {
		return tmux.Start{}, err
	}
	// the launcher reads it where it is kept, and so it is in no ticket
	env, err := h.Setup.Environment(ctx, job.Task)
	if err != nil {
		return tmux.Start{}, err
	}
	view, err := h.Work.View(ctx, job.Task)
	if err != nil {
		return tmux.Start{}, err
	}
	if err := h.Work.Equip(ctx, job.Task, agent.Files, agent.Exclude); err != nil {
		return tmux.Start{}, err
	}
	prompt := workflow.Expand(job.Prompt, h.variables(job, view)) + heldBack(job) + h.conflicts(ctx, job)
	promptFile := filepath.Join(h.Setup.TaskDir(job.Task), "prompts",
		mine+"-"+strings.ReplaceAll(window, "/", "-")+".md")
	if err := writePrivate(promptFile, []byte(prompt)); err != nil {
		return tmux.Start{}, fmt.Errorf("write the prompt: %w", err)
	}
	ticket := h.ticket(job, agent, view, prompt, promptFile)
	if err := h.offerRequests(job, agent, &ticket); err != nil {
		return tmux.Start{}, err
	}
	if _, err := h.Processes.FindProgram(ticket.Argv[0], harness.Value(env, "PATH")); err != nil {
		return tmux.Start{}, fmt.Errorf("cannot start the harness %q: %w; install it, or choose another harness in "+
			"TASK.md's header: %s", agent.Name, err, filepath.Join(h.Setup.TaskDir(job.Task), "TASK.md"))
	}
	if err := h.linkSelf(); err != nil {
		return tmux.Start{}, err
	}
	text, err := json.Marshal(ticket)
	if err != nil {
		return tmux.Start{}, fmt.Errorf("write the ticket: %w", err)
	}
	// of an agent that the same hook had started before
	if err := os.Remove(ticket.Exit); err != nil && !os.IsNotExist(err) {
		return tmux.Start{}, fmt.Errorf("take away the note of an earlier end: %w", err)
	}
	path := filepath.Join(h.Home, "launch", mine+".json")
	if err := writePrivate(path, text); err != nil {
		return tmux.Start{}, fmt.Errorf("write the ticket: %w", err)
	}
	return tmux.Start{
		Task: job.Task.ID, Role: job.Role, Hook: mine, Seat: job.Seat, Session: job.Task.SessionName(),
		Window: window, Dir: view.Cwd(), Argv: []string{h.Self, "launch", path},
	}, nil
}

// conflicts tells an agent that changes files what is known of the conflicts of its branch. Nothing depends on it: an
// agent starts without it where it cannot be read.
func (h *Executor) conflicts(ctx context.Context, job record.Job) string {
	if h.Conflicts == nil || job.Role == task.RoleReviewer {
		return ""
	}
	all, err := h.Conflicts(ctx, job.Task.Project)
	if err != nil {
		return ""
	}
	return conflict.ForAgent(all.Of[job.Task.ID])
}

func (h *Executor) ticket(job record.Job, agent *harness.Harness, view worktree.View,
	prompt, promptFile string) harness.Ticket {
	t := job.Task
	model, effort := modelAndEffort(job)
	values := map[string]string{
		harness.Prompt: prompt, harness.PromptFile: promptFile, harness.Worktree: view.Dir,
		harness.TaskDir: h.Setup.TaskDir(t), harness.GitDir: view.GitDir, harness.OwnGitDir: view.OwnGitDir,
		harness.Home: h.Home, harness.Branch: t.Branch, harness.Effort: effort, harness.Model: model,
		harness.SessionID: conversationOf(job.Seat),
	}
	argv, fresh := agent.Argv(job.Role, job.Hook.Permissions, values), []string(nil)
	if job.Conversation != "" {
		// A new conversation gets a name of its own: one that broke off early may hold the earlier name and not go on.
		fresh, values[harness.SessionID] = argv, job.Conversation
		argv = agent.Resume(job.Role, values)
	}
	if t.Counters.Get(record.LimitCount) > 0 { // where the agent ends at once it is at its limit again
		fresh = nil
	}
	ticket := agent.Ticket(argv, values)
	ticket.Home, ticket.Task, ticket.Fresh, ticket.Dir = h.Home, t.ID, fresh, view.Cwd()
	ticket.Path = filepath.Join(h.Home, "bin")
	ticket.Exit = filepath.Join(h.Home, "launch", strconv.FormatInt(job.Hook.ID, 10)+".exit")
	ticket.Set = append(append(ticket.Set, view.Env...),
		"ORANGE_HOME="+h.Home, "ORANGE_TASK_ID="+t.ID, "ORANGE_PROJECT="+t.Project, "ORANGE_ROLE="+job.Role,
		"ORANGE_STATUS="+string(t.Status), "ORANGE_ROUND="+strconv.Itoa(t.Counters.Get(task.ReviewRound)),
		"ORANGE_SEAT="+job.Secret)
	return ticket
}

// modelAndEffort are the model and the effort that the agent of a job gets.
func modelAndEffort(job record.Job) (model, effort string) {
	switch t := job.Task; {
	case job.Agent != "":
		return "", "" // the task's are words of its own harnesses
	case job.Hook.Harness == task.HarnessReview:
		return t.ReviewModel, t.ReviewEffort
	default:
		return t.Model, t.Effort
	}
}

// checkModelAndEffort refuses what the program would take for a flag, and a model that it has no place for: with its
// usual one it would not be what a person wants. An effort without a place is no reason to start nothing.
func checkModelAndEffort(job record.Job, agent *harness.Harness) error {
	model, effort := modelAndEffort(job)
	err := errors.Join(harness.CheckWord(harness.Model, model), harness.CheckWord(harness.Effort, effort))
	if err != nil {
		return err
	}
	if model != "" && !agent.Takes(harness.Model, job.Role, job.Hook.Permissions) {
		return fmt.Errorf("%w; the task's models and harnesses are in TASK.md's header",
			agent.NotTaken(harness.Model, job.Role, model))
	}
	return nil
}

// offerRequests gives an agent whose program confines what it runs a folder for its requests.
func (h *Executor) offerRequests(job record.Job, agent *harness.Harness, ticket *harness.Ticket) error {
	if !agent.For(job.Role).Sandboxed {
		return nil
	}
	ticket.Requests = filepath.Join(h.Setup.TaskDir(job.Task), "requests", strconv.FormatInt(job.Hook.ID, 10))
	ticket.Set = append(ticket.Set, harness.RequestsVariable+"="+ticket.Requests)
	// What an earlier attempt of this hook left there was for a seat that it never had.
	if err := proc.BelowOf(ticket.Requests).Make(task.PrivateFolder); err != nil {
		return fmt.Errorf("make a folder for the agent's requests: %w", err)
	}
	return nil
}

// variables are the values of a prompt's variables.
func (h *Executor) variables(job record.Job, view worktree.View) map[string]string {
	t := job.Task
	values := map[string]string{
		workflow.VarSummary: t.Summary, workflow.VarProject: t.Project, workflow.VarBranch: t.Branch,
		workflow.VarStatus:      string(t.Status),
		workflow.VarReviewRound: strconv.Itoa(t.Counters.Get(task.ReviewRound)), workflow.VarBase: view.Base,
		workflow.VarTaskFile: view.TaskFile,
		workflow.VarCommit:   commitOf(job.Start.Subject), workflow.VarRun: strconv.FormatInt(job.Hook.ID, 10),
		workflow.VarTaskID: t.ID, workflow.VarTaskDir: h.Setup.TaskDir(t), workflow.VarWorktree: view.Dir,
	}
	for _, c := range t.Counters {
		if _, taken := values[c.Name]; !taken {
			values[c.Name] = strconv.Itoa(c.Value)
		}
	}
	return values
}

// heldBack tells an agent that is started again what kept the move of the one before it; empty where nothing did.
func heldBack(job record.Job) string {
	if job.Held == "" {
		return ""
	}
	return "\n\nBefore anything else: " + printable.Line(job.Held)
}

// commitOf is the commit that an agent is started on, as its prompt says it.
func commitOf(s task.Subject) string {
	if s.Commit == "" {
		return "(not known: " + s.Trouble + ")"
	}
	return s.Commit
}

// conversationOf names the agent's own conversation, in the form of a UUID, by its seat's hash.
func conversationOf(seat string) string {
	s := sha256.Sum256([]byte("conversation of " + seat))
	s[6] = s[6]&0x0f | 0x40
	s[8] = s[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", s[0:4], s[4:6], s[6:8], s[8:10], s[10:16])
}

// linkSelf makes the running program reachable as "orange" in a folder of its own, which agents have on their PATH.
func (h *Executor) linkSelf() error {
	dir := filepath.Join(h.Home, "bin")
	link := filepath.Join(dir, "orange")
	if target, err := os.Readlink(link); err == nil && target == h.Self {
		return nil
	}
	if err := os.MkdirAll(dir, task.PrivateFolder); err != nil {
		return fmt.Errorf("make the folder of programs: %w", err)
	}
	temporary := link + "." + strconv.Itoa(os.Getpid())
	if err := os.Symlink(h.Self, temporary); err != nil {
		return fmt.Errorf("link the program: %w", err)
	}
	if err := os.Rename(temporary, link); err != nil {
		return fmt.Errorf("link the program: %w", err)
	}
	return nil
}

func writePrivate(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), task.PrivateFolder); err != nil {
		return err
	}
	temporary := path + ".new"
	// What is there is no file of ours: it may be a link to one that must not be written into.
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := proc.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, task.PrivateFile)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
