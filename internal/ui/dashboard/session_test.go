package dashboard

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"

	"orange/internal/rules/decide"
	"orange/internal/rules/diff"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
	"orange/workflows"
)

// clock is when every test takes place.
func clock() time.Time { return time.Date(2026, 1, 2, 15, 4, 0, 0, time.UTC) }

var definitions = sync.OnceValues(func() (map[string]*workflow.Definition, error) {
	out := map[string]*workflow.Definition{}
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		text, err := workflows.Files.ReadFile(name + ".yml")
		if err != nil {
			return nil, err
		}
		if out[name], err = workflow.Parse(name+".yml", text, usual); err != nil {
			return nil, err
		}
	}
	return out, nil
})

// rulesOf is a workflow that ships with the program.
func rulesOf(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	all, err := definitions()
	if err != nil {
		t.Fatal(err)
	}
	return all[name]
}

// fakeBackend is a Backend whose answers are its fields. It notes what is asked of it.
type fakeBackend struct {
	limits task.Timeouts
	origin *tasks.Origin // where it says nothing, on GitHub
	view   string        // how the screen was left

	local     bool     // the last merge was one here, whatever pull request there is
	far       bool     // no browser is here
	noTaskYet string   // why no task can be created, where there is none
	had       []string // ids of tasks that were reported once
	mu        sync.Mutex

	tasks      []task.Task
	agents     map[string]Agent // where it says nothing, an agent with a session lives
	workspaces []record.Holding
	works      map[string]Work // by task
	histories  map[string][]history.Event
	whys       map[string]decide.Explanation
	documents  map[string]string
	diffs      map[string]string
	patches    map[string]diff.Patch     // by task; those since the last review by "since " and the task
	comments   map[string][]diff.Comment // by task
	panes      map[string][]Pane
	logs       map[string][]string
	choices    Choices
	edit       func(text string) (string, error)
	watch      func(ctx context.Context, changed func()) error
	fails      map[string]error // by method

	// answer is the outcome of a command ("Merge") for a task. nil: the task stays as it is.
	answer func(what, id string) (record.Outcome, error)
	made   []task.New
	asked  []string // "Merge ID strategy", only for commands
	calls  []string // the names of all methods

	inside bool       // a command is being performed
	strict testing.TB // fails when anything is asked outside of a command: Update and View only think
}

func (f *fakeBackend) backend() Backend {
	return Backend{Store: f, Inspector: f, Reader: f, Reviews: f, Comments: f, Runner: f, Chooser: f,
		Terminal: f, Now: func() time.Time {
			if err := f.call("Now"); err != nil {
				return time.Time{}
			}
			return clock()
		}}
}

// call records the call of a method, and returns its failure.
func (f *fakeBackend) call(method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.strict != nil && !f.inside {
		f.strict.Helper()
		f.strict.Errorf("%s is asked outside of a command", method)
	}
	f.calls = append(f.calls, method)
	return f.fails[method]
}

func (f *fakeBackend) perform(method, id string, words ...string) (record.Outcome, error) {
	if err := f.call(method); err != nil {
		return record.Outcome{}, err
	}
	f.asked = append(f.asked, strings.TrimSpace(strings.Join(append([]string{method, id}, words...), " ")))
	if f.answer != nil {
		return f.answer(method, id)
	}
	for _, t := range f.tasks {
		if t.ID == id {
			return record.Outcome{Task: t}, nil
		}
	}
	return record.Outcome{}, nil
}

func (f *fakeBackend) First(context.Context, string, int) ([]task.Task, error) {
	return f.tasks[:min(2, len(f.tasks))], f.call("First")
}

func (f *fakeBackend) Destination(_ context.Context, t task.Task) (origin bool, forge string, project task.Project,
	err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.origin != nil {
		return f.origin.There, f.origin.Forge, f.origin.Project, nil
	}
	return true, record.ForgeGitHub, task.Project{Name: t.Project, DefaultBranch: "main"}, nil
}

func (f *fakeBackend) Timeouts(string) (task.Timeouts, error) { return f.limits, f.call("Timeouts") }

func (f *fakeBackend) All(context.Context) ([]task.Task, int64, error) {
	for _, t := range f.tasks {
		f.had = append(f.had, t.ID)
	}
	return f.tasks, 1, f.call("All")
}

// Since tells of all tasks as if each had changed, and of every other that was there.
func (f *fakeBackend) Since(_ context.Context, cursor int64) ([]task.Task, []string, int64, error) {
	var gone []string
	for _, id := range f.had {
		if !slices.ContainsFunc(f.tasks, func(t task.Task) bool { return t.ID == id }) {
			gone = append(gone, id)
		}
	}
	for _, t := range f.tasks {
		f.had = append(f.had, t.ID)
	}
	return f.tasks, gone, cursor + 1, f.call("Since")
}

func (f *fakeBackend) Agents(_ context.Context, tasks []task.Task) (map[string]Agent, error) {
	if err := f.call("Agents"); err != nil {
		return nil, err
	}
	out := map[string]Agent{}
	for _, t := range tasks {
		if a, told := f.agents[t.ID]; told {
			out[t.ID] = a
		} else if t.Session != "" {
			out[t.ID] = Agent{State: record.AgentAlive}
		}
	}
	return out, nil
}

func (f *fakeBackend) Rules(_ context.Context, ref task.WorkflowRef) (*workflow.Definition, error) {
	if err := f.call("Rules"); err != nil {
		return nil, err
	}
	all, err := definitions()
	if err != nil {
		return nil, err
	}
	def, found := all[ref.Name]
	if !found {
		return nil, fmt.Errorf("cannot find the workflow %q", ref.Name)
	}
	return def, nil
}

func (f *fakeBackend) Signals() (bell, title, notification bool, err error) {
	return true, true, true, f.call("Signals")
}

func (f *fakeBackend) LastView(string) (string, error) { return f.view, f.call("LastView") }

func (f *fakeBackend) KeepView(project, words string) error {
	f.view = words
	return f.call("KeepView")
}

func (f *fakeBackend) FirstSteps(_ context.Context, create string) (steps []string, none string, err error) {
	steps = []string{"No tasks yet. Press " + create + " to create one.", "An agent builds it.", "? shows the keys."}
	return steps, f.noTaskYet, f.call("FirstSteps")
}

func (f *fakeBackend) Workspaces(context.Context, string) ([]record.Holding, error) {
	return f.workspaces, f.call("Workspaces")
}

func (f *fakeBackend) Asides(string) ([]record.Aside, error) { return nil, nil }

func (f *fakeBackend) SharedWords(context.Context, string) ([]string, error) { return nil, nil }

func (f *fakeBackend) Work(_ context.Context, t task.Task) (Work, error) {
	return f.works[t.ID], f.call("Work")
}

func (f *fakeBackend) Watch(ctx context.Context, changed func()) error {
	if f.watch != nil {
		return f.watch(ctx, changed)
	}
	<-ctx.Done()
	return f.call("Watch")
}

func (f *fakeBackend) History(_ context.Context, id string, after int) ([]history.Event, error) {
	all := f.histories[id]
	return all[min(after, len(all)):], f.call("History")
}

func (f *fakeBackend) Why(_ context.Context, id string) (decide.Explanation, error) {
	return f.whys[id], f.call("Why")
}

func (f *fakeBackend) Document(_ context.Context, t task.Task) (string, error) {
	return f.documents[t.ID], f.call("Document")
}

func (f *fakeBackend) Diff(_ context.Context, t task.Task) (string, error) {
	return f.diffs[t.ID], f.call("Diff")
}

func (f *fakeBackend) Patch(_ context.Context, t task.Task, since bool) (diff.Patch, error) {
	if since {
		return f.patches["since "+t.ID], f.call("Patch")
	}
	return f.patches[t.ID], f.call("Patch")
}

func (f *fakeBackend) Comments(_, id string) ([]diff.Comment, error) {
	return f.comments[id], f.call("Comments")
}

func (f *fakeBackend) ChangeComments(_ context.Context, _, id string,
	change func([]diff.Comment) []diff.Comment) ([]diff.Comment, error) {
	if err := f.call("ChangeComments"); err != nil {
		return nil, err
	}
	if f.comments == nil {
		f.comments = map[string][]diff.Comment{}
	}
	f.comments[id] = change(f.comments[id])
	return f.comments[id], nil
}

func (f *fakeBackend) Panes(_ context.Context, t task.Task) ([]Pane, error) {
	return f.panes[t.ID], f.call("Panes")
}

func (f *fakeBackend) Log(_ context.Context, t task.Task) ([]string, error) {
	return f.logs[t.ID], f.call("Log")
}

func (f *fakeBackend) Create(_ context.Context, n task.New) (record.Outcome, error) {
	if err := f.call("Create"); err != nil {
		return record.Outcome{}, err
	}
	f.made = append(f.made, n)
	if f.answer != nil {
		return f.answer("Create", "")
	}
	made := task.Task{Project: n.Project.Name, Live: true}
	if len(f.tasks) > 0 {
		made = f.tasks[0]
	}
	made.ID, made.Branch, made.Summary = "NEWTASK00000000000000", n.Branch, n.Summary
	f.tasks = append([]task.Task{made}, f.tasks...)
	return record.Outcome{Task: made, Moved: true}, nil
}

func (f *fakeBackend) Command(_ context.Context, id, command, reason string) (record.Outcome, error) {
	return f.perform("Command", id, command, reason)
}

func (f *fakeBackend) RequestChanges(_ context.Context, id, text string) (record.Outcome, error) {
	return f.perform("RequestChanges", id, text)
}

func (f *fakeBackend) Merge(_ context.Context, id string, m task.Merge) (record.Outcome, string, error) {
	f.local = m.Local
	out, err := f.perform("Merge", id, m.Strategy, m.Override)
	return out, "merged", err
}

func (f *fakeBackend) MergeMany(_ context.Context, in record.MergeMany, told func(record.MergedOne)) error {
	if err := f.call("MergeMany"); err != nil {
		return err
	}
	f.asked = append(f.asked, "MergeMany "+in.Project+" "+strings.Join(in.Tasks, " "))
	for _, id := range in.Tasks {
		one := record.MergedOne{Task: task.Task{ID: id}, Outcome: record.Outcome{Task: task.Task{ID: id}}}
		if f.answer != nil {
			if one.Outcome, one.Left = f.answer("Merge", id); one.Left != nil {
				one.With = []string{"fix/second"}
			}
		}
		told(one)
	}
	return nil
}

func (f *fakeBackend) RequestPR(_ context.Context, id string) (record.Outcome, error) {
	return f.perform("RequestPR", id)
}

func (f *fakeBackend) Next(_ context.Context, id string, to task.Status, override string) (record.Outcome, error) {
	return f.perform("Next", id, string(to), override)
}

func (f *fakeBackend) Move(_ context.Context, id string, to task.Status, reason string) (record.Outcome, error) {
	return f.perform("Move", id, string(to), reason)
}

func (f *fakeBackend) Redo(_ context.Context, id string, to task.Status, reason string) (record.Outcome, error) {
	return f.perform("Redo", id, string(to), reason)
}

func (f *fakeBackend) Say(_ context.Context, id, text string) (string, error) {
	_, err := f.perform("Say", id, text)
	return "worker", err
}

func (f *fakeBackend) Retry(_ context.Context, id string) (record.Outcome, error) {
	return f.perform("Retry", id)
}

func (f *fakeBackend) Delete(_ context.Context, id string) (record.DeletedTask, error) {
	out, err := f.perform("Delete", id)
	return record.DeletedTask{Folder: "in the trash", Stayed: out.Stayed}, err
}

func (f *fakeBackend) Attach(_ context.Context, id, role string) error {
	_, err := f.perform("Attach", id, role)
	return err
}

func (f *fakeBackend) Edit(_ context.Context, text string) (string, error) {
	if err := f.call("Edit"); err != nil || f.edit == nil {
		return text, err
	}
	return f.edit(text)
}

func (f *fakeBackend) EditAt(_ context.Context, path string, line int) error {
	f.asked = append(f.asked, fmt.Sprintf("EditAt %s:%d", path, line))
	return f.call("EditAt")
}

func (f *fakeBackend) Page(_ context.Context, text string, line int) error {
	f.asked = append(f.asked, fmt.Sprintf("Page %d bytes:%d", len(text), line))
	return f.call("Page")
}

func (f *fakeBackend) Browse(_ context.Context, address string) (bool, error) {
	f.asked = append(f.asked, "Browse "+address)
	return !f.far, f.call("Browse")
}

func (f *fakeBackend) Choices(context.Context) (Choices, error) {
	return f.choices, f.call("Choices")
}

// aTask is a live task of the default workflow, with an agent where its status has one.
func aTask(t testing.TB, n int, status task.Status, change ...func(*task.Task)) task.Task {
	t.Helper()
	return taskUnder(t, "default", n, status, change...)
}

// taskUnder is a task of a workflow. Each n is another task; those with a higher n are older.
func taskUnder(t testing.TB, name string, n int, status task.Status, change ...func(*task.Task)) task.Task {
	t.Helper()
	def := rulesOf(t, name)
	state, found := def.State(status)
	if !found {
		t.Fatalf("the workflow %q has no state %q", name, status)
	}
	one := task.Task{
		ID: fmt.Sprintf("task%017d", n), Project: "shop", Branch: fmt.Sprintf("fix/bug-%d", n),
		Summary: fmt.Sprintf("Mend bug %d", n),
		Harness: "claude", ReviewHarness: "claude", Status: status, Counters: task.Counters{}, Live: !state.Terminal,
		Workflow:  task.WorkflowRef{Name: def.Name, Version: def.Version, Digest: def.Digest},
		CreatedAt: clock().Add(-time.Duration(n+1) * time.Hour),
		UpdatedAt: clock().Add(-time.Duration(n+1) * 7 * time.Minute),
		EnteredAt: clock().Add(-time.Duration(n+1) * 7 * time.Minute), Version: 1, Seq: 1,
	}
	if state.Role != "" {
		one.Session, one.Workspace = "orange-"+one.ID, "shop--1"
	}
	for _, c := range change {
		c(&one)
	}
	return one
}

// session is a person at the screen. After each message it performs the commands that follow from it, except those
// that wait for the clock.
type session struct {
	testing.TB
	m       *Model
	backend *fakeBackend
	quit    bool
	sent    []tea.Msg // what was said to Bubble Tea itself: the clipboard, the end
}

// openSession opens the screen and performs its first commands. After that, a call of the backend outside of a
// command fails the test.
func openSession(t testing.TB, backend *fakeBackend, width, height int) *session {
	t.Helper()
	s := &session{TB: t, backend: backend, m: New(t.Context(), backend.backend(), "")}
	backend.strict = t
	s.follow(s.m.Init())
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// openAt opens the screen with the first task of the backend selected, wherever the list has it.
func openAt(t testing.TB, backend *fakeBackend, width, height int) *session {
	t.Helper()
	s := openSession(t, backend, width, height)
	s.m.tasks.Touched = true
	if len(backend.tasks) > 0 {
		s.m.tasks.Find(backend.tasks[0].ID)
		s.send(nil)
	}
	return s
}

// table are all keys.
func table(t testing.TB) keymap {
	return New(t.Context(), (&fakeBackend{}).backend(), "").keyboard.keys
}

// send gives messages to the model, and performs the commands that follow.
func (s *session) send(msgs ...tea.Msg) {
	s.Helper()
	for _, msg := range msgs {
		s.follow(s.m.Update(msg))
	}
}

// follow performs a command, unless it waits for the clock, and sends its answer.
func (s *session) follow(cmd tea.Cmd) {
	s.Helper()
	if cmd == nil || waits(cmd) {
		return
	}
	s.backend.inside = true
	msg := cmd()
	s.backend.inside = false
	value := reflect.ValueOf(msg)
	switch {
	case msg == nil:
	case value.Kind() == reflect.Slice && value.Type().Elem() == reflect.TypeFor[tea.Cmd](): // a batch or a sequence
		for i := range value.Len() {
			s.follow(value.Index(i).Interface().(tea.Cmd))
		}
	case value.Type().String() == "tea.execMsg":
		s.backend.inside = true
		err := hidden[tea.ExecCommand](value, "cmd").Run()
		s.backend.inside = false
		s.send(hidden[tea.ExecCallback](value, "fn")(err))
	case value.Type().PkgPath() == reflect.TypeFor[tea.QuitMsg]().PkgPath():
		_, quit := msg.(tea.QuitMsg)
		s.quit = s.quit || quit
		s.sent = append(s.sent, msg)
	default:
		s.send(msg)
	}
}

// waits reports whether a command waits for the clock.
func waits(cmd tea.Cmd) bool {
	name := runtime.FuncForPC(reflect.ValueOf(cmd).Pointer()).Name()
	return strings.Contains(name, "Tick.func") || strings.Contains(name, "Blink")
}

// hidden reads a field of Bubble Tea's own message.
func hidden[T any](message reflect.Value, field string) T {
	copied := reflect.New(message.Type()).Elem()
	copied.Set(message)
	f := copied.FieldByName(field)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Interface().(T)
}

// press presses keys by their names: "j", "G", "enter", "ctrl+s", "shift+tab", "space".
func (s *session) press(names ...string) {
	s.Helper()
	for _, name := range names {
		s.send(keyNamed(s.TB, name))
	}
}

// selects puts the cursor on a task, wherever it is in the list.
func (s *session) selects(branch string) {
	s.Helper()
	s.press("g")
	for range s.m.tasks.Shown {
		if t, _ := s.m.tasks.Selected(); t.Branch == branch {
			return
		}
		s.press("j")
	}
	s.chosen(branch)
}

// write types a text, letter by letter.
func (s *session) write(text string) {
	s.Helper()
	for _, r := range text {
		s.send(tea.KeyPressMsg{Text: string(r), Code: r})
	}
}

func keyNamed(t testing.TB, name string) tea.KeyPressMsg {
	t.Helper()
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "backspace": tea.KeyBackspace,
		"delete": tea.KeyDelete, "insert": tea.KeyInsert,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome,
		"end":  tea.KeyEnd,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "space": tea.KeySpace,
	}
	var one tea.KeyPressMsg
	rest := name
	for prefix, mod := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "shift+": tea.ModShift, "alt+": tea.ModAlt} {
		if after, has := strings.CutPrefix(rest, prefix); has {
			rest, one.Mod = after, mod
		}
	}
	letters := []rune(rest)
	switch code, special := codes[rest]; {
	case special:
		one.Code = code
		if rest == "space" {
			one.Text = " "
		}
	case len(letters) == 1:
		one.Code = letters[0]
		if one.Mod == 0 {
			one.Text = rest
		}
	default:
		t.Fatalf("no key is called %q", name)
	}
	if one.String() != name {
		t.Fatalf("Bubble Tea calls the key %q %q", name, one.String())
	}
	return one
}

// click presses a button of the mouse, wheel turns its wheel.
func (s *session) click(x, y int) {
	s.Helper()
	s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

func (s *session) wheel(x, y int, button tea.MouseButton) {
	s.Helper()
	s.send(tea.MouseWheelMsg{X: x, Y: y, Button: button})
}

// find is the position of a text on the screen.
func (s *session) find(text string) (x, y int) {
	s.Helper()
	for y, line := range strings.Split(s.text(), "\n") {
		if before, _, found := strings.Cut(line, text); found {
			return screen.Width(before), y
		}
	}
	s.Fatalf("the screen does not show %q:\n%s", text, s.text())
	return 0, 0
}

// chosen fails the test unless the task is the selected one.
func (s *session) chosen(branch string) {
	s.Helper()
	if t, _ := s.m.tasks.Selected(); t.Branch != branch {
		s.Errorf("the selected task is %q, want %q:\n%s", t.Branch, branch, s.text())
	}
}

// text is the screen without colours.
func (s *session) text() string { return plainScreen(s.m.View().Content) }

// shows fails the test unless the text is on the screen.
func (s *session) shows(text string) {
	s.Helper()
	if !strings.Contains(s.text(), text) {
		s.Errorf("the screen does not show %q:\n%s", text, s.text())
	}
}

// hides fails the test if the text is on the screen.
func (s *session) hides(text string) {
	s.Helper()
	if strings.Contains(s.text(), text) {
		s.Errorf("the screen shows %q:\n%s", text, s.text())
	}
}
