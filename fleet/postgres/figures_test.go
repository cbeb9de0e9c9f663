package postgres_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orange/fleet/client"
	"orange/fleet/custody"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/testkit/parity"
)

var page = flag.String("write", "", "the page that the table is written into")

// row is one line of the table. Good reports whether the figure is within its target; nil where it has none.
type row struct {
	what, ours, target string
	good               bool
}

func (l *lab) row(what, ours, target string, good bool) {
	l.t.Helper()
	l.rows = append(l.rows, row{what, ours, target, good})
	l.t.Logf("%s: %s (%s)", what, ours, target)
}

func TestFigures(t *testing.T) {
	if os.Getenv("ORANGE_FLEET_FIGURES") == "" {
		t.Skip("this measures for a quarter of an hour: make fleet-figures")
	}
	began, before := time.Now(), load()
	l := newLab(t, false, "h1", "h2", "h3")
	for _, part := range []struct {
		name string
		do   func()
	}{{"placement", l.placed}, {"an agent's own request", l.own}, {"requests", l.requests},
		{"snapshots", l.snapshots}, {"a lost host", l.lost}, {"10,000 tasks", l.many}, {"a storm", l.stormed},
		{"no server", l.unanswered}} {
		whole := t.Run(part.name, func(t *testing.T) {
			l.t = t
			part.do()
		})
		if l.t = t; !whole {
			l.row(part.name, "what is not above could not be measured: something failed", "all rows", false)
		}
	}
	text := fmt.Sprintf("Measured on %s in %s: %s, load %s before and %s after.\n\n%s",
		began.UTC().Format(time.DateOnly), time.Since(began).Round(time.Second), machine(), before, load(),
		table(l.rows))
	fmt.Println(text)
	if *page != "" {
		testkit.Must(t, replace(*page, text))
	}
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if words := strings.Fields(string(text)); err == nil && len(words) > 0 {
		return words[0]
	}
	return "unknown"
}

func machine() string {
	text := fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	for _, program := range [][]string{{"git", "--version"}, {"psql", "--version"}} {
		if said, err := exec.Command(program[0], program[1:]...).Output(); err == nil {
			text += ", " + strings.TrimSpace(string(said))
		}
	}
	return text + ", 64 shards"
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| what | measured | target | |\n|---|---|---|---|\n")
	for _, r := range rows {
		verdict := "missed"
		if r.target == "" {
			verdict = ""
		} else if r.good {
			verdict = "met"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.what, r.ours, r.target, verdict)
	}
	return b.String()
}

const (
	beginMark = "<!-- measured: make fleet-figures writes what follows -->"
	endMark   = "<!-- end of what make fleet-figures writes -->"
)

func replace(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(old), beginMark)
	_, after, closed := strings.Cut(rest, endMark)
	if !found || !closed {
		return fmt.Errorf("%s: expected the lines %q and %q", path, beginMark, endMark)
	}
	return os.WriteFile(path, []byte(before+beginMark+"\n\n"+text+"\n"+endMark+after), 0o600)
}

// spread is what many measured times have in common.
type spread []time.Duration

func (s spread) at(part float64) time.Duration {
	slices.Sort(s)
	return s[min(len(s)-1, int(part*float64(len(s))))]
}

func short(d time.Duration) string {
	if d < 100*time.Millisecond {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	}
	if d < time.Second {
		return fmt.Sprintf("%.0f ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// birth is what a person creates a task from, at a host or wherever there is a place.
func (l *lab) birth(id, on string) wire.Birth {
	l.t.Helper()
	rules := files()["orange/workflows/moves.yml"]
	b := wire.Birth{Project: project, On: on, Branch: "feat/" + id, Summary: "What is measured", Rules: rules,
		Args:     []string{"--workflow=moves", "--no-spawn", "--", "feat/" + id, "What is measured"},
		Workflow: fmt.Sprintf("moves@%x", sha256.Sum256([]byte(rules)))}
	var err error
	b.Ask, err = sign.Ask(l.key, wire.Request{Fleet: fleetName, Task: id, Method: wire.MethodCreate,
		Args: []string{sign.BirthDigest(b)}, Person: "ada", Key: id, Expires: time.Now().Add(5 * time.Minute).Unix()})
	testkit.Must(l.t, err)
	return b
}

// begun are new tasks, once they are at a host.
func (l *lab) begun(kind string, count int, on string) []wire.Custody {
	l.t.Helper()
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			name := id(kind, i)
			if err := l.remote.Start(l.t.Context(), name, l.birth(name, on), l.trust); err != nil {
				l.t.Error(err)
			}
		})
	}
	all.Wait()
	out := make([]wire.Custody, count)
	for i := range count {
		out[i] = l.held(id(kind, i), "")
	}
	return out
}

// held waits until a task is at a host, or at any, and answers its custody.
func (l *lab) held(id, host string) (c wire.Custody) {
	l.t.Helper()
	l.until("custody of "+id, func() bool {
		if c = l.custody(id); c.Phase == string(custody.PhaseEnded) {
			l.t.Fatalf("no host creates the task %s: %q", id, c.Because)
		}
		return c.Phase == string(custody.PhaseHeld) && (host == "" || c.Host == host)
	})
	return c
}

// placed measures how fast tasks come to hosts.
func (l *lab) placed() {
	const count = 40
	began := time.Now()
	at := map[string]int{}
	for _, c := range l.begun("Place", count, wire.AnyLabel) {
		at[c.Host]++
	}
	took := time.Since(began)
	l.row("40 tasks onto 3 hosts, each created by `orange` there", fmt.Sprintf("%s (%d, %d and %d)", short(took),
		at["h1"], at["h2"], at["h3"]), "≤ 3 s", took <= 3*time.Second)
}

// request is a signed request to move a task.
func (l *lab) request(c wire.Custody, to string) wire.Ask {
	l.t.Helper()
	ask, err := sign.Ask(l.key, wire.Request{Fleet: fleetName, Host: c.Host, Epoch: c.Epoch, Task: c.Task,
		Method: "move", Args: []string{"--", c.Task, to}, Person: "ada", Key: rand.Text(),
		Expires: time.Now().Add(5 * time.Minute).Unix()})
	testkit.Must(l.t, err)
	return ask
}

// moves asks for moves of a task until it is enough, and answers what each took.
func (l *lab) moves(by *client.Remote, c wire.Custody, enough func(done int) bool) spread {
	l.t.Helper()
	var out spread
	for i := 0; !enough(i); i++ {
		ask := l.request(c, []string{"b", "a"}[i%2])
		began := time.Now()
		reply, err := by.Ask(l.t.Context(), ask, false)
		out = append(out, time.Since(began))
		if err != nil || !reply.Done {
			l.t.Errorf("asked: %+v, %v", reply, err)
			return out
		}
	}
	return out
}

// requests measures what a request of a person costs.
func (l *lab) requests() {
	tasks := l.begun("Asked", 16, wire.AnyLabel)
	l.moves(l.remote, tasks[0], func(done int) bool { return done == 20 })
	one := l.moves(l.remote, tasks[0], func(done int) bool { return done == 160 })
	l.row("a request to a host with `orange` behind it, 1 client: p50 / p99", fmt.Sprintf("%s / %s", short(one.at(.5)),
		short(one.at(.99))), "≤ 45 / 100 ms",
		one.at(.5) <= 45*time.Millisecond && one.at(.99) <= 100*time.Millisecond)
	var whole spread
	ada := l.hosts["ada"]
	for i := range 30 {
		began := time.Now()
		l.does(ada.Program("fleet", "move", tasks[1].Task, []string{"b", "a"}[i%2]))
		whole = append(whole, time.Since(began))
	}
	l.row("the same as a whole command, `orange fleet move ID STATE`: p50 / p99", fmt.Sprintf("%s / %s",
		short(whole.at(.5)), short(whole.at(.99))), "", true)
	var clients sync.WaitGroup
	var lock sync.Mutex
	var all spread
	before, began := len(l.pushes()), time.Now()
	for _, c := range tasks {
		by := l.connects()
		clients.Go(func() {
			own := l.moves(by, c, func(done int) bool { return done >= 180 || time.Since(began) > 15*time.Second })
			lock.Lock()
			defer lock.Unlock()
			all = append(all, own...)
		})
	}
	clients.Wait()
	took := time.Since(began)
	rate := float64(len(all)) / took.Seconds()
	l.row("requests, 16 clients on 16 tasks of 3 hosts", fmt.Sprintf("%.0f/s, p50 %s, p99 %s", rate, short(all.at(.5)),
		short(all.at(.99))), "≥ 80/s", rate >= 80)
	snapshots, pushes := 0, l.pushes()[before:]
	for _, count := range pushes {
		snapshots += count
	}
	often := float64(len(pushes)) / 3 / took.Seconds() * 5
	l.row("pushes of snapshots by one host in 5 s meanwhile, and the snapshots in one", fmt.Sprintf("%.1f, %.1f", often,
		float64(snapshots)/float64(max(1, len(pushes)))), "≤ 1", often <= 1)
}

// pushes is how many snapshots each push so far had.
func (l *lab) pushes() (each []int) {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, "vault.git", "pushes"))
	testkit.Must(l.t, err)
	for _, line := range strings.Fields(string(text)) {
		count, err := strconv.Atoi(line)
		testkit.Must(l.t, err)
		each = append(each, count)
	}
	return each
}

// tasks is how many tasks a home has.
func (l *lab) tasks(at parity.Side) int {
	l.t.Helper()
	var list struct{ Tasks []struct{} }
	testkit.Must(l.t, json.Unmarshal([]byte(l.does(at.Program("task", "list", "--all", "--json"))), &list))
	return len(list.Tasks)
}

// twin is a task where there is no fleet, among as many others as the host has.
func (l *lab) twin(host parity.Side, kind string) (name string) {
	l.t.Helper()
	for i := range max(1, l.tasks(host)-l.tasks(l.alone)) {
		name = id(kind, i)
		l.does(l.alone.Program("task", "create", "--project", project, "--workflow", "moves", "--no-spawn", "--id",
			name, "feat/"+name, "One"))
	}
	return name
}

// pairs compares an agent's own request at a host with one where there is no fleet, in turn. Both have a monitor, and
// as many tasks.
func (l *lab) pairs(when, held, twin string) {
	l.t.Helper()
	host := l.hosts["h1"]
	timed := func(at parity.Side, id, to string) time.Duration {
		cmd := at.Program("task", "update", id, "--status", to)
		began := time.Now()
		l.does(cmd)
		return time.Since(began)
	}
	var ours, theirs spread
	var ratios []float64
	for i := range 164 {
		to := []string{"b", "a"}[i%2]
		order := []func(){
			func() { ours = append(ours, timed(host, held, to)) },
			func() { theirs = append(theirs, timed(l.alone, twin, to)) },
		}
		if i/2%2 == 1 {
			slices.Reverse(order)
		}
		for _, run := range order {
			<-time.After(400 * time.Millisecond) // what the daemon of the host does after a move does not count
			run()
		}
		if i < 4 {
			ours, theirs = nil, nil
			continue
		}
		ratios = append(ratios, float64(ours[len(ours)-1])/float64(theirs[len(theirs)-1]))
	}
	slices.Sort(ratios)
	part := func(p float64) float64 { return ratios[int(p*float64(len(ratios)))] }
	l.row("an agent's own request at a host, "+when+", against one without a fleet: pairs, middle half",
		fmt.Sprintf("%s and %s: %.2f [%.2f, %.2f]", short(ours.at(.5)), short(theirs.at(.5)), part(.5), part(.25),
			part(.75)), "≤ 1.05", part(.5) <= 1.05)
}

// own measures what a fleet costs an agent. It comes before the host's record is larger than that of its twin.
func (l *lab) own() {
	held := l.begun("Pair", 1, wire.HostPlace+"h1")[0].Task
	l.pairs("the server up", held, l.twin(l.hosts["h1"], "Up"))
}

// unanswered is own while the server does not answer. It comes last: a server that begins again is slow for a while.
func (l *lab) unanswered() {
	held := l.begun("Alone", 1, wire.HostPlace+"h1")[0].Task
	twin := l.twin(l.hosts["h1"], "Down")
	l.serverDoes("stop")
	l.pairs("the server down", held, twin)
	l.server = l.serverDoes("start")
}

// snapshots measures a snapshot of a task with a worktree.
func (l *lab) snapshots() {
	side := l.hosts["h2"]
	id := l.createdFromAfar("h2", "feat/snap")
	tree := l.worktree(side, id)
	var first spread
	for i := range 24 {
		testkit.Must(l.t, os.WriteFile(fmt.Sprintf("%s/file-%d", tree, i), []byte("text\n"), 0o600))
		began := time.Now()
		l.does(side.Program("task", "snapshot", id, "--to", l.dir+"/vault.git"))
		first = append(first, time.Since(began))
	}
	l.row("a snapshot made and pushed, small repository on the same disk: p50 / p99", fmt.Sprintf("%s / %s",
		short(first.at(.5)), short(first.at(.99))), "≤ 150 ms", first.at(.5) <= 150*time.Millisecond)
}

// lost measures how soon a host that died is seen, when it is back, and what a rescue takes.
func (l *lab) lost() {
	name := l.createdFromAfar("h3", "feat/rescue")
	side := l.hosts["h3"]
	l.until("a snapshot", func() bool { return l.custody(name).Row.Shipped > 0 })
	l.daemons["h3"].ends(syscall.SIGKILL)
	began := time.Now()
	l.until("a lost host", func() bool { return !l.here("h3") })
	took := time.Since(began)
	l.row("a host that was killed counts as lost", short(took), "≤ 95 s", took <= 95*time.Second)
	began = time.Now()
	l.does(l.hosts["ada"].Program("fleet", "rescue", name, "--to", "h1"))
	l.held(name, "h1")
	there := time.Since(began)
	l.until("an agent there", func() bool {
		return strings.Contains(l.does(l.hosts["h1"].Program("task", "show", name, "--json")), `"session": "alive"`)
	})
	took = time.Since(began)
	l.row("a rescue until the task is adopted / its agent runs again", short(there)+" / "+short(took), "≤ 10 s",
		took <= 10*time.Second)
	l.daemons["h3"] = l.starts(fleetProgram(side, "host"))
	took = l.until("the host again", func() bool { return l.here("h3") })
	l.row("the host is back", short(took), "≤ 5 s", took <= 5*time.Second)
}
