package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/action"
	"orange/internal/rules/conflict"
	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/history"
	"orange/internal/rules/inbox"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/tmux"
)

type setup struct {
	unread   bool
	events   []history.Event
	underWay []task.OwedHook
	refusals record.Refusals
}

func (s *setup) Pinned(context.Context, task.WorkflowRef) (*workflow.Definition, error) {
	if s.unread {
		return nil, os.ErrNotExist
	}
	return &workflow.Definition{States: []workflow.State{{Name: "build", Role: "worker"}, {Name: "rest"}}}, nil
}

func (s *setup) Harness(string) (*harness.Harness, error) {
	return harness.Parse("own.yml", []byte("name: own\nworker:\n  command: [own]\n  reduced: [own]\n"+
		"limited: \"limit reached\"\nbusy: thinking\n"))
}

func (s *setup) Events(context.Context, string, int) ([]history.Event, error) { return s.events, nil }

func (s *setup) Refusals(context.Context, string) (record.Refusals, error) { return s.refusals, nil }

func (s *setup) UnderWay(_ context.Context, since time.Time) ([]task.OwedHook, error) {
	late := func(h task.OwedHook) bool { return !h.Began.Before(since) }
	return slices.DeleteFunc(slices.Clone(s.underWay), late), nil
}

// What Orange itself has been at for long is said of a task that needs no one, and is no need.
func TestNeeds_sayWhatASlowStepWaitsFor(t *testing.T) {
	now := time.Now()
	s := &setup{underWay: []task.OwedHook{
		{Task: "one", Hook: task.Hook{Action: action.AcquireWorkspace}, Began: now.Add(-35 * time.Second)},
		{Task: "two", Hook: task.Hook{Action: action.PushBranch}, Began: now.Add(-5 * time.Second)},
		{Task: "three", Hook: task.Hook{Action: action.PushBranch}, Began: now.Add(-time.Hour)},
	}}
	l := Lookout{Observer: observer(t, s, "thinking", line("1", "one", "worker", false)), Screens: &Screens{}}
	tasks := []task.Task{{ID: "one", Status: "build", Live: true}, {ID: "two", Status: "build", Live: true},
		{ID: "three", Status: "rest", Live: true, Attention: "look"}}
	_, needs, err := l.Needs(t.Context(), tasks)
	if err != nil {
		t.Fatal(err)
	}
	const want = "acquire_workspace: it has run for 35s, and waits for origin, a minute at most, and then the " +
		"project's set-up"
	if needs["one"].Kind != "" || needs["one"].Found != want || needs["two"].Found != "" ||
		needs["three"].Kind != record.NeedsAttention {
		t.Errorf("found %+v", needs)
	}
}

// line is a pane as tmux lists it.
func line(pane, id, role string, dead bool) string {
	died := ""
	if dead {
		died = "1"
	}
	fields := []string{"$1", "@" + pane, "%" + pane, fmt.Sprint(os.Getpid()), died, "0", "", "", "", "1000", "1"}
	texts := []string{"s", role, id, role, "7", "", ""}
	for _, text := range texts {
		fields = append(fields, fmt.Sprint(len(text)))
	}
	return strings.Join(fields, "|") + "|" + strings.Join(texts, "") + "\n"
}

// observer has a fake tmux that lists these panes, and shows the same text in each. The tests are not parallel: a
// program cannot be run that was written while another one was started.
func observer(t *testing.T, s *setup, screen string, panes ...string) *Observer {
	t.Helper()
	dir := t.TempDir()
	program, config := filepath.Join(dir, "tmux"), filepath.Join(dir, "tmux.conf")
	script := "#!/bin/sh\ncase \"$*\" in\n*list-panes*display-message*) cat '" + dir + "/panes'; echo listed ;;\n" +
		"*list-panes*) cat '" + dir + "/panes' ;;\n*) while [ $# -gt 0 ]; do case $1 in " +
		"display-message) echo \"$3\" ;; capture-pane) cat '" + dir + "/screen' ;; esac; shift; done ;;\nesac\n"
	for name, text := range map[string]string{program: script, config: "", filepath.Join(dir, "screen"): screen,
		filepath.Join(dir, "panes"): strings.Join(panes, "")} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	server := &tmux.Server{Getenv: os.Getenv, Program: program, Socket: "none", Config: config}
	return &Observer{Server: server, Setup: s, Record: s}
}

func TestStates_aStatusIsAsAliveAsTheAgentOfItsRole(t *testing.T) {
	tasks := []task.Task{{ID: "one", Status: "build", Session: "s"}, {ID: "two", Status: "build", Session: "s"},
		{ID: "three", Status: "rest", Session: "s"}, {ID: "four", Status: "build"}}
	s := &setup{}
	o := observer(t, s, "", line("1", "one", "worker", false), line("2", "two", "worker", true),
		line("3", "two", "reviewer", false), line("4", "three", "reviewer", false))
	states, panes, err := o.States(t.Context(), tasks)
	want := "map[four:none one:alive three:alive two:dead]"
	if got := fmt.Sprint(states); err != nil || got != want || len(panes) != 4 {
		t.Errorf("found %s and %d panes, %v, want %s", got, len(panes), err, want)
	}
	s.unread = true
	if states, _, _ = o.States(t.Context(), tasks); states["one"] != record.AgentUnknown {
		t.Errorf("without its rules a task with a living agent is %s", states["one"])
	}
	o.Program = filepath.Join(t.TempDir(), "none")
	if states, _, err = o.States(t.Context(), tasks); err == nil || states["one"] != record.AgentUnknown ||
		states["four"] != record.AgentNone {
		t.Errorf("without a look the states are %v, %v", states, err)
	}
}

func TestLookout_reportsAFailedLookAndClaimsNoNeed(t *testing.T) {
	one := task.Task{ID: "one", Status: "build", Session: "s", Live: true}
	o := observer(t, &setup{}, "", line("1", "one", "worker", false))
	o.Program = filepath.Join(t.TempDir(), "none")
	l := Lookout{Observer: o, Screens: &Screens{}}
	states, needs, err := l.Needs(t.Context(), []task.Task{one})
	if err == nil || states["one"] != record.AgentUnknown || len(needs) > 0 {
		t.Errorf("found %v and %v, %v", states, needs, err)
	}
	if needs, _, err := l.Waiting(t.Context(), []task.Task{one}, time.Time{}); err == nil || len(needs) > 0 {
		t.Errorf("a watch found %v, %v", needs, err)
	}
	e := l.Explain(t.Context(), decide.Explanation{Task: one})
	if len(e.Waits) != 1 || !strings.Contains(e.Waits[0].Found, "list tmux panes") {
		t.Errorf("it waits for %+v", e.Waits)
	}
}

func TestLiving_areTheAgentsWhoseProgramsRun(t *testing.T) {
	o := observer(t, &setup{}, "", line("1", "one", "worker", false), line("2", "one", "reviewer", true),
		line("3", "two", "worker", false), line("4", "one", "", false))
	all, err := o.Living(t.Context())
	if seats := all["one"]; err != nil || len(all["two"]) != 1 ||
		len(seats) != 1 || seats[0].Role != "worker" || seats[0].PID != os.Getpid() ||
		seats[0].Hook != 7 || seats[0].Began == "" {
		t.Errorf("found %+v, %v", all, err)
	}
	for role, want := range map[string]bool{"worker": true, "reviewer": false} {
		if lives, err := o.Lives(t.Context())(task.Task{ID: "one"}, role); lives != want || err != nil {
			t.Errorf("the %s lives: %v, %v", role, lives, err)
		}
	}
}

func TestAttach_choosesTheWindowOfTheRole(t *testing.T) {
	o := observer(t, &setup{}, "", line("1", "one", "reviewer", false), line("2", "one", "worker", false))
	one := task.Task{ID: "one", Status: "build"}
	for role, window := range map[string]string{"": "@2", "worker": "@2", "reviewer": "@1"} {
		argv, err := o.Attach(t.Context(), one, role, false)
		if err != nil || !strings.Contains(strings.Join(argv, " "), window) {
			t.Errorf("%q: the command is %q, %v", role, argv, err)
		}
	}
	if _, err := o.Attach(t.Context(), one, "cto", false); err == nil {
		t.Error("it attaches to a role that has no window")
	}
	if _, err := o.Attach(t.Context(), task.Task{ID: "two"}, "", false); err == nil ||
		!strings.Contains(err.Error(), "has no session") {
		t.Errorf("without a session: %v", err)
	}
}

func TestScreens_areReadOnceTheyAreStill(t *testing.T) {
	o := observer(t, &setup{}, "working\nlimit reached, try at 5 pm\n")
	now := time.Unix(2000, 0)
	still := tmux.Pane{ID: "%1", Task: "one", Role: "worker", Activity: now.Add(-time.Minute)}
	moving := tmux.Pane{ID: "%2", Task: "two", Role: "worker", Activity: now}
	var cache Screens
	tasks := map[string]*task.Task{"one": {ID: "one", Harness: "own"}, "two": {ID: "two", Harness: "own"}}
	for range 2 {
		found, _, err := cache.see(t.Context(), o, []tmux.Pane{still, moving}, tasks, now, 1)
		rest := found["one"].Rest
		if err != nil || len(found) != 1 || rest.Line != "limit reached, try at 5 pm" || rest.Harness != "own" ||
			!rest.Since.Equal(still.Activity) {
			t.Errorf("found %+v, %v", found, err)
		}
		o.Program = "none" // what is still is not read again
	}
}

// A worker rests while its work is reviewed. Back in its status it hears of the review first.
func TestUnheard_isAnAgentThatWasStillWhenItsStatusBegan(t *testing.T) {
	t.Parallel()
	began := time.Unix(100, 900_000_000)
	for name, c := range map[string]struct {
		since, now int64
		want       bool
	}{
		"still since before":   {90, 104, true},
		"and for long":         {90, 111, false},
		"it has drawn since":   {103, 106, false},
		"in the second itself": {100, 103, false},
	} {
		if got := unheard(&task.Task{EnteredAt: began}, time.Unix(c.since, 0), time.Unix(c.now, 0)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Rest is a need only where the harness tells rest from work.
func TestNeed_isWhyAPersonShouldLookNow(t *testing.T) {
	def := &workflow.Definition{Initial: "new", States: []workflow.State{{Name: "new"},
		{Name: "build", Role: "worker"}, {Name: "look"}}, Exit: workflow.Exit{Rules: []workflow.Rule{
		{Status: "build", Action: workflow.ActionCrash}}}}
	program, err := harness.Parse("own.yml", []byte("name: own\nworker:\n  command: [own]\n  reduced: [own]\n"+
		"ready: '> $'\nbusy: thinking\ndialog: 'Allow\\?'\nlimited: limit\nrefused: key\n"))
	if err != nil {
		t.Fatal(err)
	}
	busy := *program
	busy.Busy = nil
	for name, c := range map[string]struct {
		status task.Status
		note   string
		agent  string
		screen string
		rule   *harness.Harness
		want   string
		found  string
	}{
		"at work": {status: "build", agent: record.AgentAlive, screen: "thinking\n> "},
		"a dialog": {status: "build", agent: record.AgentAlive, screen: "Allow?\n> ",
			want: record.NeedsAnswer, found: "is at a dialog: Allow?"},
		"a dialog in a box": {status: "build", agent: record.AgentAlive,
			screen: "│ Delete the file a?  │\n│ 1. Yes              │\n│ Allow? (y/n)         │\n> ",
			want:   record.NeedsAnswer, found: "is at a dialog: Delete the file a?"},
		"a dialog at a limit": {status: "build", agent: record.AgentAlive, screen: "limit of a day\nAllow?\n> ",
			want: record.NeedsAnswer, found: "is at a dialog: limit of a day"},
		"a limit": {status: "build", agent: record.AgentAlive, screen: "limit\n> ", want: record.NeedsLimit},
		"at rest": {status: "build", agent: record.AgentAlive, screen: "> ", want: record.NeedsWord},
		"refused": {status: "build", agent: record.AgentAlive, screen: "a bad key\n> ", want: record.NeedsModel,
			found: "the model of its worker refuses: a bad key"},
		"refused, and again": {status: "build", agent: record.AgentAlive, screen: "a bad key\nthinking\n> "},
		"rest unknown":       {status: "build", agent: record.AgentAlive, screen: "> ", rule: &busy},
		"a person's status":  {status: "look", agent: record.AgentAlive, screen: "> ", want: record.NeedsPerson},
		"not started":        {status: "new", agent: record.AgentNone},
		"dead":               {status: "build", agent: record.AgentDead, want: record.NeedsAgent},
		"a mark":             {status: "build", note: "hook", agent: record.AgentDead, want: record.NeedsAttention},
	} {
		if c.rule == nil {
			c.rule = program
		}
		one := task.Task{ID: "one", Status: c.status, Attention: c.note, Live: true}
		got := inbox.NeedOf(def, one, c.agent, readScreen(c.rule, c.screen, time.Unix(0, 0)))
		if got.Kind != c.want || (c.want == "") != (got.String() == "") || !strings.HasSuffix(got.Found, c.found) {
			t.Errorf("%s: the need is %+v, want %q %q", name, got, c.want, c.found)
		}
	}
}

// unreadable is the documents of tasks, none of which can be read.
type unreadable struct{ why error }

func (u unreadable) Read(string, string, bool) ([]byte, error) { return nil, u.why }

// Defect: a task whose document is gone counted as at work.
func TestLook_aTaskWithoutItsDocumentNeedsAPerson(t *testing.T) {
	one := task.Task{ID: "one", Status: "build", Session: "s", Live: true}
	for name, c := range map[string]struct {
		change func(*task.Task)
		why    error
		want   string
	}{
		"gone": {func(*task.Task) {}, os.ErrNotExist, "put it back from a backup"},
		"a folder": {func(*task.Task) {}, errors.New("it is a folder"),
			"it is a folder; move away what is there, and put it back"},
		"there":    {func(*task.Task) {}, nil, ""},
		"over":     {func(t *task.Task) { t.Live = false }, os.ErrNotExist, ""},
		"no agent": {func(t *task.Task) { t.Session = "" }, os.ErrNotExist, ""},
		"a mark":   {func(t *task.Task) { t.Attention = "look" }, os.ErrNotExist, "look; "},
	} {
		changed := one
		c.change(&changed)
		l := Lookout{Observer: observer(t, &setup{}, "thinking", line("1", "one", "worker", false)),
			Screens: &Screens{}, Documents: unreadable{c.why}}
		need, err := l.Need(t.Context(), changed)
		if err != nil || !strings.Contains(need.String(), c.want) || (c.want == "") != (need.Kind == "") {
			t.Errorf("%s: %+v, %v", name, need, err)
		}
		e := l.Explain(t.Context(), decide.Explanation{Task: changed, Waits: []rejection.Detail{{
			Condition: "the worker", Found: record.AtWork}}})
		works := slices.ContainsFunc(e.Waits, func(d rejection.Detail) bool { return d.Found == record.AtWork })
		if works == (need.Kind == record.NeedsDocument) {
			t.Errorf("%s: why says %+v", name, e.Waits)
		}
	}
}

// Defect: a task whose worktree and branch another agent had removed was listed as "review passed".
func TestConflicts_thatCouldNotBeLookedForAreNeverNone(t *testing.T) {
	t.Parallel()
	one := task.Task{ID: "1", Project: "garden"}
	for name, c := range map[string]struct {
		all   conflict.Overview
		err   error
		with  string
		apart bool
	}{
		"none": {all: conflict.Overview{Of: map[string][]conflict.Conflict{"1": {}}}},
		"a conflict": {all: conflict.Overview{Of: map[string][]conflict.Conflict{"1": {{Branch: "b"}}}},
			with: "b"},
		"not compared":    {all: conflict.Overview{Unknown: map[string]string{"1": "too many"}}, apart: true},
		"another one":     {all: conflict.Overview{Unknown: map[string]string{"2": "too many"}}},
		"no repository":   {all: conflict.Overview{Unknown: map[string]string{"": "it is gone"}}, apart: true},
		"cannot be known": {err: errors.New("the record is closed"), apart: true},
	} {
		l := Lookout{Conflicts: func(context.Context, string) (conflict.Overview, error) { return c.all, c.err }}
		with, apart := l.conflicts(t.Context(), map[string]conflict.Overview{}, &one)
		if strings.Join(with, " ") != c.with || apart != c.apart {
			t.Errorf("%s: in conflict with %q, not compared: %t", name, with, apart)
		}
	}
}

func TestLook_aTaskWithoutItsWorktreeNeedsAPerson(t *testing.T) {
	for missing, want := range map[string]string{
		"its worktree is gone": "its worktree is gone; have it made again, with the newest commit that is known: " +
			"orange task respawn one",
		"": "",
	} {
		l := Lookout{Observer: observer(t, &setup{}, "thinking", line("1", "one", "worker", false)),
			Screens: &Screens{}, Missing: func(context.Context, []task.Task) map[string]string {
				return map[string]string{"one": missing}
			}}
		need, err := l.Need(t.Context(), task.Task{ID: "one", Status: "build", Session: "s", Live: true})
		if err != nil || need.String() != want || need.Reason != missing {
			t.Errorf("it needs %q, %q, %v", need, need.Reason, err)
		}
	}
}

func TestObserve_hasTheLimitOfTheAgentThatWorksInTheStatus(t *testing.T) {
	o := observer(t, &setup{}, "limit reached, try at 5 pm\n", line("1", "one", "worker", false),
		line("2", "two", "reviewer", false))
	var cache Screens
	found, _, err := cache.Observe(t.Context(), o, []task.Task{
		{ID: "one", Status: "build", Session: "s", Harness: "own", Live: true},
		{ID: "two", Status: "build", Session: "s", Live: true},
	}, time.Unix(2000, 0), 9)
	one, two := found["one"], found["two"]
	if err != nil || one.State != record.AgentAlive || !one.Active.Equal(time.Unix(1000, 0)) || one.Limit == "" ||
		two.State != record.AgentDead || two.Limit != "" {
		t.Errorf("found %+v, %v", found, err)
	}
}

// An agent that has done nothing since its start needs a person once its screen has been the same for ten seconds,
// whatever it shows.
func TestObserve_anAgentThatHasDoneNothingWaitsAtItsFirstScreen(t *testing.T) {
	began := time.Unix(990, 0)
	start := history.Event{Type: history.AgentSpawned, Time: began, Data: map[string]string{"role": "worker"}}
	asked := history.Event{Type: history.StatusChanged, Actor: "worker", Time: began.Add(time.Second)}
	noted := history.Event{Type: history.ConversationNoted, Actor: "engine", Time: began.Add(time.Second),
		Data: map[string]string{"role": "worker"}}
	marked := history.Event{Type: history.AgentStalled, Actor: "engine", Time: began.Add(time.Second)}
	for name, c := range map[string]struct {
		screen  string
		now     int64
		events  []history.Event
		touched time.Time
		want    string
	}{
		"at a question":        {"Adopt this cat? [y/N]\n", 1010, []history.Event{start}, began, record.NeedsStart},
		"not for long":         {"Adopt this cat? [y/N]\n", 1009, []history.Event{start}, began, ""},
		"marked by the engine": {"Adopt?\n", 1010, []history.Event{start, marked}, began, record.NeedsStart},
		"an empty terminal":    {" \n\n", 1010, []history.Event{start}, began, ""},
		"at work":              {"thinking\n", 1010, []history.Event{start}, began, ""},
		"it asked Orange":      {"Adopt?\n", 1010, []history.Event{start, asked}, began, ""},
		"it named itself":      {"Adopt?\n", 1010, []history.Event{start, noted}, began, ""},
		"it has written":       {"Adopt?\n", 1010, []history.Event{start}, began.Add(startTime + 1), ""},
		"in the place of one that had asked": {"Adopt?\n", 1010, []history.Event{start, asked, start}, began,
			record.NeedsStart},
		"not on record": {"Adopt?\n", 1010, nil, began, ""},
	} {
		o := observer(t, &setup{events: c.events}, c.screen, line("1", "one", "worker", false))
		o.Touched = func(context.Context, task.Task) (time.Time, error) { return c.touched, nil }
		var cache Screens
		for _, at := range []int64{1002, c.now} { // it is read once, when it has become still
			found, _, err := cache.Observe(t.Context(), o, []task.Task{
				{ID: "one", Status: "build", Session: "s", Harness: "own", Live: true}}, time.Unix(at, 0), 9)
			want := c.want
			if at != c.now {
				want = ""
			}
			if got := found["one"].Need.Kind; err != nil || got != want {
				t.Errorf("%s, at %d: found %q, %v, want %q", name, at, got, err, want)
			}
		}
	}
}

// Where most terminals did not change, those that did are read alone, and what is known of the others stays.
func TestObserveChanged_looksAtTheAgentsWhoseTerminalsChanged(t *testing.T) {
	o := observer(t, &setup{}, "limit reached, try at 5 pm\n", line("1", "one", "worker", false),
		line("2", "two", "reviewer", false), line("3", "three", "worker", true), line("4", "gone", "worker", false))
	var cache Screens
	tasks := []task.Task{{ID: "one", Status: "build", Session: "s", Harness: "own", Live: true},
		{ID: "two", Status: "build", Session: "s", Live: true},
		{ID: "three", Status: "build", Session: "s", Live: true}}
	look := func(since, now int64, want string) {
		t.Helper()
		found, more, err := cache.ObserveChanged(t.Context(), o, tasks, time.Unix(since, 0), time.Unix(now, 0))
		said := ""
		for id, one := range found {
			said += fmt.Sprint(id, " ", one.State, " ", one.Limit, "; ")
		}
		if said != want || more || err != nil {
			t.Errorf("from %d on it found %q, %v, %v; want %q", since, said, more, err, want)
		}
	}
	look(1001, 2000, "")
	look(1000, 1001, "one alive ; ") // it is not still yet
	look(1000, 2000, "one alive limit reached, try at 5 pm; ")
	o.Program = "none"
	if _, _, err := cache.ObserveChanged(t.Context(), o, tasks, time.Unix(1, 0), time.Unix(2000, 0)); err == nil {
		t.Error("tmux did not answer, and there is no error")
	}
}

// What has just happened is read first, however much was never read before.
func TestScreens_theLatestNewsAreReadFirst(t *testing.T) {
	o := observer(t, &setup{}, "limit reached, try at 5 pm\n")
	now := time.Unix(2000, 0)
	tasks, panes := map[string]*task.Task{}, []tmux.Pane(nil)
	for i := range mostScreens + 1 {
		id := fmt.Sprint("t", i)
		tasks[id] = &task.Task{ID: id, Harness: "own"}
		panes = append(panes, tmux.Pane{ID: fmt.Sprint("%", i), Task: id, Role: "worker",
			Activity: now.Add(-time.Hour)})
	}
	panes[mostScreens].Activity = now.Add(-screenQuiet)
	var cache Screens
	found, more, err := cache.see(t.Context(), o, panes, tasks, now, mostScreens)
	if _, read := found[panes[mostScreens].Task]; err != nil || !more || len(found) != mostScreens || !read {
		t.Errorf("it read %d terminals, the latest among them: %t; more %t, %v", len(found), read, more, err)
	}
	found, more, err = cache.see(t.Context(), o, panes, tasks, now, mostScreens)
	if err != nil || more || len(found) != len(panes) {
		t.Errorf("with the second look it has %d, more %t, %v", len(found), more, err)
	}
}

// A reviewer whose move was refused has read its prompt: it does not wait at its program's first screen.
func TestHasTurned_alsoWhoWasRefused(t *testing.T) {
	t.Parallel()
	entered := time.Now()
	started := entered.Add(time.Second)
	one := task.Task{ID: "one", Status: "build", EnteredAt: entered}
	refused := record.Refusals{Status: "build", Entered: entered, Count: 1, Minute: started.Add(time.Minute)}
	before, elsewhere := refused, refused
	before.Minute, elsewhere.Status = started.Add(-time.Minute), "rest"
	for name, tt := range map[string]struct {
		refusals record.Refusals
		want     bool
	}{"refused since": {refused, true}, "refused before its start": {before, false},
		"refused in another status": {elsewhere, false}, "never refused": {record.Refusals{}, false}} {
		s := &setup{refusals: tt.refusals, events: []history.Event{{Time: started, Type: history.AgentSpawned,
			Data: map[string]string{"role": "worker"}}}}
		o := &Observer{Setup: s, Record: s,
			Touched: func(context.Context, task.Task) (time.Time, error) { return time.Time{}, nil }}
		if got, err := o.hasTurned(t.Context(), tmux.Pane{Role: "worker"}, &one); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
