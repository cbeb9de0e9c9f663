package main_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the record is read without the program

	"orange/internal/rules/document"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/store/sqlite"
)

// found is all that there is when a storm is over.
type found struct {
	tasks  map[string]task.Task
	events map[string][]history.Event
	lines  map[string][]string
	hooks  map[string][]hookRow
	seats  []record.Seat
	leases map[string]string // task by workspace
	panes  []paneRow
}

type hookRow struct {
	id                  int64
	action, state, fail string
}

type paneRow struct {
	dead       bool
	pid        int
	task, role string
	hook       int64
}

// fault reports something that is wrong; the histories of the tasks that it names are printed at the end.
func (s *storm) fault(id, format string, args ...any) {
	s.t.Helper()
	s.mu.Lock()
	s.faulty[id] = true
	s.mu.Unlock()
	s.t.Errorf("task "+id+": "+format, args...)
}

func (s *storm) look(ctx context.Context) *found {
	s.t.Helper()
	path := filepath.Join(s.home, "orange.db")
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	all, err := store.List(ctx, record.Filter{})
	if err != nil {
		s.t.Fatal(err)
	}
	f := &found{
		tasks: map[string]task.Task{}, events: map[string][]history.Event{}, lines: map[string][]string{},
		hooks: map[string][]hookRow{}, leases: map[string]string{}, panes: s.panes(ctx),
	}
	for _, t := range all {
		f.tasks[t.ID] = t
		if f.events[t.ID], err = store.Events(ctx, t.ID, 0); err != nil {
			s.t.Fatal(err)
		}
		if f.lines[t.ID], err = store.Lines(ctx, t.ID); err != nil {
			s.t.Fatal(err)
		}
	}
	if f.seats, err = store.OpenSeats(ctx, ""); err != nil {
		s.t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	s.rows(ctx, db, "SELECT id, task, json_extract(hook, '$.action'), state, error FROM hooks ORDER BY id",
		func(scan func(...any) error) error {
			var id string
			var h hookRow
			err := scan(&h.id, &id, &h.action, &h.state, &h.fail)
			f.hooks[id] = append(f.hooks[id], h)
			return err
		})
	s.rows(ctx, db, "SELECT workspace, task FROM leases", func(scan func(...any) error) error {
		var workspace, id string
		err := scan(&workspace, &id)
		f.leases[workspace] = id
		return err
	})
	return f
}

func (s *storm) rows(ctx context.Context, db *sql.DB, query string, visit func(scan func(...any) error) error) {
	s.t.Helper()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := visit(rows.Scan); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
}

// panes asks tmux itself.
func (s *storm) panes(ctx context.Context) []paneRow {
	sockets, _ := filepath.Glob(filepath.Join(s.sockets, "tmux-*", "*"))
	var out []paneRow
	for _, socket := range sockets {
		const format = "#{pane_dead}|#{pane_pid}|#{@orange_task}|#{@orange_role}|#{@orange_hook}"
		text, err := exec.CommandContext(ctx, "tmux", "-S", socket, "list-panes", "-a", "-F", format).Output()
		if err != nil {
			continue // the server has left
		}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			words := strings.Split(line, "|")
			pid, _ := strconv.Atoi(words[1])
			hook, _ := strconv.ParseInt(words[4], 10, 64)
			out = append(out, paneRow{words[0] == "1", pid, words[2], words[3], hook})
		}
	}
	return out
}

// check compares record, files and world with one another, and the person's checkout with how it was.
func (s *storm) check(f *found, checkout string) {
	s.t.Helper()
	s.checkRecord(f)
	s.checkWindows(f)
	s.checkAnswers(f)
	s.checkWork(f)
	if after := s.checkout(); after != checkout {
		s.t.Errorf("the person's checkout was\n%s\nand is\n%s", checkout, after)
	}
}

// checkRecord: each history is whole and adds up to the task, nothing is owed, and leases are unique and of live tasks.
func (s *storm) checkRecord(f *found) {
	for id, t := range f.tasks {
		events := f.events[id]
		if err := history.VerifyChain(events); err != nil || len(events) != t.Seq || t.Seq > 0 &&
			events[t.Seq-1].Hash != t.Hash {
			s.fault(id, "its chain does not verify: %v; %d events, record says %d", err, len(events), t.Seq)
		}
		status, crashes := task.Status(""), 0
		spent := map[task.Evidence]int{}
		for _, e := range events {
			switch {
			case e.Type == history.Created:
				status = task.Status(e.Data["status"])
			case e.IsMove() && e.From != status:
				s.fault(id, "event %d moves it from %q, where it was not: it was in %q", e.Seq, e.From, status)
			}
			if e.IsMove() {
				status = e.To
			}
			switch {
			case e.Type == history.AgentCrashed:
				crashes++
			case e.IsMove() && e.Data[history.DataCrash] == "":
				crashes = 0
			}
			if !e.IsMove() {
				continue // it rests on nothing
			}
			for _, one := range e.Evidence {
				// these may move a task twice
				again := strings.HasPrefix(one.Source, "git ") || strings.EqualFold(one.Source, "## plan")
				if spent[one]++; spent[one] > 1 && !again {
					s.fault(id, "event %d rests on %s, which moved it before", e.Seq, one.Source)
				}
			}
		}
		if status != t.Status {
			s.fault(id, "its history ends in %q, the record says %q", status, t.Status)
		}
		if got := t.Counters.Get(task.CrashCount); got != crashes {
			s.fault(id, "its count of crashes is %d, its history has %d", got, crashes)
		}
		for _, h := range f.hooks[id] {
			if h.state != string(task.HookDone) && h.state != string(task.HookSuperseded) {
				s.fault(id, "hook %d (%s) is %s: %s", h.id, h.action, h.state, h.fail)
			}
		}
		s.checkLease(f, t)
	}
}

func (s *storm) checkLease(f *found, t task.Task) {
	slots := 0
	for workspace, holder := range f.leases {
		if holder == t.ID {
			slots++
			if t.Workspace != workspace {
				s.fault(t.ID, "it has the lease of %q, its record says %q", workspace, t.Workspace)
			}
		}
	}
	switch {
	case slots > 1 || t.Workspace != "" && slots != 1:
		s.fault(t.ID, "it has %d leases and the workspace %q", slots, t.Workspace)
	case !t.Live && slots > 0:
		s.fault(t.ID, "it is %s and has the workspace %q", t.Status, t.Workspace)
	case t.Live && slots == 0 && t.Status != "pending" && !t.Displaced(): // else it waits in line for one
		s.fault(t.ID, "it is %s and has no workspace", t.Status)
	case t.Workspace != "":
		slot := filepath.Join(s.home, "workspaces", t.Workspace)
		if branch, err := s.git(slot, "symbolic-ref", "HEAD"); err != nil || branch != "refs/heads/"+t.Branch {
			s.fault(t.ID, "its workspace is on %q (%v), the task on %q", branch, err, t.Branch)
		}
	}
}

func (s *storm) git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// checkWindows: no session without a task, one live window of a role, that of its newest agent, and no program
// outside of one.
func (s *storm) checkWindows(f *found) {
	live := map[string]paneRow{}
	sessions := map[int]bool{}
	for _, p := range f.panes {
		if p.dead || p.role == "" {
			continue
		}
		sessions[p.pid] = true
		key := p.task + " " + p.role
		if _, two := live[key]; two {
			s.fault(p.task, "it has two live windows of its %s", p.role)
		}
		live[key] = p
		if t, known := f.tasks[p.task]; !known || !t.Live {
			s.fault(p.task, "it has a live window of its %s, and is over or unknown (%q)", p.role, t.Status)
		}
	}
	for _, seat := range f.seats {
		key := seat.Task + " " + seat.Role
		p, there := live[key]
		if !there || p.hook != seat.Hook || p.pid != seat.PID {
			s.fault(seat.Task, "the %s of hook %d (process %d) has the seat; its live window is %+v", seat.Role,
				seat.Hook, seat.PID, p)
		}
		delete(live, key)
	}
	for _, p := range live {
		s.fault(p.task, "a live window of its %s (hook %d) is of nobody who has a seat", p.role, p.hook)
	}
	left, _ := proc.WithEnvironment("ORANGE_HOME=" + s.home)
	for _, p := range left {
		if id, agent := agentOf(p.PID); agent && !sessions[sessionOf(p.PID)] {
			s.fault(id, "process %d of its agent lives outside of every window", p.PID)
		}
	}
}

// agentOf is the task of an agent's process.
func agentOf(pid int) (id string, agent bool) {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	for _, pair := range strings.Split(string(text), "\x00") {
		if value, found := strings.CutPrefix(pair, "ORANGE_SEAT="); found && value != "" {
			agent = true
		}
		if value, found := strings.CutPrefix(pair, "ORANGE_TASK_ID="); found {
			id = value
		}
	}
	return id, agent
}

// sessionOf is the process that leads a process's session: that of its window.
func sessionOf(pid int) int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const session = 3
	if len(words) <= session {
		return 0
	}
	leader, _ := strconv.Atoi(words[session])
	return leader
}

// checkAnswers: what was granted is in the history exactly once, what was refused is not, and what was cut short
// at most once.
func (s *storm) checkAnswers(f *found) {
	s.mu.Lock()
	answers := slices.Clone(s.answers)
	s.mu.Unlock()
	for _, words := range s.noted("asked") {
		status, _ := strconv.Atoi(words[1])
		answers = append(answers, answer{task: words[0], status: status, moved: words[2] == "true",
			reason: strings.Join(words[3:], " ")})
	}
	for _, a := range answers {
		if _, known := f.tasks[a.task]; !known {
			s.fault(a.task, "it was made, and is not on record")
		}
		if a.reason == "" {
			continue
		}
		moves := 0
		for _, e := range f.events[a.task] {
			if e.IsMove() && e.Reason == a.reason {
				moves++
			}
		}
		granted := a.moved
		if moves > 1 || granted && moves == 0 || !granted && a.status >= 0 && a.status < 100 && moves > 0 {
			s.fault(a.task, "the request %q ended with status %d and moved=%t; its history has it %d times",
				a.reason, a.status, a.moved, moves)
		}
		if granted {
			s.count("requests granted")
		} else {
			s.count("requests refused, idle or cut short")
		}
	}
}

// checkWork: no commit and no line is lost, and the mirrors are equal to the record.
func (s *storm) checkWork(f *found) {
	if said, err := s.git(s.repo, "fsck", "--no-progress", "--no-dangling"); err != nil || said != "" {
		list, _ := s.git(s.repo, "worktree", "list", "--porcelain")
		held := ""
		for id, t := range f.tasks {
			held += fmt.Sprintf("%s is %s in %q\n", id, t.Status, t.Workspace)
		}
		s.t.Errorf("git fsck: %v\n%s\n%s\n%s", err, said, list, held)
	}
	kept := map[string]map[string]bool{}
	for _, words := range s.noted("commits") {
		id := words[0]
		if kept[id] == nil {
			out, err := s.git(s.repo, "rev-list", "main", f.tasks[id].Branch, "--glob=refs/orange/rescue/"+id+"/*")
			if err != nil {
				s.fault(id, "%v: %s", err, out)
			}
			kept[id] = map[string]bool{}
			for _, commit := range strings.Fields(out) {
				kept[id][commit] = true
			}
		}
		if !kept[id][words[1]] {
			s.fault(id, "its commit %s is on neither its branch nor main nor a rescue", words[1])
		}
		s.count("commits of agents")
	}
	lines := map[string]map[string]bool{}
	for id, t := range f.tasks {
		lines[id] = s.checkMirrors(t, f.lines[id])
	}
	for _, words := range s.noted("appended") {
		if !lines[words[0]][strings.Join(words[1:], " ")] {
			s.fault(words[0], "the line %q of its document is lost", strings.Join(words[1:], " "))
		}
		s.count("sections of agents")
	}
}

func (s *storm) checkMirrors(t task.Task, history []string) map[string]bool {
	lines := map[string]bool{}
	text, err := os.ReadFile(s.document(t.ID))
	if err != nil {
		s.fault(t.ID, "%v", err)
		return lines
	}
	d := document.Read(text)
	for _, want := range document.Fields(t) {
		if got, there := d.Front.Get(want.Key); !there || got != want.Text {
			s.fault(t.ID, "TASK.md says %s: %q, the record %q", want.Key, got, want.Text)
		}
	}
	mirrored, err := os.ReadFile(filepath.Join(filepath.Dir(s.document(t.ID)), "history.jsonl"))
	if want := strings.Join(history, "\n") + "\n"; err != nil || string(mirrored) != want {
		s.fault(t.ID, "history.jsonl is not the record's history: %v\n%s", err, mirrored)
	}
	for _, line := range strings.Split(d.Body, "\n") {
		lines[line] = true
	}
	return lines
}

// tell prints the figures, and the histories of the tasks with which something is wrong.
func (s *storm) tell(f *found, took time.Duration) {
	for id := range f.tasks {
		for _, e := range f.events[id] {
			s.count("events " + e.Type)
		}
		for _, h := range f.hooks[id] {
			s.count("hooks " + h.state)
		}
		s.count("tasks " + string(f.tasks[id].Status))
	}
	if refs, err := s.git(s.repo, "for-each-ref", "--format=x", "refs/orange/rescue"); err == nil && refs != "" {
		s.figures["rescues"] = strings.Count(refs, "x")
	}
	var names []string
	for name := range s.figures {
		names = append(names, name)
	}
	sort.Strings(names)
	text := ""
	for _, name := range names {
		text += "\n  " + strconv.Itoa(s.figures[name]) + " " + name
	}
	s.t.Logf("seed %d, %d tasks, %s:%s", s.seed, len(f.tasks), took.Round(time.Millisecond), text)
	for id := range s.faulty {
		out, _ := s.run(s.program, "task", "history", id)
		s.t.Logf("history of task %s:\n%s", id, out)
		for _, h := range f.hooks[id] {
			s.t.Logf("  hook %d %s %s %s", h.id, h.action, h.state, h.fail)
		}
		log, _ := os.ReadFile(filepath.Join(s.home, "orange.log"))
		for _, line := range strings.Split(string(log), "\n") {
			if strings.Contains(line, id) {
				s.t.Log(line)
			}
		}
	}
}
