package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/api"
	"orange/internal/api/remote"
	"orange/internal/rules/conflict"
	"orange/internal/rules/printable"
	"orange/internal/rules/record"
	"orange/internal/rules/rejection"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
	"orange/internal/store/home"
)

const thatID = "OrangeStory0000000001"

// someone is a person, or the caller that is named.
type someone struct {
	Identity
	refused error
	via     string
}

func (s someone) Person(context.Context, string) error { return s.refused }

func (s someone) Looker(context.Context, string) (task.Actor, error) {
	return task.Actor{Role: task.RoleHuman, Via: s.via}, nil
}

func (s someone) Actor(context.Context, string, string) (task.Actor, error) {
	return task.Actor{Role: task.RoleHuman, Person: "Ada"}, nil
}

func (someone) Here(context.Context) (id, project string, err error) { return "", "", nil }

// noTasks is a record without a task.
type noTasks struct{ Queries }

func (noTasks) Tasks(context.Context, record.Filter) ([]task.Task, error) { return nil, nil }

// hostsByName answers for hosts, each as its function does.
type hostsByName struct {
	fleet  remote.Fleet
	joined remote.Joined
	people signed.People
	by     map[string]func(remote.Call) (remote.Reply, error)

	mu    sync.Mutex
	asked []remote.Call // the commands
	kept  map[string]remote.Pending
}

func (f *hostsByName) Read() (remote.Fleet, error) { return f.fleet, nil }

func (f *hostsByName) Change(_ context.Context, change func(remote.Fleet) (remote.Fleet, error)) (err error) {
	f.fleet, err = change(f.fleet)
	return err
}

func (f *hostsByName) Ask(_ context.Context, h remote.Host, c remote.Call, _ time.Duration) (remote.Reply, error) {
	if err := c.Check(); err != nil {
		return remote.Reply{}, err
	}
	f.mu.Lock()
	if len(c.Argv) > 0 {
		f.asked = append(f.asked, c)
	}
	f.mu.Unlock()
	return f.by[h.Name](c)
}

func (f *hostsByName) Attach(_ context.Context, h remote.Host, id, _ string, _ bool) ([]string, error) {
	return []string{h.Name, id}, nil
}

func (f *hostsByName) Hello(context.Context, string, []task.Project) (remote.Hello, error) {
	return remote.Hello{V: 1, Home: "own", Version: "v1", Now: time.Now()}, nil
}

func (f *hostsByName) Keep(key string, p remote.Pending) error { f.kept[key] = p; return nil }

func (f *hostsByName) Kept(key string) (remote.Pending, error) {
	p, is := f.kept[key]
	if !is {
		return p, task.ErrNotFound
	}
	return p, nil
}

func (f *hostsByName) Joined() (remote.Joined, error) { return f.joined, nil }

func (f *hostsByName) People(remote.Joined) (signed.People, error) { return f.people, nil }

func (f *hostsByName) Drop(key string) error { delete(f.kept, key); return nil }

// has answers for a host that has one task and does what it is asked.
func has(id, stdout string) func(remote.Call) (remote.Reply, error) {
	return func(c remote.Call) (remote.Reply, error) {
		r := remote.Reply{V: 1}
		switch {
		case len(c.Argv) > 0:
			r.Stdout = stdout
		case c.Find == "":
			r.Hello = &remote.Hello{V: 1, Home: id, Version: "v1", Now: time.Now()}
		case id != "" && strings.HasPrefix(id, c.Find):
			r.Found = []remote.Found{{ID: id, Branch: "feat/a"}}
		}
		return r, nil
	}
}

func lost(remote.Call) (remote.Reply, error) {
	return remote.Reply{}, task.Notef(remote.ErrNotReached, "refused")
}

// fleetOf is a program with two other hosts, and what it printed.
func fleetOf(big, lab func(remote.Call) (remote.Reply, error)) (*Program, *hostsByName, *bytes.Buffer) {
	f := &hostsByName{fleet: remote.Fleet{Name: "here", Patience: time.Second,
		Hosts: []remote.Host{{Name: "big", SSH: "big"}, {Name: "lab", SSH: "lab"}}},
		by:   map[string]func(remote.Call) (remote.Reply, error){"big": big, "lab": lab},
		kept: map[string]remote.Pending{}}
	var out bytes.Buffer
	p := &Program{Version: "v1", services: &Services{Fleet: f, Identity: someone{}, Queries: noTasks{},
		Home: &home.Home{Dir: "not there"}}}
	p.In, p.Out, p.Err = strings.NewReader(""), printable.NewWriter(&out), printable.NewWriter(&out)
	return p, f, &out
}

func TestFleet_findsTheHostAndForwardsAsItWasTyped(t *testing.T) {
	t.Parallel()
	p, f, out := fleetOf(has(thatID, "yes\n"), has("", ""))
	status := p.Run(t.Context(), []string{"fleet", "next", "Orange", "--reason", "-- why; \"x\"", "--utc"})
	if status != 0 || out.String() != "yes\n" || len(f.asked) != 1 {
		t.Fatalf("it ended with %d: %s, asked %+v", status, out, f.asked)
	}
	want := []string{"task", "next", "--reason=-- why; \"x\"", "--utc", "--", thatID}
	if got := f.asked[0]; !slices.Equal(got.Argv, want) || len(got.Key) < 20 {
		t.Errorf("it asked %q under %q", got.Argv, got.Key)
	}
	for line, want := range map[string]int{
		"fleet list --on none": exitNotFound, "fleet next": exitUsage, "fleet redo planning": exitUsage,
		"fleet show 4Fz": exitNotFound, "fleet why Orange --stop-hook": exitUsage,
		"fleet create a --attach --on big": exitUsage, "fleet next Orange --key=": exitUsage,
		"fleet next Orange --to x --nope": exitUsage, "fleet respawn a --all": exitUsage,
	} {
		p, f, out := fleetOf(has(thatID, ""), has("", ""))
		if status := p.Run(t.Context(), strings.Fields(line)); status != want || len(f.asked) > 0 {
			t.Errorf("%q ended with %d, want %d: %s, asked %+v", line, status, want, out, f.asked)
		}
	}
}

func TestFleet_givesAKeyOnlyToWhatIsDoneOnce(t *testing.T) {
	t.Parallel()
	for line, keyed := range map[string]bool{
		"update Orange --status x": true, "update Orange --status x --summary y": false, "move Orange": false,
		"move Orange x": true, "show Orange": false, "retry Orange": true, "delete Orange --yes": false,
		"merge Orange": true, "update Orange --summary y": true, "update Orange --branch b": true,
		"update Orange --status x --harness y": false,
	} {
		p, f, out := fleetOf(has(thatID, ""), has("", ""))
		if status := p.Run(t.Context(), strings.Fields("fleet "+line)); status != 0 || (f.asked[0].Key != "") != keyed {
			t.Errorf("%q ended with %d: %s, asked %+v", line, status, out, f.asked)
		}
	}
}

func TestFleet_takesNoSilenceForAnAnswer(t *testing.T) {
	t.Parallel()
	for line, tt := range map[string]struct {
		big    func(remote.Call) (remote.Reply, error)
		lab    func(remote.Call) (remote.Reply, error)
		status int
		said   string
	}{
		"show 4Fz":             {has("", ""), lost, exitFailed, "no host that was reached has a task"},
		"show " + thatID:       {has("", ""), lost, exitFailed, "lab (refused)"},
		"show Orange":          {has(thatID, "yes"), lost, 0, "not reached: lab (refused)"},
		"next Orange":          {has(thatID, "yes"), lost, exitFailed, "give the whole id"},
		"next " + thatID:       {has(thatID, "yes"), lost, 0, "yes"},
		"show feat":            {has("feat1", ""), has("feat2", ""), exitUsage, "may be one of several tasks"},
		"next Orange --on big": {has(thatID, "yes"), lost, 0, "yes"},
		"why Orange":           {has(thatID, ""), has(thatID, ""), exitUsage, "is at several hosts"},
		"why nope --on big":    {has(thatID, "own words"), lost, 0, "own words"},
	} {
		p, _, out := fleetOf(tt.big, tt.lab)
		status := p.Run(t.Context(), strings.Fields("fleet "+line))
		if status != tt.status || !strings.Contains(out.String(), tt.said) {
			t.Errorf("%q ended with %d, want %d and %q: %s", line, status, tt.status, tt.said, out)
		}
	}
}

// answers has a task, and loses so many answers to commands before one comes through.
func answers(after int) func(remote.Call) (remote.Reply, error) {
	there := has(thatID, "done\n")
	return func(c remote.Call) (remote.Reply, error) {
		if len(c.Argv) > 0 {
			if after--; after >= 0 {
				return lost(c)
			}
		}
		return there(c)
	}
}

func TestFleet_repeatsARequestUnderItsKeyThenSaysNotKnown(t *testing.T) {
	t.Parallel()
	p, f, out := fleetOf(answers(1), has("", ""))
	if status := p.Run(t.Context(), []string{"fleet", "next", thatID}); status != 0 || out.String() != "done\n" ||
		len(f.asked) != 2 || f.asked[0].Key != f.asked[1].Key {
		t.Errorf("one lost answer: ended with %d: %s, asked %+v", status, out, f.asked)
	}
	p, f, out = fleetOf(answers(2), has("", ""))
	status := p.Run(t.Context(), []string{"fleet", "next", thatID, "--key", "mine", "--json"})
	if status != exitFailed || !strings.Contains(out.String(), `"not_known"`) ||
		!strings.Contains(out.String(), "orange fleet result mine") || f.kept["mine"].Host != "big" {
		t.Errorf("two lost answers: ended with %d: %s, kept %+v", status, out, f.kept)
	}
	out.Reset()
	p.json = false
	if status := p.Run(t.Context(), []string{"fleet", "result", "mine"}); status != 0 || out.String() != "done\n" ||
		len(f.kept) != 0 || f.asked[2].Key != "mine" {
		t.Errorf("the result: ended with %d: %s, kept %+v", status, out, f.kept)
	}
	p, f, out = fleetOf(answers(1), has("", ""))
	status = p.Run(t.Context(), []string{"fleet", "delete", thatID, "--yes"})
	if status != exitFailed || len(f.asked) != 1 || !strings.Contains(out.String(), "look: orange fleet show "+thatID) {
		t.Errorf("without a key: ended with %d: %s, asked %+v", status, out, f.asked)
	}
}

func TestFleet_asksHereWhatNoPersonCanBeAskedAtAHost(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		in, line string
		terminal bool
		status   int
		sent     bool
	}{
		"yes is typed":   {in: "y\n", line: "cancel Orange", terminal: true, sent: true},
		"yes is a flag":  {line: "leave Orange --yes", sent: true},
		"no is typed":    {in: "n\n", line: "delete Orange", terminal: true, status: exitUsage},
		"no one is here": {line: "cancel Orange"}, // the host says what it takes
	} {
		p, f, out := fleetOf(has(thatID, ""), has("", ""))
		p.In, p.Terminal = strings.NewReader(row.in), row.terminal
		status := p.Run(t.Context(), strings.Fields("fleet "+row.line))
		if status != row.status || (len(f.asked) == 1) != (status == 0) ||
			row.sent != (len(f.asked) == 1 && strings.Contains(strings.Join(f.asked[0].Argv, " "), "--yes")) {
			t.Errorf("%s: ended with %d: %s, asked %+v", name, status, out, f.asked)
		}
	}
}

func TestWhatACommandLacksIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	for line, wants := range map[string][]string{
		"fleet create feat/a x":   {"--on", "--project"},
		"fleet rescue 4Fz":        {"--now", "all of its 21 letters", "--from-snapshot"},
		"task restore " + thatID:  {"--from", "--project"},
		"task snapshot " + thatID: {"--to"},
	} {
		p, f, out := fleetOf(has(thatID, ""), has("", ""))
		status := p.Run(t.Context(), strings.Fields(line))
		for _, want := range wants {
			if status != exitUsage || len(f.asked) > 0 || !strings.Contains(out.String(), want) {
				t.Errorf("%q ended with %d: %s, want %s", line, status, out, want)
			}
		}
	}
}

func TestFleetCreate_makesTheIDHere(t *testing.T) {
	t.Parallel()
	p, f, out := fleetOf(answers(2), has("", ""))
	status := p.Run(t.Context(), []string{"fleet", "create", "feat/a", "A thing", "--on", "big", "--project", "coffee"})
	var id string
	for _, word := range f.asked[0].Argv {
		if rest, is := strings.CutPrefix(word, "--id="); is {
			id = rest
		}
	}
	if status != exitFailed || len(id) != task.IDLength || !slices.Equal(f.asked[0].Argv, f.asked[1].Argv) ||
		!strings.Contains(out.String(), "orange fleet result "+id) || f.asked[0].Key != "" {
		t.Errorf("ended with %d: %s, asked %+v", status, out, f.asked)
	}
	p, f, out = fleetOf(lost, has("", ""))
	status = p.Run(t.Context(), []string{"fleet", "create", "feat/a", "A thing", "--on", "big", "--project", "coffee"})
	if status != exitFailed || len(f.asked) > 0 || !strings.Contains(out.String(), "nothing was sent") {
		t.Errorf("a host that is not there: ended with %d: %s, asked %+v", status, out, f.asked)
	}
}

func TestFleetList_showsAllHostsTasksAndNamesMissingHosts(t *testing.T) {
	t.Parallel()
	of := func(id, created string, live bool) string {
		return fmt.Sprintf(`{"tasks":[{"id":%q,"status":"working","created_at":%q,"live":%v,"x":1}]}`, id, created, live)
	}
	run := func(p *Program) map[string][]map[string]any {
		var all map[string][]map[string]any
		var out bytes.Buffer
		p.Out = printable.NewWriter(&out)
		p.Err = printable.NewWriter(&bytes.Buffer{})
		p.Run(t.Context(), []string{"fleet", "list", "--json", "--on", "big"})
		if err := json.Unmarshal(out.Bytes(), &all); err != nil {
			t.Errorf("%v: %s", err, &out)
		}
		return all
	}
	p, _, _ := fleetOf(has("", of("a", "2024-01-02T00:00:00Z", true)), lost)
	if all := run(p); len(all["tasks"]) != 1 || all["tasks"][0]["host"] != "big" || all["tasks"][0]["x"] != 1.0 {
		t.Errorf("found %v", all)
	}
	var out bytes.Buffer
	p = &Program{}
	p.Out, p.Err = printable.NewWriter(&out), printable.NewWriter(&out)
	reply := func(host, text string, exit int) told {
		return told{host: remote.Host{Name: host}, reply: remote.Reply{V: 1, Stdout: text, Exit: exit}}
	}
	gone := told{host: remote.Host{Name: "odd"}, err: errors.New("refused\x1b[2J")}
	err := listAll(&p.printer, []told{reply("big", of("old", "2024-01-02T00:00:00Z", true), 0),
		reply("lab", of("new", "2024-01-03T00:00:00Z", true), 0),
		reply("low", of("over", "2024-01-04T00:00:00Z", false), 0), gone,
		reply("nix", `{"error":"there is no project","code":"not_found"}`, exitNotFound)}, wanted{}, nil)
	if status := p.end(err); status != exitFailed {
		t.Errorf("it ended with %d", status)
	}
	text := out.String()
	at := func(word string) int { return strings.Index(text, word) }
	if at("new") > at("old") || at("old") > at("over") || at("new") < 0 ||
		at("host odd: refused") < 0 || at("nix") >= 0 ||
		strings.Contains(text, "\x1b") {
		t.Errorf("it printed\n%s", text)
	}
	wrong := reply("big", `{"error":"found \"x\" as --status","code":"usage"}`, exitUsage)
	if err := listAll(&p.printer, []told{wrong, wrong}, wanted{}, nil); !errors.Is(err, task.ErrUsage) {
		t.Errorf("what all hosts refuse: %v", err)
	}
}

// Each host of a fleet has a zone of its own: a day is that of the person who asks.
func TestFleetList_asksAllHostsForTheSameTime(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"2024-01-02", "24h"} {
		p, f, _ := fleetOf(has("", `{"tasks":[]}`), has("", `{"tasks":[]}`))
		p.Run(t.Context(), []string{"fleet", "list", "--on", "big", "--done", "--since", word, "--until",
			word + "x"})
		if len(f.asked) > 0 {
			t.Errorf("with a wrong --until the hosts were asked %+v", f.asked)
		}
		p.Run(t.Context(), []string{"fleet", "list", "--on", "big", "--utc", "--done", "--since", word})
		if len(f.asked) == 0 || !slices.ContainsFunc(f.asked[0].Argv, func(one string) bool {
			at, err := time.Parse(task.TimeFormat, strings.TrimPrefix(one, "--since="))
			return err == nil && (word == "24h" || at.Equal(time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)))
		}) {
			t.Errorf("--since %s: asked %+v", word, f.asked)
		}
	}
}

// A host that is asked for a list in words has the same column as at its own terminal.
func TestAnsweredList_saysHowLongAgoTasksWereChanged(t *testing.T) {
	t.Parallel()
	p, _, _ := fleetOf(lost, lost)
	c := &feed{conflicts: map[string]conflict.Overview{}, tasks: []task.Task{{ID: "one", Live: true,
		UpdatedAt: time.Now().Add(-3 * time.Hour)}}}
	services := *p.services
	services.Queries = c
	reply := newAnswerer(p).perform(t.Context(), &services,
		remote.Call{V: remote.Version, Argv: []string{"task", "list", "--all"}},
		sender{})
	if !regexp.MustCompile(`(?m)CHANGED.*\none .*3h`).MatchString(reply.Stdout) {
		t.Errorf("it answers %+v", reply)
	}
}

func TestFleetList_hasTheTaskThatEndedLastFirst(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &printer{Out: printable.NewWriter(&out), Err: printable.NewWriter(&out)}
	of := func(id, ended string) told {
		return told{host: remote.Host{Name: "big"}, reply: remote.Reply{V: 1, Stdout: fmt.Sprintf(
			`{"tasks":[{"id":%q,"status":"merged","entered_at":%q}]}`, id, ended)}}
	}
	err := listAll(p, []told{of("first", "2024-01-02T00:00:00Z"), of("last", "2024-01-03T00:00:00Z"),
		of("old", "2024-01-01T00:00:00Z")}, wanted{done: true}, nil)
	text := out.String()
	at := func(word string) int { return strings.Index(text, word) }
	if err != nil || at("ENDED") < 0 || at("last") > at("first") || at("first") > at("old") ||
		!regexp.MustCompile(`last +big .*\d+d`).MatchString(text) {
		t.Errorf("%v: it printed\n%s", err, text)
	}
}

func TestFleetJoin_refusesWhatIsNoOtherHost(t *testing.T) {
	t.Parallel()
	hello := func(h remote.Hello) func(remote.Call) (remote.Reply, error) {
		return func(remote.Call) (remote.Reply, error) { return remote.Reply{V: 1, Hello: &h}, nil }
	}
	for name, tt := range map[string]struct {
		there  func(remote.Call) (remote.Reply, error)
		status int
		said   string
	}{
		"another": {hello(remote.Hello{Home: "its", Version: "v2", Now: time.Now()}), 0,
			"orange is v1 here, and v2 there"},
		"a wrong time": {hello(remote.Hello{Home: "its", Version: "v1"}), 0, "the clocks are"},
		"this home":    {hello(remote.Hello{Home: "own"}), exitUsage, "leads to this home"},
		"that of lab":  {hello(remote.Hello{Home: "lab's"}), exitUsage, "leads to the home of lab"},
		"not there":    {lost, exitFailed, "cannot join new"},
		"an older one": {func(remote.Call) (remote.Reply, error) {
			return remote.Reply{V: 1, Exit: exitUsage, Refused: "update orange here (has 1, needs 2)"}, nil
		}, exitUsage, "update orange here"},
		"an agent's": {func(remote.Call) (remote.Reply, error) {
			return remote.Reply{V: 1, Exit: exitRefused, Refused: "cannot answer another host"}, nil
		}, exitRefused, "did not take the call"},
		"none": {func(remote.Call) (remote.Reply, error) { return remote.Reply{V: 1}, nil }, exitFailed, "who it is"},
	} {
		p, f, out := fleetOf(has("", ""), has("lab's", ""))
		f.by["new"] = tt.there
		f.by["lab"] = hello(remote.Hello{Home: "lab's"})
		status := p.Run(t.Context(), []string{"fleet", "join", "new", "--ssh", "new"})
		if status != tt.status || !strings.Contains(out.String(), tt.said) ||
			(len(f.fleet.Hosts) == 3) != (status == 0) {
			t.Errorf("%s: ended with %d, want %d and %q: %s", name, status, tt.status, tt.said, out)
		}
	}
}

func TestAnswer_refusesWhoIsNoPerson(t *testing.T) {
	t.Parallel()
	run := func(who someone, call string) remote.Reply {
		p, _, out := fleetOf(lost, lost)
		p.services.Identity, p.In = who, strings.NewReader(call)
		if status := p.Run(t.Context(), []string{"answer"}); status != 0 {
			t.Fatalf("it ended with %d: %s", status, out)
		}
		r, err := remote.ReadReply(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const find = `{"v":1,"find":"x"}`
	if r := run(someone{}, find); r.Refused != "" || r.Exit != 0 {
		t.Errorf("a person: %+v", r)
	}
	agent := someone{refused: rejection.Denied("", "an agent's seat", "ask a person")}
	if r := run(agent, find); r.Exit != exitRefused || r.Refused == "" {
		t.Errorf("an agent: %+v", r)
	}
	if r := run(someone{via: "mcp"}, find); r.Exit != exitRefused || !strings.Contains(r.Refused, "mcp") {
		t.Errorf("a program that asks for a person: %+v", r)
	}
	for _, call := range []string{"", `{"v":2}`, `{"v":1,"argv":["project","remove","coffee"]}`,
		`{"v":1,"argv":["task","attach","--","x"]}`, `{"v":1,"argv":["task","list","--watch"]}`} {
		if r := run(someone{}, call); r.Exit != exitUsage || r.Refused == "" {
			t.Errorf("%s: %+v", call, r)
		}
	}
	r := run(someone{}, `{"v":1,"argv":["task","show","--json","--","nope"]}`)
	if r.Exit != exitNotFound || !strings.Contains(r.Stdout, `"not_found"`) || r.Refused != "" {
		t.Errorf("a command: %+v", r)
	}
	p, _, _ := fleetOf(lost, lost)
	p.Terminal = true
	if status := p.Run(t.Context(), []string{"answer"}); status != exitUsage {
		t.Errorf("a person who types it ends with %d", status)
	}
}

func TestPerform_marksWhoseWayAPersonCame(t *testing.T) {
	t.Parallel()
	for via, want := range map[string]string{"": "Ada", overSSH: "Ada via ssh"} {
		actor, err := afar{someone{}, sender{via: via}}.Actor(t.Context(), "", "")
		if err != nil || actor.Person != want || actor.Via != "" {
			t.Errorf("via %q: %+v, %v", via, actor, err)
		}
	}
}

// Each command of "orange task" is an operation of the table, and the other way round; orange fleet has those that
// other hosts may ask for.
func TestEveryCommandOfATaskIsAnOperationOfTheTable(t *testing.T) {
	t.Parallel()
	inFleet := map[string]bool{"restore": true} // rescue does it
	for _, c := range fleetCommands(&Program{}).Commands() {
		inFleet[c.Name()] = true
	}
	rows := map[string]api.Op{}
	for _, o := range api.Table() {
		rows[o.Name] = o
	}
	for _, c := range taskCommands(&Program{}).Commands() {
		name := c.Name()
		row, there := rows[name]
		if !there {
			t.Errorf("%q is in no row of the table", name)
		}
		if remote.RepeatOf(name) != 0 && !inFleet[name] {
			t.Errorf("%q may be forwarded, and orange fleet does not have it", name)
		}
		if takes := c.Flags().Lookup("key") != nil; takes != (row.Repeat == api.Keyed) {
			t.Errorf("%q takes a key: %v, and is done once under one: %v", name, takes, row.Repeat == api.Keyed)
		}
		delete(rows, name)
	}
	if len(rows) > 0 {
		t.Errorf("there is no command for %v", rows)
	}
}

// What a host advises can be done from here.
func TestFleet_saysWhatAHostAdvisesAsItIsDoneFromHere(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"look: orange task attach 4Fz":                        "look: orange fleet attach 4Fz",
		"orange task create-pr 4Fz, or orange task merge 4Fz": "orange fleet create-pr 4Fz, or orange fleet merge 4Fz",
		"orange task verify 4Fz":                              "orange task verify 4Fz",
		"orange task restore 4Fz":                             "orange task restore 4Fz",
	} {
		if got := fromAfar(said); got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
	c := fleetCommands(&Program{})
	for _, name := range []string{"watch", "wait", "check", "replay", "verify", "stats", "restore"} {
		if err := c.RunE(c, []string{name}); !errors.Is(err, task.ErrUsage) ||
			!strings.Contains(err.Error(), `run "orange task `+name+`" at the host itself`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.RunE(c, []string{"foo"}); !strings.Contains(err.Error(), `there is no command "foo"`) {
		t.Error(err)
	}
}

// A file of this host is not read for another one: only texts that were sent are.
func TestPerform_readsNoFileForAnotherHost(t *testing.T) {
	t.Parallel()
	p, _, _ := fleetOf(lost, lost)
	call := remote.Call{V: 1, Argv: []string{"task", "create", "--context=/etc/hostname", "--", "a", "b"}}
	if r := newAnswerer(p).perform(t.Context(), p.services, call, sender{via: overSSH}); r.Exit != exitUsage ||
		!strings.Contains(r.Stderr, `the text of "/etc/hostname" was not sent`) {
		t.Errorf("found %+v", r)
	}
}
