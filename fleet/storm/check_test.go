package storm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/fleet/custody"
	"orange/fleet/testkit"
	"orange/internal/rules/history"
)

// faults are all that is not as it should be.
type faults struct {
	w   *world
	all []string
}

func (x *faults) add(format string, args ...any) { x.all = append(x.all, fmt.Sprintf(format, args...)) }

// check answers all that is not as it should be.
func (w *world) check(f *ending, c *crowd) []string {
	x := &faults{w: w}
	f.pushes = w.pushes()
	f.people = w.peopleFile()
	x.homes(f, c)
	x.answers(f, c)
	x.outward(f)
	x.snapshots(f)
	x.work()
	x.happened()
	return x.all
}

// happened: a storm in which nothing was done shows nothing.
func (x *faults) happened() {
	for _, what := range []string{"creations that are at a host", "requests granted, and in the history",
		"changes of branches by hosts", "snapshots", "commits of agents", "files of agents"} {
		if x.w.figures[what] == 0 {
			x.add("nothing was done: there are no %s", what)
		}
	}
}

// peopleFile is the list of people, as the authority signed it.
func (w *world) peopleFile() string {
	var trust custody.Trust
	text, err := os.ReadFile(filepath.Join(w.hosts[0].home, "fleet", "trust.json"))
	testkit.Must(w.t, err)
	testkit.Must(w.t, json.Unmarshal(text, &trust))
	path := filepath.Join(w.dir, "people")
	testkit.Must(w.t, os.WriteFile(path, []byte(trust.People.Text), 0o600))
	return path
}

// pushes are all changes of refs, as the repository has noted them.
func (w *world) pushes() (all []push) {
	for _, words := range lines(filepath.Join(w.dir, "pushes")) {
		up, err := strconv.ParseFloat(words[0], 64)
		testkit.Must(w.t, err)
		p := push{at: time.Duration(up * float64(time.Second)), old: words[2], new: words[3], ref: words[4]}
		for _, h := range w.hosts {
			if address, _, _ := strings.Cut(words[1], ":"); address == h.address {
				p.from = h
			}
		}
		all = append(all, p)
	}
	return all
}

// lines are the words of the lines of a file.
func lines(path string) (all [][]string) {
	text, _ := os.ReadFile(path) // what was never written has none
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}

// homes: every task is at one host, whose history is whole and signed, and is what the fleet shows.
func (x *faults) homes(f *ending, c *crowd) {
	ctx := x.w.t.Context()
	for id, hosts := range f.at {
		x.w.count("tasks")
		if len(hosts) != 1 {
			x.add("task %s is on record at %d hosts", id, len(hosts))
			continue
		}
		if err := history.VerifyChain(f.events[id]); err != nil {
			x.add("task %s: %v", id, err)
		}
		d := &desk{dir: filepath.Dir(hosts[0].home), env: hosts[0].env}
		if exit, out := x.w.ran(ctx, d, "orange", "task", "verify", id, "--people", f.people); exit != 0 {
			x.add("task %s is not verified at %s: %s", id, hosts[0].name, out)
		}
		var shown struct{ Events []history.Event }
		_, out := x.w.ask(ctx, x.w.desks[0], "history", "--json", "--project", "web", id)
		last := len(f.events[id]) - 1 // a monitor may have noted something since
		if json.Unmarshal([]byte(out), &shown) != nil || len(shown.Events) <= last ||
			shown.Events[last].Hash != f.events[id][last].Hash {
			x.add("task %s is at %s, and the fleet shows another history: %.300s", id, hosts[0].name, out)
		}
	}
}

// answers: what was granted is once in the history of its task, or is named there as lost; what was refused is not
// there; of what was cut short there is one at most.
func (x *faults) answers(f *ending, c *crowd) {
	lists, _ := x.w.list(x.w.t.Context(), x.w.desks[0])
	for _, a := range c.requests {
		if a.method == "create" {
			x.creation(f, c, a, lists)
			x.w.count(fmt.Sprintf("creations with exit status %d %s", a.exit, a.code))
			continue
		}
		there, lost := 0, ""
		for _, e := range f.events[a.task] {
			if key, _ := e.Asked(); key == a.key && !slices.Contains([]string{history.MergeBegun, history.Merged,
				history.PRLanded, history.AgentNotified}, e.Type) { // what comes of a request has its key too
				there++
			}
			if e.Data["lost"] == a.key {
				lost = e.Data["host"]
			}
		}
		what := fmt.Sprintf("the request %s (%s of task %s by %s) ended with %d %s", a.key, a.method, a.task, a.person,
			a.exit, a.code)
		nothing := a.exit == 3 || slices.Contains([]string{"not_reached", "not_held", "kept", "not_found"}, a.code)
		switch {
		case a.person == "mallory" && (a.granted() || there > 0):
			x.add("%s, and a stranger asked for it; its history has it %d times", what, there)
		case there > 1:
			x.add("%s; its history has it %d times", what, there)
		case a.granted() && there == 1:
			x.w.count("requests granted, and in the history")
		case a.granted() && a.ended: // no host has had the task
		case a.granted() && lost != "":
			x.w.count("requests granted, and named as lost with their host")
		case a.granted():
			x.add("%s; its history does not have it, and does not name it as lost: %.200s\n%s", what, a.output,
				x.story(f, a.task))
		case nothing && !a.unknown && there > 0:
			x.add("%s; its history has it all the same", what)
		case a.open():
			x.w.count("requests of which it is not known what they came to")
		case a.code == "lost":
			x.w.count("requests that are answered with \"lost\"")
		default:
			x.w.count("requests that were refused or failed")
		}
		x.w.count(fmt.Sprintf("answers with exit status %d %s", a.exit, a.code))
	}
}

// story is the history of a task, and how its snapshots came to be.
func (x *faults) story(f *ending, id string) string {
	var b strings.Builder
	for _, e := range f.events[id] {
		key, _ := e.Asked()
		fmt.Fprintf(&b, "%d %s %s %s %q %q\n", e.Seq, e.Time.Format(time.TimeOnly), e.Type, e.Actor, key, e.Reason)
	}
	for _, p := range x.w.pushes() {
		if strings.Contains(p.ref, id) {
			name := "no host"
			if p.from != nil {
				name = p.from.name
			}
			fmt.Fprintf(&b, "%.2f %s pushes %s %.8s\n", p.at.Seconds(), name, p.ref, p.new)
		}
	}
	return b.String()
}

// creation: a task that was created is at a host, or waits for one.
func (x *faults) creation(f *ending, c *crowd, a *personRequest, lists []listedTask) {
	waits := slices.ContainsFunc(lists, func(t listedTask) bool { return t.ID == a.task })
	ended := slices.ContainsFunc(c.requests, func(other *personRequest) bool {
		return other.task == a.task &&
			other.ended
	})
	switch {
	case ended && len(f.at[a.task]) > 0:
		x.add("task %s was cancelled while it waited for a host, and %s has it", a.task, f.at[a.task][0].name)
	case a.code == "not_reached" && !a.unknown && (waits || len(f.at[a.task]) > 0):
		x.add("the creation of task %s was answered as one that was not done, and there is the task: %.300s", a.task,
			a.output)
	case ended:
		x.w.count("creations that waited for a host and were cancelled")
	case len(f.at[a.task]) > 0:
		x.w.count("creations that are at a host")
	case a.granted() && !waits:
		x.add("task %s was created (%.300s), and no host has it", a.task, a.output)
	case waits:
		x.w.count("creations that wait for a host")
	default:
		x.w.count("creations that were refused or failed")
	}
}

// late is how long a push may be on its way: it was allowed when it began, or the program that made it was ended.
const late = 2 * time.Second

// outward: no host has changed a branch without a lease.
func (x *faults) outward(f *ending) {
	for _, p := range f.pushes {
		if p.from == nil || !strings.HasPrefix(p.ref, "refs/heads/") {
			continue
		}
		until := p.from.leases.at(p.at)
		if p.at > until+late {
			x.add("host %s changed %s %s after its lease was over", p.from.name, p.ref, p.at-until)
		}
		x.w.count("changes of branches by hosts")
	}
}

// snapshots: each is behind the one before.
func (x *faults) snapshots(f *ending) {
	for _, p := range f.pushes {
		if p.from == nil || !strings.HasSuffix(p.ref, "/record") {
			continue
		}
		x.w.count("snapshots")
		if strings.Trim(p.old, "0") == "" || strings.Trim(p.new, "0") == "" {
			continue
		}
		if _, err := x.w.inVault("merge-base", "--is-ancestor", p.old, p.new); err != nil {
			x.add("host %s replaced the snapshot %.12s by %.12s (%s), which does not know it", p.from.name, p.old,
				p.new, p.ref)
		}
	}
}

func (w *world) inVault(words ...string) (string, error) {
	return gits(w.t.Context(), filepath.Join(w.dir, "repositories", "web.git"), w.env("hub"), words...)
}

func gits(ctx context.Context, dir string, env []string, words ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, words...)...)
	cmd.Env = env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	return said.String(), err
}

// work: every commit and every file that an agent has made is found by some ref.
func (x *faults) work() {
	commits, files := map[string]bool{}, map[string]bool{}
	places := map[string][]string{filepath.Join(x.w.dir, "repositories", "web.git"): x.w.env("hub")}
	for _, h := range x.w.hosts {
		places[filepath.Join(filepath.Dir(h.home), "web")] = h.env
	}
	for dir, env := range places {
		out, err := gits(x.w.t.Context(), dir, env, "rev-list", "--all", "--objects")
		if err != nil {
			x.add("%v: %s", err, out)
		}
		for line := range strings.Lines(out) {
			commit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			commits[commit] = true
			files[name] = true
		}
	}
	for _, h := range x.w.hosts {
		for _, words := range lines(filepath.Join(h.notes, "commits")) {
			if x.w.count("commits of agents"); !commits[words[1]] {
				x.add("the commit %s of task %s at %s is in no ref", words[1], words[0], h.name)
			}
		}
		for _, words := range lines(filepath.Join(h.notes, "files")) {
			if x.w.count("files of agents"); !files[words[1]] {
				x.add("the file %s of task %s at %s is in no ref", words[1], words[0], h.name)
			}
		}
	}
}

// tell keeps what happened where a storm failed, or a seed is looked at.
func (w *world) tell() {
	if !w.t.Failed() && os.Getenv("ORANGE_TEST_SEED") == "" {
		return
	}
	w.lock.Lock()
	text := strings.Join(w.log, "\n")
	w.lock.Unlock()
	all := filepath.Join(os.TempDir(), w.name+".log")
	for _, p := range w.programs() {
		said, _ := os.ReadFile(p.log) // what said nothing has none
		text += fmt.Sprintf("\n=== %s\n%s", p.name, said)
	}
	if err := os.WriteFile(all, []byte(text), 0o600); err != nil {
		w.t.Error(err)
	}
	w.t.Logf("what happened is in %s", all)
}
