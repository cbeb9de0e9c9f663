package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"orange/internal/rules/harness"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

var errLook = errors.New("nobody is there")

// fault is what is wrong with a drawn screen; empty when nothing is.
func fault(text string, width, height int) string {
	lines := strings.Split(text, "\n")
	if len(lines) > max(1, height) {
		return fmt.Sprintf("it has %d lines, the screen %d", len(lines), height)
	}
	for i, line := range lines {
		if got := screen.Width(line); got > width {
			return fmt.Sprintf("line %d has %d cells, the screen %d: %q", i, got, width, line)
		}
		for rest := line; ; {
			before, after, found := strings.Cut(rest, "\x1b[")
			if at := strings.IndexFunc(before, unicode.IsControl); at >= 0 {
				return fmt.Sprintf("line %d holds a control character: %q", i, line)
			}
			if !found {
				break
			}
			end := strings.IndexFunc(after, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
			if end < 0 || after[end] != 'm' {
				return fmt.Sprintf("line %d holds an order to the terminal: %q", i, line)
			}
			rest = after[end+1:]
		}
		if strings.ToValidUTF8(line, "") != line {
			return fmt.Sprintf("line %d holds bytes that are no characters: %q", i, line)
		}
	}
	return ""
}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringN(0, 300, -1), rapid.SampledFrom([]string{
		"", "\x1b[2J\x1b[1;1H", "\x1b]0;title\x07", "\x9b31mred", "a\nb\r\nc\td", "\xff\xfe", "\u202eturned",
		"👩‍👩‍👧‍👦 family", "全角文字だけの名前です", "é́́́́", "\u2028", "\x1b", "\x1b[", "\u200d", "﷽﷽",
	}))
}

func anyTasks(t testing.TB, rt *rapid.T) []task.Task {
	var out []task.Task
	for n := range rapid.IntRange(0, 30).Draw(rt, "tasks") {
		name := rapid.SampledFrom([]string{"default", "build", "phases", "minimal", "lost"}).Draw(rt, "workflow")
		var one task.Task
		if name == "lost" {
			one = aTask(t, n, "working", func(one *task.Task) {
				one.Workflow = task.WorkflowRef{Name: anyText().Draw(rt, "lost"), Digest: "lost"}
				one.Status = task.Status(anyText().Draw(rt, "status"))
			})
		} else {
			states := rulesOf(t, name).States
			one = taskUnder(t, name, n, states[rapid.IntRange(0, len(states)-1).Draw(rt, "state")].Name)
		}
		one.Branch, one.Summary = anyText().Draw(rt, "branch"), anyText().Draw(rt, "summary")
		one.Project = rapid.SampledFrom([]string{"shop", "site", "\x1b[31mred", "長い名前のプロジェクト"}).Draw(rt, "project")
		one.Attention = rapid.SampledFrom([]string{"", "", "look\nhere", strings.Repeat("long ", 100)}).Draw(rt,
			"attention")
		one.PRURL = rapid.SampledFrom([]string{"", "https://example.org/pull/123456789", "/\x1b[5m"}).Draw(rt, "pr")
		if rapid.IntRange(0, 9).Draw(rt, "queued") == 0 {
			one.QueuedFor = "working"
		}
		out = append(out, one)
	}
	return out
}

func anyMessage(t testing.TB, rt *rapid.T) tea.Msg {
	var names []string
	for _, k := range table(t) {
		names = append(names, k.names...)
	}
	names = append(names, "enter", "esc", "j", "k", "y", "n", "backspace", "ctrl+s")
	x, y := rapid.IntRange(-1, 300), rapid.IntRange(-1, 100)
	switch rapid.IntRange(0, 11).Draw(rt, "message") {
	case 0:
		return tea.WindowSizeMsg{Width: rapid.IntRange(1, 300).Draw(rt, "width"),
			Height: rapid.IntRange(1, 100).Draw(rt, "height")}
	case 1:
		return tea.MouseClickMsg{X: x.Draw(rt, "x"), Y: y.Draw(rt, "y"), Button: tea.MouseLeft}
	case 2:
		return tea.MouseWheelMsg{X: x.Draw(rt, "x"), Y: y.Draw(rt, "y"),
			Button: rapid.SampledFrom([]tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown, tea.MouseWheelLeft,
				tea.MouseWheelRight}).Draw(rt, "wheel")}
	case 3:
		return rapid.SampledFrom([]tea.Msg{recordChange{}, clockTick(clock()), watcherName{"watched\nby\x1b[31m"},
			news{"said\x07"},
			failureNews{"do\tit", errLook}, failureNews{"do\x1b[2J", errors.New("a\nb\x9b")}}).Draw(rt, "told")
	case 4:
		text := anyText().Draw(rt, "paste")
		return tea.PasteMsg{Content: text}
	case 5:
		r := rapid.Rune().Draw(rt, "letter")
		return tea.KeyPressMsg{Text: string(r), Code: r}
	}
	return keyNamed(t, rapid.SampledFrom(names).Draw(rt, "key"))
}

// Whatever tasks are called, however large the screen is and whatever is pressed: the screen holds, and nothing
// but colours reaches the terminal.
func TestTheScreenSurvivesAnyTasksSizesAndKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		backend := &fakeBackend{tasks: anyTasks(t, rt), documents: map[string]string{}, diffs: map[string]string{},
			choices: Choices{Projects: []task.Project{{Name: "shop"}}, Harness: "claude",
				Harnesses: []harness.Choice{{Name: "claude", Path: "/bin/claude"}},
				Workflows: []WorkflowChoice{{Name: "default", Rules: rulesOf(t, "default")}}}}
		for i, one := range backend.tasks {
			backend.documents[one.ID], backend.diffs[one.ID] = anyText().Draw(rt, "document"), anyText().Draw(rt,
				"diff")
			backend.workspaces = append(backend.workspaces, record.Holding{
				Project: one.Project, Workspace: fmt.Sprint("w", i), Path: anyText().Draw(rt, "path"),
				Exists: i%2 == 0, Task: one.ID, Branch: one.Branch, Status: one.Status})
		}
		s := openSession(t, backend, rapid.IntRange(1, 300).Draw(rt, "width"), rapid.IntRange(1, 100).Draw(rt,
			"height"))
		for range rapid.IntRange(0, 40).Draw(rt, "steps") {
			msg := anyMessage(t, rt)
			s.send(msg)
			if why := fault(s.m.View().Content, s.m.layout.width, s.m.layout.height); why != "" {
				rt.Fatalf("%s, after %T %v: %s", s.m.pages.page, msg, msg, why)
			}
		}
	})
}

// ran is a dashboard that was run on a terminal which is no terminal, until it ended.
func ran(t *testing.T, spoil func(m *Model), backend *fakeBackend) (string, error) {
	t.Helper()
	var out bytes.Buffer
	in, hold := io.Pipe()
	defer hold.Close()
	d := &Dashboard{Backend: backend.backend(), In: in, Out: &out, Environ: []string{"TERM=xterm-256color"}}
	d.Open(t.Context())
	if spoil != nil {
		spoil(d.guard.model)
	}
	err := d.Run(t.Context())
	return out.String(), err
}

func TestAFaultEndsTheScreenInGoodOrder(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		spoil              func(m *Model)
		backend            *fakeBackend
		where, spot, trace string
	}{
		"a view": {spoil: func(m *Model) {
			m.foot.jobs = jobs{running: []job{{what: "x"}}, frame: -1}
		}, where: "it drew the list", spot: "internal/ui/dashboard/jobs.go:", trace: "messages"},
		"an update": {spoil: func(m *Model) {
			m.keyboard.pending = pendingKey{key: "broken", task: day(t).tasks[0].ID}
			m.keyboard.keys = []key{{names: []string{"broken"}, pages: []page{pageList}, press: func() tea.Cmd {
				panic("no")
			}}}
		}, backend: day(t), where: "it worked on a tasks.Read", spot: "internal/ui/dashboard/model_test.go:",
			trace: "pressPending"},
		"a command": {spoil: func(m *Model) {
			m.tasks = tasks.New(t.Context(), nil, nil, "", clock())
		}, where: "it looked something up", spot: "internal/ui/dashboard/tasks/load.go:", trace: "LoadFirst"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if one.backend == nil {
				one.backend = &fakeBackend{}
			}
			out, err := ran(t, one.spoil, one.backend)
			var broken *Fault
			if !errors.As(err, &broken) {
				t.Fatalf("Run answered %v", err)
			}
			if broken.Where != one.where || !strings.HasPrefix(broken.Location(), one.spot) ||
				!bytes.Contains(broken.Trace, []byte(one.trace)) {
				t.Errorf("it broke while %q at %q:\n%s", broken.Where, broken.Location(), broken.Trace)
			}
			if on, off := strings.LastIndex(out, "\x1b[?1049h"), strings.LastIndex(out, "\x1b[?1049l"); on > off {
				t.Errorf("the terminal is left in the screen of the program: %q", out)
			}
			if on, off := strings.LastIndex(out, "\x1b[?25l"), strings.LastIndex(out, "\x1b[?25h"); on > off {
				t.Errorf("the cursor stays hidden: %q", out)
			}
		})
	}
}

// While another program has the terminal the screen reads no messages: a sender must not wait for that.
func TestSendersToTheScreenNeverWait(t *testing.T) {
	t.Parallel()
	d := &Dashboard{Backend: (&fakeBackend{}).backend()}
	d.Open(t.Context())
	defer d.cancel()
	for range 1000 {
		d.Say("a word")
		d.SetWatcher("somebody")
		d.Fail("do it", errors.New("no"))
	}
	d.Say("the last")
	ctx, off := context.WithCancel(t.Context())
	var got []tea.Msg
	d.mailbox.deliver(ctx, func(msg tea.Msg) {
		if got = append(got, msg); msg == (news{"the last"}) {
			off()
		}
	})
	if len(got) != 3001 || got[0] != (news{"a word"}) || got[1] != (watcherName{"somebody"}) {
		t.Errorf("%d messages came, first %v and %v", len(got), got[0], got[1])
	}
}

func TestNothingOfTheScreenRunsAfterIt(t *testing.T) {
	t.Parallel()
	ended := false
	backend := &fakeBackend{watch: func(ctx context.Context, changed func()) error {
		changed()
		<-ctx.Done()
		changed() // the screen reads no messages any more
		ended = true
		return ctx.Err()
	}}
	if _, err := ran(t, func(m *Model) { m.foot.jobs = jobs{running: []job{{}}, frame: -1} }, backend); err == nil ||
		!ended {
		t.Errorf("Run answered %v, and its watch ended: %v", err, ended)
	}
}

func TestAFaultWhileTheTerminalIsLentEndsTheScreenInOrder(t *testing.T) {
	t.Parallel()
	msg := reflect.ValueOf(lend(func() error { panic("no") }, nil)())
	err := hidden[tea.ExecCommand](msg, "cmd").Run()
	if b, is := hidden[tea.ExecCallback](msg, "fn")(err).(*Fault); !is || b.Why != "no" {
		t.Errorf("it is told as %v", err)
	}
}

// Who waits for the tasks goes on once all of them were read, or could not be; the first ones are not all.
func TestAwaitTasks_waitsForAllTasks(t *testing.T) {
	for _, c := range []struct {
		msg  tasks.Read
		ends bool
	}{
		{tasks.Read{Part: true}, false}, {tasks.Read{}, true}, {tasks.Read{Part: true, Err: errLook}, true},
	} {
		d := &Dashboard{Backend: (&fakeBackend{}).backend(), In: strings.NewReader(""), Out: io.Discard}
		d.Open(t.Context())
		for range 2 {
			d.guard.Update(c.msg)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		d.AwaitTasks(ended) // it never waits beyond its context
		select {
		case <-d.guard.read:
			if !c.ends {
				t.Errorf("after %+v it waits no longer", c.msg)
			}
		default:
			if c.ends {
				t.Errorf("after %+v it still waits", c.msg)
			}
		}
	}
}

// A change of the size in the instant when the screen begins comes with no signal.
func TestTheScreenAsksForItsSizeNowAndThen(t *testing.T) {
	t.Parallel()
	s, _ := atForms(t, 80, 24)
	batch, is := s.m.handle(clockTick(clock()))().(tea.BatchMsg)
	if !is {
		t.Fatal("a tick has no commands")
	}
	asks := slices.ContainsFunc(batch, func(cmd tea.Cmd) bool {
		return reflect.ValueOf(cmd).Pointer() == reflect.ValueOf(tea.RequestWindowSize).Pointer()
	})
	if !asks {
		t.Error("a tick does not ask for the size")
	}
}
