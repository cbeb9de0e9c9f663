package storm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orange/fleet/testkit"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// world is a fleet of machines that are namespaces of the network: a switch with the repository and the people, a
// server, and hosts.
type world struct {
	t     *testing.T
	dir   string
	bin   string // the folder of the built programs
	name  string // what the names of the namespaces begin with
	seed  uint64
	times times
	hosts []*host
	desks []*desk
	core  []*program
	git   *program
	serve *program // the server

	lock    sync.Mutex
	figures map[string]int
	log     []string
}

// times are those of the programs that the storm goes by.
type times struct{ beat, lease, lost time.Duration }

const (
	subnet     = "10.77.0."
	repository = "git://" + subnet + "1/web.git"
	serverAt   = subnet + "2:7233"
)

// program is one that goes on until it is ended, and can be started again.
type program struct {
	w     *world
	name  string
	space string
	env   []string
	words []string

	lock sync.Mutex
	cmd  *exec.Cmd
	done chan struct{}
	log  string
}

// host is a machine that takes tasks.
type host struct {
	name, address, space, home, notes string
	env                               []string
	daemon, monitor                   *program
	leases                            leases
}

// desk is a machine of a person.
type desk struct {
	person string
	dir    string
	env    []string
}

// needs skips where the storm cannot be.
func needs(t *testing.T) (temporal string) {
	t.Helper()
	temporal = os.Getenv("ORANGE_FLEET_TEMPORAL")
	switch {
	case temporal == "":
		t.Skip("this needs a server: set ORANGE_FLEET_TEMPORAL to the path of the program \"temporal\"")
	case os.Geteuid() != 0:
		t.Skip("this makes namespaces of the network, which only root may")
	}
	for _, name := range []string{"ip", "tmux", "git"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("this needs the program %q: %v", name, err)
		}
	}
	if out, err := exec.Command("git", "daemon", "--help").CombinedOutput(); err != nil && !bytes.Contains(out,
		[]byte("daemon")) {
		t.Skipf("this needs git daemon: %s", out)
	}
	probe := fmt.Sprintf("ofs%d-try", os.Getpid())
	if out, err := exec.Command("ip", "netns", "add", probe).CombinedOutput(); err != nil {
		t.Skipf("no namespace of the network can be made here: %v: %s", err, out)
	}
	if out, err := exec.Command("ip", "netns", "del", probe).CombinedOutput(); err != nil {
		t.Fatalf("remove a namespace: %v: %s", err, out)
	}
	return temporal
}

func newWorld(t *testing.T, temporal, bin string, seed uint64, times times) *world {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ofs") //nolint:usetesting // the path of a socket must be short
	testkit.Must(t, err)
	w := &world{t: t, dir: dir, bin: bin, seed: seed, times: times, name: filepath.Base(dir),
		figures: map[string]int{}}
	t.Cleanup(w.remove)
	t.Cleanup(w.tell)
	w.network()
	w.files()
	w.serve = w.program("server", "srv", w.env("srv"), temporal, "server", "start-dev", "--headless", "--ip",
		"0.0.0.0", "--port", "7233", "--db-filename", filepath.Join(dir, "srv", "temporal.db"), "--log-level", "error")
	w.serve.start()
	w.fleet()
	return w
}

// network makes the namespaces, joined by a switch.
func (w *world) network() {
	w.t.Helper()
	spaces := []string{"hub", "srv", "h1", "h2", "h3"}
	addresses := []string{"1", "2", "11", "12", "13"}
	for _, space := range spaces {
		w.ip("netns", "add", w.ns(space))
		w.ip("-n", w.ns(space), "link", "set", "lo", "up")
	}
	w.ip("-n", w.ns("hub"), "link", "add", "switch", "type", "bridge")
	w.ip("-n", w.ns("hub"), "addr", "add", subnet+"1/24", "dev", "switch")
	w.ip("-n", w.ns("hub"), "link", "set", "switch", "up")
	for i, space := range spaces[1:] {
		w.ip("-n", w.ns("hub"), "link", "add", space, "type", "veth", "peer", "name", "eth0", "netns", w.ns(space))
		w.ip("-n", w.ns("hub"), "link", "set", space, "master", "switch", "up")
		w.ip("-n", w.ns(space), "addr", "add", subnet+addresses[i+1]+"/24", "dev", "eth0")
		w.ip("-n", w.ns(space), "link", "set", "eth0", "up")
	}
}

func (w *world) ns(space string) string { return w.name + "-" + space }

func (w *world) ip(words ...string) {
	w.t.Helper()
	if out, err := exec.Command("ip", words...).CombinedOutput(); err != nil {
		w.t.Fatalf("ip %q: %v: %s", words, err, out)
	}
}

// env is the environment of a machine.
func (w *world) env(name string) []string {
	dir := filepath.Join(w.dir, name)
	for _, folder := range []string{dir, filepath.Join(dir, "tmp"), filepath.Join(dir, "s"),
		filepath.Join(dir, "notes")} {
		testkit.Must(w.t, os.MkdirAll(folder, 0o700))
	}
	return []string{"PATH=" + w.bin + ":" + os.Getenv("PATH"), "HOME=" + dir,
		"ORANGE_HOME=" + filepath.Join(dir, "orange"), "TMUX_TMPDIR=" + filepath.Join(dir, "s"),
		"TMPDIR=" + filepath.Join(dir, "tmp"), "GIT_CONFIG_GLOBAL=" + filepath.Join(w.dir, "gitconfig"),
		"GIT_CONFIG_SYSTEM=/dev/null", "LANG=C.UTF-8", "TZ=UTC", "TERM=dumb", "ORANGE_MONITOR=never", w.mark(),
		"STORM_PUSHES=" + filepath.Join(w.dir, "pushes")}
}

// mark is the variable that every process of the storm has.
func (w *world) mark() string { return "ORANGE_STORM=" + w.dir }

func (w *world) write(path, text string, mode os.FileMode) {
	w.t.Helper()
	path = filepath.Join(w.dir, path)
	testkit.Must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	testkit.Must(w.t, os.WriteFile(path, []byte(text), mode))
}

func (w *world) given(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	testkit.Must(w.t, err)
	return string(text)
}

// files makes the repository, and what each machine begins with.
func (w *world) files() {
	w.t.Helper()
	w.write("gitconfig", "[user]\n\tname = Person\n\temail = person@localhost\n[init]\n\tdefaultBranch = main\n"+
		"[safe]\n\tdirectory = *\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n", 0o600)
	hub := w.env("hub")
	for _, words := range [][]string{{"init", "-q", "first"}, {"-C", "first", "commit", "-q", "--allow-empty", "-m",
		"Begin"}, {"clone", "-q", "--bare", "first", "repositories/web.git"}} {
		w.says(w.dir, hub, append([]string{"git"}, words...)...)
	}
	w.write("repositories/web.git/hooks/post-receive", w.given("post-receive"), 0o755)
	w.write("pushes", "", 0o600)
	w.git = w.program("git", "hub", hub, "git", "daemon", "--reuseaddr", "--listen="+subnet+"1", "--export-all",
		"--enable=receive-pack", "--base-path="+filepath.Join(w.dir, "repositories"))
	w.git.start()
	w.write("agent", w.given("agent"), 0o755)
	for i, name := range []string{"h1", "h2", "h3"} {
		h := &host{name: name, address: subnet + strconv.Itoa(11+i), space: name, env: w.env(name),
			home: filepath.Join(w.dir, name, "orange"), notes: filepath.Join(w.dir, name, "notes")}
		w.hosts = append(w.hosts, h)
		w.write(name+"/orange/workflows/storm.yml", w.given("storm.yml"), 0o600)
		command := fmt.Sprintf("{command: [sh, %q, %q, \"{prompt_file}\"]}", filepath.Join(w.dir, "agent"), h.notes)
		w.write(name+"/orange/harnesses/storm.yml", "name: storm\nworker: "+command+"\nreviewer: "+command+"\n", 0o600)
	}
}

// says runs a command that has to succeed, and answers what it printed.
func (w *world) says(dir string, env []string, words ...string) string {
	w.t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, env
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%q: %v: %s%s", words, err, out, talk.String())
	}
	return strings.TrimSpace(string(out))
}

// in is a command line that runs at a machine.
func (w *world) in(space string, words ...string) []string {
	return append([]string{"ip", "netns", "exec", w.ns(space)}, words...)
}

func (w *world) program(name, space string, env []string, words ...string) *program {
	return &program{w: w, name: name, space: space, env: env, words: words, log: filepath.Join(w.dir, name+".log")}
}

// start starts the program, if it does not run.
func (p *program) start() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.cmd != nil {
		return
	}
	words := p.w.in(p.space, p.words...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env, cmd.Dir = p.env, p.w.dir
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		cmd.Stdout, cmd.Stderr = out, out
		err = cmd.Start()
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		p.w.t.Errorf("start %s: %v", p.name, err)
		return
	}
	p.cmd, p.done = cmd, make(chan struct{})
	go func(done chan struct{}) {
		_ = cmd.Wait()
		close(done)
	}(p.done)
}

// signal sends the program a signal; one that ends it is waited for.
func (p *program) signal(s syscall.Signal) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(s)
	if s == syscall.SIGKILL {
		<-p.done
		p.cmd = nil
	}
}

// ended reports whether a program that was started has ended by itself.
func (p *program) ended() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// remove ends everything of the storm, by its id, and removes it.
func (w *world) remove() {
	late := time.Now().Add(30 * time.Second)
	for clean := 0; clean < 3; clean++ {
		left := w.left()
		for _, p := range left {
			end(p, syscall.SIGKILL)
		}
		if len(left) > 0 && time.Now().Before(late) {
			clean = -1
			rest(context.Background(), 50*time.Millisecond)
		}
	}
	if left := w.left(); len(left) > 0 {
		w.t.Errorf("processes are left: %v", left)
	}
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		w.t.Error(err)
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if name, _, _ := strings.Cut(line, " "); strings.HasPrefix(name, w.name+"-") {
			if out, err := exec.Command("ip", "netns", "del", name).CombinedOutput(); err != nil {
				w.t.Errorf("remove the namespace %s: %v: %s", name, err, out)
			}
		}
	}
	if w.t.Failed() && os.Getenv("ORANGE_STORM_KEEP") != "" {
		w.t.Logf("the files are kept in %s", w.dir)
		return
	}
	if err := os.RemoveAll(w.dir); err != nil {
		w.t.Error(err)
	}
}

// left are the processes of the storm.
func (w *world) left() []task.Process {
	var all []task.Process
	marks := []string{w.mark()}
	for _, h := range w.hosts {
		marks = append(marks, "ORANGE_HOME="+h.home)
	}
	for _, mark := range marks {
		for _, p := range w.processes(mark) {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// processes are those with a variable in their environment.
func (w *world) processes(mark string) []task.Process {
	found, err := proc.WithEnvironment(mark)
	if err != nil {
		w.t.Error(err)
	}
	return found
}

// end sends a process a signal, and never another one that got its number.
func end(p task.Process, s syscall.Signal) {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return
	}
	defer handle.Release() //nolint:errcheck // it only closes the handle
	if now, err := proc.Lookup(p.PID); err == nil && now == p {
		_ = handle.Signal(s)
	}
}

func rest(ctx context.Context, d time.Duration) {
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
}

// clearing is how long it may take to end and to remove everything.
const clearing = 2 * time.Minute

// until waits for a fact. Where the time of all tests is nearly over it gives up: what there is has to be removed yet.
func (w *world) until(what string, most time.Duration, is func() bool) {
	w.t.Helper()
	late := time.Now().Add(most)
	if last, bounded := w.t.Deadline(); bounded && late.After(last.Add(-clearing)) {
		late = last.Add(-clearing)
	}
	for ; !is(); rest(w.t.Context(), 200*time.Millisecond) {
		if time.Now().After(late) || w.t.Context().Err() != nil {
			w.t.Fatalf("it was waited for in vain: %s", what)
		}
	}
}

func (w *world) random(more uint64) *rand.Rand { return rand.New(rand.NewPCG(w.seed, more)) }

func (w *world) count(what string) { w.add(what, 1) }

func (w *world) add(what string, n int) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.figures[what] += n
}

// note keeps what happened, for who looks for the cause of a failure.
func (w *world) note(format string, args ...any) {
	_, up, _ := proc.SinceBoot()
	w.lock.Lock()
	defer w.lock.Unlock()
	w.log = append(w.log, fmt.Sprintf("%9.2f ", up.Seconds())+fmt.Sprintf(format, args...))
}
