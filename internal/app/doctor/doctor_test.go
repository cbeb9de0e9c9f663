package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/api/socket"
	"orange/internal/app/doctor"
	"orange/internal/rules/action"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/tmux"
)

// world pretends to be everything that the doctor looks at. Its zero value is a home in which all is well.
type world struct {
	t         *testing.T
	home      string
	damaged   []string
	tasks     []task.Task
	lines     map[string][]string
	holders   []record.Holder
	owed      []task.OwedHook
	folders   [][2]string
	histories map[string]string // of folders
	differs   map[string][]string
	shows     map[string][]string // how the projections of a task stand
	evidence  map[string]bool
	windows   []tmux.Pane
	kept      []string
	checkouts []string
	judged    []string // tasks for which the repository keeps what was judged
	projects  []task.Project
	files     []doctor.File
	worktrees []string
	asides    []record.Aside
	shared    []string
	commits   rejection.Readiness
	socket    error // why no terminal server could start
	versions  map[string]string
	space     uint64
	blind     map[string]bool // what cannot be looked at
	looks     int             // how often the windows were looked at
	passing   func(looks int) // what others do meanwhile
	mended    []string
	stubborn  bool // nothing can be mended
	told      map[string]record.Adoption
	adopted   []string
	server    socket.Health
	noServer  error
	nameless  bool     // git knows no one
	branch    string   // why no task's branch can be read
	ownWrong  string   // the task whose variables cannot be read
	ownGiven  []string // ids of tasks that have variables of their own
	given     []string // PROJECT:NAME=VALUE of the variables that are set for tasks
	environ   []string
	root      bool
}

func (w *world) Server(context.Context) (socket.Health, error) { return w.server, w.noServer }

var errBlind = errors.New("the lamp is out")

func (w *world) see(what string) error {
	if w.blind[what] {
		return errBlind
	}
	return nil
}

// recorded is the world as a record: what only verify asks for is not asked.
type recorded struct{ *world }

func (recorded) IDs(context.Context, string) ([]string, error)                     { return nil, nil }
func (recorded) Strays(context.Context) ([]string, error)                          { return nil, nil }
func (recorded) Whole(context.Context, string) (w record.Whole, err error)         { return w, nil }
func (recorded) Wholes(context.Context, []string) (map[string]record.Whole, error) { return nil, nil }

func (w *world) Kept(string, string, string) (string, bool, error) { return "", false, nil }
func (w *world) Ready(context.Context) error                       { return w.socket }

func (w *world) Check(context.Context) ([]string, error) { return w.damaged, w.see("check") }
func (w *world) Flaws(context.Context, string) ([]record.Finding, error) {
	return nil, w.see("flaws")
}
func (w *world) List(context.Context, record.Filter) ([]task.Task, error) {
	return w.tasks, w.see("list")
}
func (w *world) Holders(context.Context, string) ([]record.Holder, error) {
	return w.holders, w.see("holders")
}
func (w *world) Owed(context.Context) ([]task.OwedHook, error) { return w.owed, w.see("owed") }
func (w *world) AllLines(_ context.Context, visit func(string, []string) error) error {
	for _, t := range w.tasks {
		if err := visit(t.ID, w.lines[t.ID]); err != nil {
			return err
		}
	}
	return w.see("lines")
}
func (w *world) Folders() ([][2]string, error)     { return w.folders, w.see("folders") }
func (w *world) History(project, id string) string { return project + "/" + id + "/history.jsonl" }
func (w *world) ReadHistory(_, id string) ([]byte, error) {
	return []byte(w.histories[id]), w.see("history")
}
func (w *world) KeepHistory(_, id, suffix string) (string, error) {
	w.mended = append(w.mended, "keep "+id+" "+suffix)
	return id + "." + suffix, w.see("keep")
}
func (w *world) Evidence(string, string) (map[string]bool, error) {
	return w.evidence, w.see("evidence")
}
func (w *world) Differs(t task.Task, _ []string) ([]string, error) {
	return w.differs[t.ID], w.see("differs")
}
func (w *world) Projects(_ context.Context, ref task.WorkflowRef) (bool, error) {
	return ref.Name == "phases", w.see("book")
}
func (w *world) Differ(_ context.Context, t task.Task, lines []string) ([]string, error) {
	if len(lines) == 0 {
		w.t.Error("the history of a task was not handed over")
	}
	return w.shows[t.ID], w.see("shown")
}
func (w *world) Tell(_ context.Context, _, id string, _ []byte) (record.Adoption, error) {
	a, known := w.told[id]
	if !known {
		return a, &history.BrokenHistory{Line: 3, Why: "it was changed"}
	}
	return a, nil
}
func (w *world) Adopt(_ context.Context, told []record.Adoption, progress func(int)) []record.Adopted {
	var out []record.Adopted
	for i, a := range told {
		progress(i)
		w.adopted = append(w.adopted, a.Task.ID)
		out = append(out, record.Adopted{Adoption: a, Err: w.see("adopt")})
	}
	return out
}

// mend notes what was asked for and takes the trouble away, unless nothing can be mended.
func (w *world) mend(what string, away func()) error {
	w.mended = append(w.mended, what)
	if w.stubborn {
		return errors.New("it is stuck")
	}
	away()
	return nil
}
func (w *world) Sync(_ context.Context, id string) error {
	return w.mend("sync "+id, func() { delete(w.differs, id); delete(w.shows, id) })
}
func (w *world) Free(_ context.Context, id string) error {
	return w.mend("free "+id, func() { w.holders, w.windows = nil, nil })
}
func (w *world) Forget(_ context.Context, id string) error {
	return w.mend("forget "+id, func() { w.holders = nil })
}
func (w *world) Retry(_ context.Context, id string, _ task.Actor) (record.Outcome, error) {
	return record.Outcome{}, w.mend("retry "+id, func() { w.owed = nil })
}
func (w *world) Panes(context.Context) ([]tmux.Pane, error) {
	w.looks++
	if w.passing != nil {
		w.passing(w.looks)
	}
	return w.windows, w.see("windows")
}
func (w *world) EndGroup(context.Context, int) error { return nil }
func (w *world) KillWindow(_ context.Context, id string) error {
	return w.mend("end "+id, func() { w.windows = nil })
}
func (w *world) KeptNames(context.Context) ([]string, error) { return w.kept, w.see("kept") }
func (w *world) Drop(_ context.Context, id string) error {
	return w.mend("drop "+id, func() { w.kept = nil })
}

// setup is another face of the world: two packages have a method of the same name.
type variables struct{ *world }

func (v variables) Tasks() ([]string, error) { return v.ownGiven, v.see("own variables") }

func (v variables) For(_, id string) ([]string, error) {
	if id == v.ownWrong {
		return nil, task.Notef(task.ErrUsage, "cannot use the variables of task %s", id)
	}
	return nil, nil
}

func (v variables) Drop(_ context.Context, id string) error {
	v.ownGiven = slices.DeleteFunc(v.ownGiven, func(one string) bool { return one == id })
	return nil
}

func (v variables) List() ([]harness.Variable, error) {
	var out []harness.Variable
	for _, one := range v.given {
		project, pair, _ := strings.Cut(one, ":")
		name, _, _ := strings.Cut(pair, "=")
		out = append(out, harness.Variable{Name: name, Project: project})
	}
	return out, v.see("variables")
}

func (v variables) Of(project string) ([]string, error) {
	var out []string
	for _, one := range v.given {
		if whose, pair, _ := strings.Cut(one, ":"); whose == "" || whose == project {
			out = append(out, pair)
		}
	}
	return out, v.see("variables")
}

type setup struct{ *world }

func (setup) ForgePauses() ([]record.ForgePause, error) { return nil, nil }
func (setup) Pinned(context.Context, task.WorkflowRef) (*workflow.Definition, error) {
	return nil, task.ErrNotFound
}
func (setup) Held(context.Context, string, []string) (gone, loose []string, err error) {
	return nil, nil, nil
}
func (s setup) Checkouts() ([]string, error) { return s.checkouts, s.see("checkouts") }
func (s setup) RemoveCheckout(_ context.Context, name string) error {
	return s.mend("remove "+name, func() { s.checkouts = nil })
}
func (s setup) Judged(context.Context, task.Project) ([]string, error) {
	return s.judged, s.see("judged")
}
func (s setup) ForgetJudged(_ context.Context, p task.Project, id, branch string) error {
	return s.mend("forget what was judged of "+id+" on "+branch+" in "+p.Name, func() { s.judged = nil })
}

func (s setup) Projects() ([]task.Project, error) { return s.projects, s.see("projects") }
func (s setup) DefaultBranch(_ context.Context, p task.Project) (bool, error) {
	return p.DefaultBranch == "main", s.see("branch")
}
func (s setup) HasIdentity(_ context.Context, dir string, env []string) (bool, error) {
	return !s.nameless || harness.Value(env, "GIT_AUTHOR_NAME") != "", s.see("identity")
}
func (s setup) Files() ([]doctor.File, error)         { return s.files, s.see("files") }
func (s setup) Worktrees() ([]string, error)          { return s.worktrees, s.see("worktrees") }
func (s setup) Asides(string) ([]record.Aside, error) { return s.asides, s.see("asides") }
func (s setup) Usable(context.Context, task.Project, string) ([]rejection.Readiness, error) {
	return []rejection.Readiness{s.commits}, s.see("commits")
}
func (s setup) SharedWords(context.Context, string) ([]string, error) {
	return s.shared, s.see("shared")
}
func (s setup) Dir(name string) string { return "/pool/" + name }
func (s setup) Subject(context.Context, task.Task, bool) task.Subject {
	return task.Subject{Trouble: s.branch}
}

func (w *world) Version(_ context.Context, program string, _ ...string) (string, error) {
	said, there := w.versions[program]
	if !there {
		return "", task.ErrNotFound
	}
	return said, w.see(program)
}
func (w *world) FindProgram(name, _ string) (string, error) {
	if name == "claude-program" {
		return name, nil
	}
	return "", task.ErrNotFound
}
func (w *world) Space(string) (uint64, error) { return w.space, w.see("space") }

// newWorld is a healthy home with one task that is at work in its workspace.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, home: t.TempDir(), lines: map[string][]string{}, histories: map[string]string{},
		differs: map[string][]string{}, blind: map[string]bool{},
		evidence: map[string]bool{"kept": true}, versions: map[string]string{
			"tmux": "tmux 3.4", "git": "git version 2.47.1", "gh": "gh version 2.1"}, space: 10 << 30,
		files: []doctor.File{
			{Kind: "config", Name: "config"},
			{Kind: "harness", Name: "claude", Harness: &harness.Harness{Program: "claude-program"}},
			{Kind: "workflow", Name: "default"}},
	}
	if err := os.Chmod(w.home, task.PrivateFolder); err != nil {
		t.Fatal(err)
	}
	w.projects = []task.Project{{Name: "garden", Path: w.home, DefaultBranch: "main", PoolSize: 2}}
	w.add("one", "working")
	w.holders = []record.Holder{{Workspace: "garden--1", Task: "one", Branch: "fix", Status: "working"}}
	w.worktrees = []string{"garden--1"}
	w.kept = []string{"one"}
	w.windows = []tmux.Pane{{WindowID: "@1", Session: "garden/fix", Task: "one", Role: "worker"},
		{WindowID: "@2", Session: "mine"}}
	return w
}

// add puts a task on record, with its history and its folder.
func (w *world) add(id string, status task.Status) {
	w.t.Helper()
	one := task.Task{ID: id, Project: "garden", Branch: "fix", Status: status, Live: status != "done",
		Workspace: "garden--1", Session: "garden/fix"}
	if !one.Live {
		one.Workspace, one.Session = "", ""
	}
	events := []history.Event{
		{Type: history.Created, Data: map[string]string{"status": "pending"}},
		{Type: history.StatusChanged, From: "pending", To: status, Evidence: []task.Evidence{
			{Source: "## plan", Digest: "kept"}}},
		{Type: history.ReviewStarted, Data: map[string]string{"session": one.Session}, Evidence: []task.Evidence{
			{Source: "## review", Digest: "of a text that no one keeps: it is compared by its digest"}}},
	}
	for i, e := range events {
		sealed, err := history.Seal(e, i+1, one.Hash)
		if err != nil {
			w.t.Fatal(err)
		}
		line, err := json.Marshal(sealed)
		if err != nil {
			w.t.Fatal(err)
		}
		w.lines[id] = append(w.lines[id], string(line))
		one.Seq, one.Hash = sealed.Seq, sealed.Hash
	}
	w.histories[id] = strings.Join(w.lines[id], "\n") + "\n"
	w.tasks = append(w.tasks, one)
	w.folders = append(w.folders, [2]string{"garden", id})
}

func (w *world) doctor() *doctor.Doctor {
	return &doctor.Doctor{
		Home: w.home, Record: recorded{w}, Files: w, Engine: w, Windows: w, Setup: setup{w}, Machine: w,
		Server: w.Server, Variables: variables{w}, Environ: w.environ, Root: w.root,
		Now: time.Now, Settling: time.Millisecond,
	}
}

func (w *world) examine(fix bool) []record.Finding {
	w.t.Helper()
	found, err := w.doctor().Examine(w.t.Context(), fix)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// notOK is what a person has to read, one line each.
func notOK(found []record.Finding) []string {
	var out []string
	for _, f := range found {
		if f.Level != record.LevelOK {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s %s", f.Level, f.Check, f.Subject,
				f.Found, f.Mended)))
		}
	}
	return out
}

func TestExamine_namesAServerThatDoesNotWatch(t *testing.T) {
	t.Parallel()
	w, noon := newWorld(t), time.Date(2024, 5, 6, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		server socket.Health
		err    error
		want   string
	}{
		"none": {socket.Health{}, socket.ErrNoServer, ""},
		"one that watches": {socket.Health{PID: 7, Heard: time.Now()}, nil,
			"ok server: process 7 watches over the agents "},
		"one for commands": {socket.Health{PID: 7}, nil, "ok server: process 7 does not watch over the agents "},
		"one that hangs": {socket.Health{PID: 7}, socket.ErrHung,
			"warning server: the server of the home does not answer "},
		"one that does nothing": {socket.Health{PID: 7, Heard: noon}, nil,
			`warning server: process 7 serves the home, and its watch over the agents has done nothing since 2024-05-06 12:00:00 start another one with "orange server restart"`},
	} {
		w.server, w.noServer = tt.server, tt.err
		got := ""
		for _, f := range w.examine(false) {
			if f.Check == "monitor" {
				got += fmt.Sprintf("%s %s: %s %s", f.Level, f.Subject, f.Found, f.Advice)
			}
		}
		if got != tt.want {
			t.Errorf("%s: found %q, want %q", name, got, tt.want)
		}
	}
}

func TestExamine_findsNothingInAHealthyHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	found := w.examine(true)
	if bad := notOK(found); len(bad) > 0 || len(w.mended) > 0 || w.looks != 1 || !healthy(found) {
		t.Errorf("found %q, mended %q, in %d looks", bad, w.mended, w.looks)
	}
	for _, check := range []string{"tmux", "git", "gh", "disk", "config", "harnesses", "workflows", "projects",
		"database", "private", "folders", "chain", "mirrors", "evidence", "hooks", "pool", "sessions",
		"environments", "leftovers"} {
		if !slices.ContainsFunc(found, func(f record.Finding) bool { return f.Check == check }) {
			t.Errorf("nothing is said of %s", check)
		}
	}
}

func TestExamine_findsWhatIsWrong(t *testing.T) {
	t.Parallel()
	failed := task.OwedHook{Task: "one", Hook: task.Hook{Action: action.NotifyWorker}, State: task.HookFailed,
		Error: "nobody there"}
	tests := []struct {
		spoil func(*world)
		want  string
	}{
		{func(w *world) { delete(w.versions, "tmux") }, "problem tmux tmux: it is not installed"},
		{func(w *world) {
			w.versions["tmux"] = "tmux 3.1c"
		}, `problem tmux tmux: found the version "tmux 3.1c", expected 3.2 or newer`},
		{func(w *world) { w.versions["tmux"] = "tmux master" }, "warning tmux tmux: "},
		{func(w *world) { w.versions["git"] = "git version 2.9.0" }, "problem git git: "},
		{func(w *world) { delete(w.versions, "gh") }, "warning gh gh: it is not installed"},
		{func(w *world) { w.space = 500 << 20 }, "warning disk "},
		{func(w *world) { w.space = 50 << 20 }, "problem disk "},
		{func(w *world) { w.files[0].Problem, w.files[0].Source = errBlind, "config.yml" },
			"problem config config.yml: the lamp is out"},
		{func(w *world) { w.files[1].Problem, w.files[1].Source = errBlind, "x.yml" },
			"problem harnesses x.yml: the lamp is out"},
		{func(w *world) { w.files[1].Harness.Program = "other" }, "warning harnesses programs: no agent program"},
		{func(w *world) { w.files[2].Problem, w.files[2].Source = errBlind, "y.yml" }, "problem workflows y.yml: "},
		{func(w *world) {
			w.projects[0].Path = filepath.Join(w.home, "gone")
		}, "problem projects garden: its repository "},
		{func(w *world) {
			w.projects[0].DefaultBranch = "trunk"
		}, `problem projects garden: its default branch "trunk" is gone`},
		{func(w *world) {
			w.projects = nil
		}, "warning projects garden: 1 live tasks belong to it, and it is not registered"},
		{func(w *world) { w.damaged = []string{"page 7"} }, "problem database orange.db: it is damaged: page 7"},
		{func(w *world) { w.folders = append(w.folders, [2]string{"garden", "two"}) }, "warning folders garden/two: "},
		{func(w *world) { w.folders[0][0] = "yard" }, "warning folders yard/one: "},
		{func(w *world) { w.lines["one"][1] = strings.Replace(w.lines["one"][1], "working", "done", 1) },
			"problem chain one: its history on record does not hold: line 2"},
		{func(w *world) {
			w.tasks[0].Status = "done"
		}, `problem chain one: its history on record does not hold: it ends in "working", and the task is in "done"`},
		{func(w *world) {
			w.lines["one"] = w.lines["one"][:1]
		}, "problem chain one: its history on record does not hold: it ends with event 1, and the task says event 3"},
		{func(w *world) {
			w.differs["one"] = []string{"TASK.md has no status"}
		}, "problem mirrors one: TASK.md has no status"},
		{func(w *world) { delete(w.evidence, "kept") }, "warning evidence one: 1 of 1 texts that its events name are " +
			"not kept any more, such as event 2: "},
		{func(w *world) {
			w.owed = []task.OwedHook{failed}
		}, "warning hooks one: still to run: notify_worker (failed): nobody there"},
		{func(w *world) { w.holders[0].Status = ""; w.holders[0].Task = "gone"; w.tasks[0].Workspace = "" },
			"problem pool garden--1: it is held by task gone, which is not on record"},
		{func(w *world) { w.holders = nil }, "problem pool garden--1: task one says that it has this " +
			"workspace, and the pool says that no task has it"},
		{func(w *world) {
			w.worktrees = nil
		}, `problem pool garden--1: task one has it, and its worktree "/pool/garden--1" is gone`},
		{func(w *world) {
			w.branch = `there is no branch "fix"`
		}, `problem pool garden--1: task one has it, and the task's branch cannot be read: there is no branch "fix"`},
		{func(w *world) {
			w.worktrees = append(w.worktrees, "garden--3")
		}, "warning pool garden--3: it is more than the 2 workspaces of its project"},
		{func(w *world) {
			w.worktrees = append(w.worktrees, "yard--1")
		}, "warning pool yard--1: it is the worktree of a project that is not registered"},
		{func(w *world) { w.windows[0].Dead = true }, "warning sessions one: its agent is dead"},
		{func(w *world) { w.windows = append(w.windows, tmux.Pane{WindowID: "@9", Task: "gone", Role: "worker"}) },
			"problem sessions @9: "},
		{func(w *world) {
			w.windows = append(w.windows, tmux.Pane{WindowID: "@9", Task: "two", Role: "worker"})
			w.folders = append(w.folders, [2]string{"garden", "two"})
		}, "warning sessions @9: "},
		{func(w *world) {
			w.add("over", "done")
			w.windows = append(w.windows, tmux.Pane{WindowID: "@9", Session: "s", Task: "over", Role: "worker"})
		}, `problem sessions over: session "s" is still there, and the task is over (done)`},
		{func(w *world) { w.kept = append(w.kept, "gone") }, "warning environments gone: "},
		{func(w *world) { w.add("over", "done"); w.kept = append(w.kept, "over") }, "warning environments over: "},
		{func(w *world) { w.checkouts = []string{"one-tests"} }, "warning leftovers one-tests: a check was killed"},
		{func(w *world) { w.add("over", "done"); w.judged = []string{"one", "over"} },
			`warning leftovers over: the repository of "garden" keeps what was judged`},
		{func(w *world) { w.judged = []string{"gone"} }, "warning leftovers gone: "},
		{func(w *world) { w.shared = []string{"project garden: user.name was not set, is \"Bot\""} },
			"warning pool shared settings: settings of git that all worktrees share have changed"},
		{func(w *world) {
			w.commits = rejection.Readiness{What: "commits", Found: "signed by a key", Want: "bring it"}
		}, "problem projects garden: its commits: signed by a key"},
		{func(w *world) { w.socket = errors.New("too long") }, "problem tmux socket: too long"},
	}
	for _, tt := range tests {
		w := newWorld(t)
		tt.spoil(w)
		found := w.examine(false)
		bad := notOK(found)
		if !slices.ContainsFunc(bad, func(line string) bool { return strings.HasPrefix(line, tt.want) }) {
			t.Errorf("found %q, want %q", bad, tt.want)
		}
		if healthy(found) != strings.HasPrefix(tt.want, "warning") || len(w.mended) > 0 {
			t.Errorf("%s: healthy is %v, mended %q", tt.want, healthy(found), w.mended)
		}
	}
}

func TestExamine_callsWhatItCannotSeeAProblem(t *testing.T) {
	t.Parallel()
	for _, what := range []string{
		"tmux", "git", "space", "files", "projects", "branch", "check", "list", "holders", "owed", "lines",
		"folders", "evidence", "differs", "windows", "worktrees", "kept", "checkouts", "judged", "shared", "commits",
	} {
		w := newWorld(t)
		w.blind[what] = true
		found := w.examine(true)
		if healthy(found) || !strings.Contains(strings.Join(notOK(found), "\n"), "could not look") ||
			len(w.mended) > 0 {
			t.Errorf("with %s in the dark: %q, mended %q", what, notOK(found), w.mended)
		}
	}
}

func TestExamine_forgivesWhatPassesWhileItLooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.passing = func(looks int) {
		w.differs["one"] = []string{"TASK.md: status"}
		if looks > 1 {
			delete(w.differs, "one")
		}
	}
	if bad := notOK(w.examine(false)); len(bad) > 0 || w.looks != 2 {
		t.Errorf("found %q in %d looks", bad, w.looks)
	}
}

func TestExamine_mendsAndSaysSo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		spoil func(*world)
		want  string
	}{
		{func(w *world) { w.differs["one"] = []string{"x"} }, "sync one"},
		{func(w *world) {
			w.owed = []task.OwedHook{{Task: "one", Hook: task.Hook{Action: action.SpawnNext}, State: task.HookPending}}
		}, "retry one"},
		{func(w *world) {
			w.holders[0].Status, w.holders[0].Task, w.tasks[0].Workspace, w.kept = "", "gone", "", nil
		}, "forget gone"},
		{func(w *world) {
			w.windows = []tmux.Pane{{WindowID: "@9", Task: "gone", Role: "worker"}}
			w.tasks[0].Session = ""
		}, "end @9"},
		{func(w *world) {
			w.add("over", "done")
			w.tasks[0].Workspace, w.tasks[0].Session = "", ""
			w.holders[0].Task, w.kept = "over", nil
		}, "free over, retry over"},
		{func(w *world) { w.kept = []string{"gone"} }, "drop gone"},
		{func(w *world) { w.checkouts = []string{"one-tests"} }, "remove one-tests"},
		{func(w *world) {
			w.add("over", "done")
			w.judged = []string{"over"}
		}, "forget what was judged of over on fix in garden"},
	}
	for _, tt := range tests {
		w := newWorld(t)
		tt.spoil(w)
		found := w.examine(true)
		said := slices.ContainsFunc(found, func(f record.Finding) bool { return f.Mended != "" })
		if !healthy(found) || !said || strings.Join(w.mended, ", ") != tt.want {
			t.Errorf("%s: did %q, and said %q", tt.want, w.mended, notOK(found))
		}
		w = newWorld(t)
		tt.spoil(w)
		w.stubborn = true
		found = w.examine(true)
		for _, f := range found {
			if f.Mended != "" {
				t.Errorf("%s: it says %q, and nothing was mended", tt.want, f.Mended)
			}
		}
		if bad := notOK(found); len(bad) == 0 || strings.HasPrefix(bad[0], "problem") && healthy(found) {
			t.Errorf("%s: nothing was mended, and all is called well", tt.want)
		}
	}
}

func TestExamine_keepsWindowsOfPeopleAndOfRecoverableTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.folders = append(w.folders, [2]string{"garden", "two"})
	w.windows = append(w.windows, tmux.Pane{WindowID: "@9", Task: "two", Role: "worker"}, tmux.Pane{
		WindowID: "@8", Task: "gone"})
	w.examine(true)
	if len(w.mended) > 0 {
		t.Errorf("it did %q", w.mended)
	}
}

func TestExamine_keepsTheEnvironmentsOfWaitingAndRecoverableTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("waiting", "pending")
	w.tasks[1].Workspace, w.tasks[1].Session, w.tasks[1].QueuedFor = "", "", "working"
	w.folders = append(w.folders, [2]string{"garden", "two"})
	w.kept = []string{"one", "waiting", "two"}
	w.examine(true)
	if len(w.mended) > 0 {
		t.Errorf("it did %q", w.mended)
	}
}

func TestExamine_looksAtWhatItCanWithoutARecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.doctor()
	d.Record = nil
	found, err := d.Examine(t.Context(), true)
	if err != nil || len(found) < 8 {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestExamine_removesOldLeftoversOfOursOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ago := time.Now().Add(-3 * time.Hour)
	write := func(name string, aged bool) {
		path := filepath.Join(w.home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), task.PrivateFolder),
			os.WriteFile(path, nil, task.PrivateFile)); err != nil {
			t.Fatal(err)
		}
		if aged {
			if err := os.Chtimes(path, ago, ago); err != nil {
				t.Fatal(err)
			}
		}
	}
	ours := []string{"launch/7.json", "launch/8.json.new", "tmux.conf.123", "projects.json.new", "bin/orange.9",
		"conflicts/.garden.json.5",
		"tasks/[g]/a/.TASK.md.1", "tasks/[g]/a/.history.jsonl.2", "tasks/[g]/a/prompts/1-x.md.new"}
	theirs := []string{"launch/7.exit", "tasks/[g]/a/TASK.md", "tasks/[g]/a/.TASK.md.swp", "tasks/[g]/a/notes.1",
		"bin/orange", "orange.db", "conflicts/garden.json"}
	for _, name := range append(slices.Clone(ours), theirs...) {
		write(name, true)
	}
	write("tasks/[g]/a/.TASK.md.99", false)
	w.examine(true)
	for _, name := range ours {
		if _, err := os.Lstat(filepath.Join(w.home, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range append(theirs, "tasks/[g]/a/.TASK.md.99") {
		if _, err := os.Lstat(filepath.Join(w.home, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRebuild_adoptsTheNewestMoveFirstAndNamesWhatItLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	day := func(n int) time.Time { return time.Date(2024, 5, n, 0, 0, 0, 0, time.UTC) }
	w.told = map[string]record.Adoption{
		"old":     {Task: task.Task{ID: "old", Project: "garden", EnteredAt: day(1)}},
		"new":     {Task: task.Task{ID: "new", Project: "garden", EnteredAt: day(2)}, Torn: true},
		"foreign": {Task: task.Task{ID: "foreign", Project: "garden", EnteredAt: day(9)}, Foreign: true},
	}
	w.histories["foreign"] = "something\n"
	w.folders = append(w.folders, [2]string{"garden", "foreign"}, [2]string{"garden", "old"}, [2]string{
		"garden", "new"}, [2]string{"garden", "bad"}, [2]string{"yard", "one"})
	d, far := w.doctor(), []string{}
	d.Progress = func(what string, done, of int) { far = append(far, fmt.Sprintf("%s %d of %d", what, done, of)) }
	found, err := d.Rebuild(t.Context())
	if want := []string{
		"folders read 0 of 6", "folders read 1 of 6", "folders read 2 of 6", "folders read 3 of 6",
		"folders read 4 of 6", "folders read 5 of 6",
		"tasks brought back 0 of 3", "tasks brought back 1 of 3", "tasks brought back 2 of 3",
	}; !slices.Equal(far, want) {
		t.Errorf("it told that it is at %q", far)
	}
	if err != nil || !slices.Equal(w.adopted, []string{"new", "old", "foreign"}) {
		t.Errorf("adopted %q, %v", w.adopted, err)
	}
	if !slices.Equal(w.mended, []string{"keep new torn", "keep foreign before-adoption"}) {
		t.Errorf("kept %q", w.mended)
	}
	text := strings.Join(notOK(found), "\n")
	for _, want := range []string{
		"problem rebuild garden/bad: it is not adopted: garden/bad/history.jsonl:3: it was changed",
		`problem rebuild yard/one: the record has a task of this id in "garden"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("found\n%s\nwant %q", text, want)
		}
	}
	if healthy(found) {
		t.Error("all is called well")
	}
}

func TestRebuild_thatCannotLookAtTheWindowsAdoptsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.blind["windows"] = true
	w.told = map[string]record.Adoption{"old": {}}
	w.folders = append(w.folders, [2]string{"garden", "old"})
	if _, err := w.doctor().Rebuild(t.Context()); err == nil || len(w.adopted) > 0 {
		t.Errorf("adopted %q, %v", w.adopted, err)
	}
}

// healthy reports whether no problem is left.
func healthy(found []record.Finding) bool {
	return !slices.ContainsFunc(found, func(f record.Finding) bool { return f.Left() == record.LevelProblem })
}
