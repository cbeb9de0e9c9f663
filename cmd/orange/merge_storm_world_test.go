package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// mergeStorm is a world with an origin, another clone of it, and tasks that wait to be merged.
type mergeStorm struct {
	*storm
	size    train
	dice    *rand.Rand
	folder  string // that git and the hooks of origin see as $STORM
	answers *os.File
	saved   string

	ids     map[string]int // the number of a task's branch
	base    string
	landed  []string // what others have pushed, in the order in which origin took it
	own     string   // a commit of the person's that is not on origin yet
	commits int
	away    bool // the person's checkout is on another branch
	before  string
}

// The things that happen while a merge is at work.
const (
	foreignPush = "foreign" // another clone pushes right before this one does
	ownCommit   = "own"     // the person commits right before the local default branch moves
	lostAnswer  = "lose"    // origin dies after it has taken a push
	killing     = "kill"
)

func disturbances() []string { return []string{foreignPush, ownCommit, lostAnswer} }

func newMergeStorm(t *testing.T, size train) *mergeStorm {
	t.Helper()
	s := &mergeStorm{storm: newStorm(t, stormOf(size)), size: size, ids: map[string]int{}}
	s.dice = s.random(7)
	s.folder, s.saved = filepath.Join(s.dir, "storm"), filepath.Join(s.dir, "saved")
	s.equip()
	origin := filepath.Join(s.dir, "origin.git")
	s.must("git", "init", "-q", "--bare", origin)
	s.install("testdata/storm/post-receive", filepath.Join(origin, "hooks", "post-receive"))
	s.must("git", "remote", "add", "origin", origin)
	s.write("coffee/test.sh", "test \"$(ls red 2>/dev/null | wc -l)\" -lt "+strconv.Itoa(size.red)+"\n")
	s.must("git", "add", ".")
	s.must("git", "commit", "-q", "-m", "Test")
	s.base = strings.TrimSpace(s.must("git", "rev-parse", "HEAD"))
	s.must("git", "push", "-q", "origin", "main")
	// the server is another machine: it lives on where this one dies
	s.must("git", "config", "remote.origin.receivepack", "env -u ORANGE_HOME setsid git-receive-pack")
	s.must("git", "clone", "-q", origin, filepath.Join(s.dir, "colleague"))
	strategy := []string{"", "merge", "squash"}[s.seed%3]
	s.must("orange", "project", "update", "coffee", "--check", "sh test.sh", "--strategy", strategy,
		"--pool-size", strconv.Itoa(size.branches))
	for number := 1; number <= size.branches; number++ {
		s.make(number)
	}
	if s.away = s.seed%2 == 0; s.away {
		s.checkout()
	}
	t.Logf("%d branches, strategy %q, the default branch is checked out: %t", size.branches, strategy, !s.away)
	s.calmly()
	for _, name := range worldFolders() {
		s.copyTree(filepath.Join(s.dir, name), filepath.Join(s.saved, name))
	}
	return s
}

func stormOf(n train) size { return size{tasks: n.branches} }

// worldFolders are all that a merge can change.
func worldFolders() []string { return []string{"coffee", "orange", "origin.git", "colleague"} }

// equip puts the storm's own git first in PATH.
func (s *mergeStorm) equip() {
	s.t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		s.t.Fatal(err)
	}
	shims := filepath.Join(s.dir, "shims")
	for _, dir := range []string{shims, s.folder, s.saved} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	s.install("testdata/storm/git", filepath.Join(shims, "git"))
	pipe := filepath.Join(s.folder, "answer")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		s.t.Skipf("no pipe: %v %s", err, out)
	}
	if s.answers, err = os.OpenFile(pipe, os.O_RDWR, 0); err != nil { // both ends, so that no one waits to open it
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = s.answers.Close() })
	// A kill is to end the whole merge: no server goes on with it.
	s.must("orange", "server", "stop")
	s.env = append(s.env, harness.WatchVariable+"="+harness.NoWatch, "STORM="+s.folder, "REAL_GIT="+real,
		"PATH="+shims+":"+filepath.Dir(s.program)+":"+os.Getenv("PATH"))
}

func (s *mergeStorm) install(from, to string) {
	s.t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *mergeStorm) copyTree(from, to string) {
	s.t.Helper()
	if err := os.RemoveAll(to); err != nil {
		s.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		s.t.Fatalf("copy %s: %v %s", from, err, out)
	}
}

// make makes a branch and its task, which waits to be merged.
func (s *mergeStorm) make(number int) {
	s.t.Helper()
	branch := fmt.Sprintf("storm/%02d", number)
	files, _ := s.size.files(number)
	s.must("git", "switch", "-q", "-c", branch)
	for _, file := range files {
		s.write("coffee/"+file, branch+"\n")
		s.must("git", "add", file)
	}
	s.must("git", "commit", "-q", "-m", "Work "+branch)
	s.must("git", "switch", "-q", "main")
	var made struct{ Task struct{ ID string } }
	out := s.must("orange", "task", "create", branch, "Work "+branch, "--harness", "idle", "--status", "reviewing",
		"--json")
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		s.t.Fatal(err)
	}
	s.ids[made.Task.ID] = number
}

// begin puts everything back to where no task was merged.
func (s *mergeStorm) begin(round int) {
	s.t.Helper()
	s.endAll("STORM=" + s.folder)
	if round > 0 {
		for _, name := range worldFolders() {
			s.copyTree(filepath.Join(s.saved, name), filepath.Join(s.dir, name))
		}
	}
	s.landed, s.own, s.figures["rounds"] = nil, "", round+1
	s.before = s.checkout()
}

// left are the tasks that are not done, in the order in which they are merged.
func (s *mergeStorm) left() []string {
	var out []string
	for _, id := range s.inOrder() {
		if s.statuses()[id] != "done" {
			out = append(out, id)
		}
	}
	return out
}

func (s *mergeStorm) inOrder() []string {
	return slices.SortedFunc(maps.Keys(s.ids), func(a, b string) int { return s.ids[a] - s.ids[b] })
}

// statuses are those of the tasks, by the record.
func (s *mergeStorm) statuses() map[string]string {
	s.t.Helper()
	var all struct{ Tasks []view }
	if err := json.Unmarshal([]byte(s.must("orange", "task", "list", "--all", "--json")), &all); err != nil {
		s.t.Fatal(err)
	}
	out := map[string]string{}
	for _, one := range all.Tasks {
		out[one.ID] = one.Status
	}
	return out
}

// plan lets something happen during the next run.
func (s *mergeStorm) plan(what string) {
	s.t.Helper()
	path := filepath.Join(s.folder, "plan-"+what)
	if err := os.Mkdir(path, 0o755); err != nil && !os.IsExist(err) {
		s.t.Fatal(err)
	}
}

// clear forgets what was planned.
func (s *mergeStorm) clear() {
	s.t.Helper()
	// who was killed may have left its answer there
	if err := s.answers.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		s.t.Fatal(err)
	}
	_, _ = s.answers.Read(make([]byte, 16))
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name == "answer" || name == "lost" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.folder, e.Name())); err != nil {
			s.t.Fatal(err)
		}
	}
}

// merge runs a command to its end.
func (s *mergeStorm) merge(ctx context.Context, args ...string) (string, int) {
	s.t.Helper()
	out, status, _ := s.watchOver(ctx, moment{}, args...)
	s.clear()
	return out, status
}

// runAndKill starts a command and kills it with all that it started, at a moment. It reports whether it lived so
// long.
func (s *mergeStorm) runAndKill(ctx context.Context, at moment, args ...string) bool {
	s.t.Helper()
	if at.step > 0 {
		text := fmt.Sprintf("%d %s\n", at.step, at.when)
		if err := os.WriteFile(filepath.Join(s.folder, "plan-"+killing), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	out, status, killed := s.watchOver(ctx, at, args...)
	if !killed {
		s.t.Logf("it ended with status %d: %s", status, out)
	}
	s.endAll("ORANGE_HOME=" + s.home)
	s.calmly()
	calls, _ := os.ReadFile(filepath.Join(s.folder, "calls"))
	s.t.Logf("%d runs of git", bytes.Count(calls, []byte("\n")))
	s.clear()
	return killed
}

// watchOver runs a command, and acts where its git asks for it.
func (s *mergeStorm) watchOver(ctx context.Context, at moment, args ...string) (out string, status int, killed bool) {
	s.t.Helper()
	cmd := exec.CommandContext(ctx, s.program, args...)
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.repo, s.env, &said, &said, 10*time.Second
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := make(<-chan time.Time)
	if at.step == 0 && at.time > 0 {
		timer := time.NewTimer(at.time)
		defer timer.Stop()
		late = timer.C
	}
	for !killed {
		select {
		case <-ended:
			return said.String(), cmd.ProcessState.ExitCode(), false
		case <-late:
			killed = true
			s.figures["kills at any moment"]++
		case <-tick.C:
			killed = s.answer() == killing
		}
	}
	s.endAll("ORANGE_HOME=" + s.home)
	<-ended
	return said.String(), -1, true
}

// answer acts where git waits for it.
func (s *mergeStorm) answer() string {
	s.t.Helper()
	path := filepath.Join(s.folder, "question")
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	if err := os.Remove(path); err != nil {
		s.t.Fatal(err)
	}
	what := strings.TrimSpace(string(text))
	s.figures["at git: "+what]++
	switch what {
	case killing:
		return what
	case foreignPush:
		s.foreign()
	case ownCommit:
		s.commit()
	}
	if _, err := s.answers.WriteString("\n"); err != nil {
		s.t.Fatal(err)
	}
	return what
}

// asOthers runs git as it is without the storm.
func (s *mergeStorm) asOthers(dir string, args ...string) string {
	s.t.Helper()
	out, err := s.plainGit(dir, args...)
	if err != nil {
		s.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return out
}

func (s *mergeStorm) plainGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = slices.DeleteFunc(slices.Clone(s.env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains([]string{"ORANGE_HOME", "PATH", "STORM"}, name)
	})
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// foreign is a push of another clone.
func (s *mergeStorm) foreign() {
	s.t.Helper()
	dir := filepath.Join(s.dir, "colleague")
	s.asOthers(dir, "fetch", "-q", "origin")
	s.asOthers(dir, "reset", "-q", "--hard", "origin/main")
	s.commits++
	name := fmt.Sprintf("Foreign %d", s.commits)
	s.write(filepath.Join("colleague", "others", strconv.Itoa(s.commits)), name+"\n")
	s.asOthers(dir, "add", ".")
	s.asOthers(dir, "commit", "-q", "-m", name)
	s.asOthers(dir, "push", "-q", "origin", "HEAD:main")
	s.landed = append(s.landed, name)
}

// commit is one of the person's on the local default branch.
func (s *mergeStorm) commit() {
	s.t.Helper()
	s.commits++
	name := fmt.Sprintf("Own %d", s.commits)
	if !s.away {
		s.asOthers(s.repo, "commit", "-q", "--allow-empty", "-m", name)
	} else {
		at := s.asOthers(s.repo, "rev-parse", "main")
		tree := s.asOthers(s.repo, "rev-parse", "main^{tree}")
		made := s.asOthers(s.repo, "commit-tree", tree, "-p", at, "-m", name)
		s.asOthers(s.repo, "update-ref", "refs/heads/main", made, at)
	}
	s.own = name
}

// reconcile is what a person does whose own commit met a merge.
func (s *mergeStorm) reconcile() {
	s.t.Helper()
	if s.own == "" || s.t.Failed() {
		return
	}
	where := s.repo
	if s.away {
		where = filepath.Join(s.dir, "aside")
		s.asOthers(s.repo, "worktree", "add", "-q", where, "main")
	}
	s.removeHalfMade()
	s.asOthers(where, "pull", "-q", "--rebase", "origin", "main")
	s.asOthers(where, "push", "-q", "origin", "HEAD:main")
	if s.away {
		s.asOthers(s.repo, "worktree", "remove", where)
	}
	s.asOthers(s.repo, "fetch", "-q", "origin")
	s.landed, s.own = append(s.landed, s.own), ""
}

// removeHalfMade is what a person does who fetches before the next merge.
func (s *mergeStorm) removeHalfMade() {
	s.t.Helper()
	if s.isHalfMade() {
		s.asOthers(s.repo, "worktree", "remove", "--force", "--force", filepath.Join(s.home, "merges", "coffee--merge"))
		s.figures["half made worktrees that a person removed"]++
	}
}

// endAll kills what has a mark in its environment, the program first: it would start more. Only git that moves the
// person's own checkout on may end by itself: killed in the middle, it leaves it half moved, as it would for them.
func (s *mergeStorm) endAll(mark string) {
	s.t.Helper()
	for {
		all, err := proc.WithEnvironment(mark)
		if err != nil {
			s.t.Fatal(err)
		}
		slices.SortStableFunc(all, func(a, b task.Process) int { return s.rank(a.PID) - s.rank(b.PID) })
		ended := false
		for _, p := range all {
			moves := filepath.Base(exeOf(p.PID)) == "git" && s.inCheckout(p.PID)
			if !moves && end(p) {
				ended = true
			}
		}
		if !ended {
			return
		}
	}
}

func (s *mergeStorm) rank(pid int) int {
	if exeOf(pid) == s.program {
		return 0
	}
	return 1
}

// calmly waits until nothing of the storm is at work, not even on origin's side.
func (s *mergeStorm) calmly() {
	s.t.Helper()
	ctx, off := context.WithTimeout(s.t.Context(), time.Minute)
	defer off()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		working, err := s.working()
		if err == nil && len(working) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			s.t.Fatalf("waited in vain for calm; still there (%v): %v", err, working)
		case <-tick.C:
		}
	}
}

// working are the processes of the storm, but for the terminal server and the agents of tasks that were sent back:
// these are idle, and stay.
func (s *mergeStorm) working() (out []string, err error) {
	all, err := proc.WithEnvironment("STORM=" + s.folder)
	for _, p := range all {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/cmdline")
		exe := exeOf(p.PID)
		agent := filepath.Base(exe) == "tail" || bytes.Contains(text, []byte("\x00launch\x00"))
		if filepath.Base(exe) != "tmux" && !agent {
			out = append(out, fmt.Sprintf("%d %s %q", p.PID, exe, text))
		}
	}
	return out, err
}
