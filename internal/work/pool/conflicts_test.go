package pool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/conflict"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/run/proc"
)

// field is a repository in which each live task has a branch.
type field struct {
	*Pool
	*setup
	calls int // looks for an environment: none where no program is started
}

// newField has one task for each branch, "t0" with "feat/0" and so on. files are what each of them changes.
func newField(tb testing.TB, branches int, files func(branch int) []string) *field {
	tb.Helper()
	home, repo := tb.TempDir(), tb.TempDir()
	var b strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&b, "M 100644 inline src/%d/%d.go\ndata <<E\n%s\nE\n", n%100, n, lines("", 40))
	}
	history := "commit refs/heads/main\nmark :1\ncommitter a <a@b> 1 +0000\ndata 1\na\n" + b.String()
	for n := range branches {
		history += change(n, ":1", files(n), fmt.Sprint("of ", n))
	}
	run(tb, repo, "", "init", "-q", "-b", "main")
	run(tb, repo, history, "fast-import", "--quiet")
	f := &field{setup: &setup{project: task.Project{Name: "garden", Path: repo, DefaultBranch: "main"}}}
	f.Pool = New(Surroundings{Home: home, Setup: f.setup, Record: f.setup})
	for n := range branches {
		f.tasks = append(f.tasks, task.Task{ID: fmt.Sprintf("t%d", n), Project: "garden", Live: true,
			Branch: fmt.Sprintf("feat/%d", n)})
	}
	return f
}

// change is a commit of a branch, in the words of git fast-import.
func change(branch int, from string, files []string, word string) string {
	text := fmt.Sprintf("commit refs/heads/feat/%d\ncommitter a <a@b> 2 +0000\ndata 1\na\nfrom %s\n", branch, from)
	for _, file := range files {
		text += fmt.Sprintf("M 100644 inline %s\ndata <<E\n%s\nE\n", file, lines(word, 40))
	}
	return text
}

// lines are a file of so many lines; the one in the middle has a word.
func lines(word string, n int) string {
	var b strings.Builder
	for i := range n {
		if fmt.Fprintf(&b, "line %d", i); i == n/2 {
			b.WriteString(word)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func run(tb testing.TB, dir, stdin string, args ...string) {
	tb.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// commit adds a commit to a branch.
func (f *field) commit(tb testing.TB, branch int, word string, files ...string) {
	tb.Helper()
	from := fmt.Sprintf("refs/heads/feat/%d^0", branch)
	run(tb, f.project.Path, change(branch, from, files, word), "fast-import", "--quiet")
}

// counted is a context in which calls grow with each program.
func (f *field) counted(ctx context.Context) context.Context {
	return proc.WithEnviron(ctx, func() proc.Environ {
		f.calls++
		return proc.Environ{Own: os.Environ()}
	})
}

// find looks as the monitor does.
func (f *field) find(tb testing.TB) {
	tb.Helper()
	if err := f.FindConflicts(tb.Context(), "garden", f.tasks); err != nil {
		tb.Fatal(err)
	}
}

func (f *field) known(tb testing.TB) conflict.Overview {
	tb.Helper()
	f.calls = 0
	all, err := f.Conflicts(f.counted(tb.Context()), "garden")
	if err != nil || f.calls > 0 { // the dashboard asks, and waits for no git
		tb.Fatalf("%v, and git was started: %v", err, f.calls > 0)
	}
	return all
}

func with(list []conflict.Conflict) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s %s %s", c.Branch, c.Task, strings.Join(c.Files, " ")))
	}
	return strings.Join(out, "; ")
}

func wants(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// inTwos has two and two branches change the same file, and allOfThem has all of them do so.
func inTwos(n int) []string    { return []string{own(n), fmt.Sprintf("src/%d/%d.go", n/2, n/2)} }
func allOfThem(n int) []string { return []string{own(n), "src/0/0.go"} }
func own(n int) string         { return fmt.Sprintf("own/%d.go", n) }

func TestConflicts_areFoundOnceAndShownWithoutGit(t *testing.T) {
	t.Parallel()
	f := newField(t, 4, inTwos)
	f.tasks = append(f.tasks, task.Task{ID: "another", Project: "shed", Branch: "feat/0", Live: true})
	if got := f.known(t); len(got.Of) > 0 {
		t.Errorf("before the first look: %v", got)
	}
	f.find(t)
	got := f.known(t)
	wants(t, "t0", with(got.Of["t0"]), "feat/1 t1 src/0/0.go")
	if one, found := got.Of["another"]; found {
		t.Errorf("the task of another project conflicts: %v", one)
	}
	wants(t, "t1", with(got.Of["t1"]), "feat/0 t0 src/0/0.go")
	wants(t, "t3", with(got.Of["t3"]), "feat/2 t2 src/1/1.go")
	f.commit(t, 3, "other", "src/0/0.go")
	f.find(t)
	wants(t, "t3 later", with(f.known(t).Of["t3"]), "feat/0 t0 src/0/0.go; feat/1 t1 src/0/0.go; feat/2 t2 src/1/1.go")
	run(t, f.project.Path, "", "update-ref", "refs/heads/main", "refs/heads/feat/2")
	f.tasks = slices.Delete(f.tasks, 2, 3)
	f.find(t)
	wants(t, "t3 when feat/2 is merged", with(f.known(t).Of["t3"]),
		"main  src/1/1.go; feat/0 t0 src/0/0.go; feat/1 t1 src/0/0.go")
	f.tasks = nil
	if got := f.known(t); len(got.Of) > 0 {
		t.Errorf("without a live task: %v", got)
	}
}

func TestConflictsOf_asksAboutOneTask(t *testing.T) {
	t.Parallel()
	f := newField(t, 6, allOfThem)
	got, err := f.ConflictsOf(t.Context(), f.tasks[2])
	must(t, err)
	if len(got.Of["t2"]) != 5 {
		t.Errorf("t2: %s", with(got.Of["t2"]))
	}
	wants(t, "t3", with(f.known(t).Of["t3"]), "feat/2 t2 src/0/0.go")
	f.tasks[5].Branch = "" // it was not started yet
	if got, err = f.ConflictsOf(t.Context(), f.tasks[5]); err != nil || got.Of["t5"] != nil {
		t.Errorf("a task without a branch: %v, %v", got, err)
	}
	if got, err = f.ConflictsOf(t.Context(), task.Task{ID: "over", Project: "garden"}); err != nil || got.Of != nil {
		t.Errorf("a task that is over: %v, %v", got, err)
	}
}

// crowd adds newer tasks to a field, each with a branch: with work in a file of its own, or with none.
func (f *field) crowd(t *testing.T, count int, work bool) {
	t.Helper()
	main := gitIn(t, f.project.Path, "rev-parse", "main")
	text := ""
	for n := range count {
		n += 1000
		if text += change(n, main, []string{fmt.Sprintf("crowd/%d", n)}, "work"); !work {
			text += fmt.Sprintf("reset refs/heads/feat/%d\nfrom %s\n\n", n, main)
		}
		f.tasks = slices.Insert(f.tasks, 0, task.Task{ID: fmt.Sprint("c", n), Project: "garden", Live: true,
			Branch: fmt.Sprint("feat/", n)})
	}
	run(t, f.project.Path, text, "fast-import", "--quiet", "--force")
}

// moves adds a commit to a branch that changes a file.
func (f *field) moves(t *testing.T, branch, file string) {
	t.Helper()
	text := fmt.Sprintf("commit refs/heads/%s\ncommitter a <a@b> 3 +0000\ndata 1\na\nfrom %s\nM 100644 inline %s\n"+
		"data 1\na\n", branch, gitIn(t, f.project.Path, "rev-parse", branch), file)
	run(t, f.project.Path, text, "fast-import", "--quiet")
}

func TestTasksWithoutWork_pushNoOthersOutOfTheComparison(t *testing.T) {
	t.Parallel()
	f := newField(t, 3, allOfThem)
	f.crowd(t, conflict.MostBranches+5, false)
	f.find(t)
	got := f.known(t)
	wants(t, "t0", with(got.Of["t0"]), "feat/1 t1 src/0/0.go; feat/2 t2 src/0/0.go")
	if len(got.Unknown) > 0 {
		t.Errorf("not known: %q", got.Unknown)
	}
	// The default branch goes on: those that began before that bring nothing either.
	f.moves(t, "main", "another")
	f.find(t)
	got = f.known(t)
	wants(t, "t0 after main went on", with(got.Of["t0"]), "feat/1 t1 src/0/0.go; feat/2 t2 src/0/0.go")
	if len(got.Unknown) > 0 {
		t.Errorf("not known after main went on: %q", got.Unknown)
	}
}

func TestBranchesBeyondTheLimit_keepOldResultsAndSaySo(t *testing.T) {
	t.Parallel()
	f := newField(t, 3, allOfThem)
	oldest := f.tasks[2]
	f.find(t)
	wants(t, "t2", with(f.known(t).Of["t2"]), "feat/0 t0 src/0/0.go; feat/1 t1 src/0/0.go")
	f.crowd(t, conflict.MostBranches, true)
	f.find(t)
	got := f.known(t)
	wants(t, "t2 that is not compared any more", with(got.Of["t2"]), "feat/0 t0 src/0/0.go; feat/1 t1 src/0/0.go")
	wants(t, "what t2 says", got.Unknown["t2"], "Orange compares 200 branches that have work: those that wait for a "+
		"merge come first, then those of the newest tasks, and this one is not among them")
	if got.Unknown[""] != "" || got.Unknown["c1000"] != "" {
		t.Errorf("not known: %q", got.Unknown)
	}
	got, err := f.ConflictsOf(t.Context(), oldest)
	must(t, err)
	wants(t, "t2 when it is asked for", with(got.Of["t2"]), "feat/0 t0 src/0/0.go; feat/1 t1 src/0/0.go")
	if got.Unknown["t2"] != "" {
		t.Errorf("t2 was compared, and says %q", got.Unknown["t2"])
	}
	f.find(t)
	// A branch that moves is another one: what was found of it is over, and nothing takes its place.
	f.moves(t, "feat/1", "on")
	f.find(t)
	got = f.known(t)
	wants(t, "t2 after feat/1 moved", with(got.Of["t2"]), "feat/0 t0 src/0/0.go")
	if got.Of["t1"] != nil || got.Unknown["t1"] == "" {
		t.Errorf("t1 moved and was not compared: %v, %q", got.Of["t1"], got.Unknown["t1"])
	}
}

func TestBranchesThatWaitForAMerge_areComparedFirst(t *testing.T) {
	t.Parallel()
	f := newField(t, 3, allOfThem)
	f.def = workflow.Definition{States: []workflow.State{{Name: "ready", Subject: workflow.SubjectCarried}}}
	for i := range f.tasks {
		f.tasks[i].Status = "ready"
	}
	f.crowd(t, conflict.MostBranches, true)
	f.find(t)
	got := f.known(t)
	wants(t, "t2 that waits", with(got.Of["t2"]), "feat/0 t0 src/0/0.go; feat/1 t1 src/0/0.go")
	if got.Unknown["t2"] != "" || got.Unknown["c1000"] == "" {
		t.Errorf("not known: t2 %q, the oldest of the others %q", got.Unknown["t2"], got.Unknown["c1000"])
	}
}

func TestAFailedComparison_isNeverTakenForNoConflict(t *testing.T) {
	t.Parallel()
	f := newField(t, 2, allOfThem)
	f.find(t)
	must(t, os.Rename(f.project.Path, f.project.Path+"-moved"))
	if err := f.FindConflicts(t.Context(), "garden", f.tasks); err == nil {
		t.Error("a repository that is gone has no conflicts")
	}
	got := f.known(t)
	if !strings.Contains(got.Unknown[""], "is gone") || len(got.Of["t0"]) != 1 {
		t.Errorf("it says %q, and knows %v", got.Unknown, got.Of)
	}
	if _, err := f.ConflictsOf(t.Context(), f.tasks[0]); err == nil {
		t.Error("to ask about one task is no error")
	}
	must(t, os.Rename(f.project.Path+"-moved", f.project.Path))
	f.find(t)
	if got := f.known(t); len(got.Unknown) > 0 {
		t.Errorf("it is back, and it says %q", got.Unknown)
	}
}

func TestAFileOfConflictsThatCannotBeRead_isMadeAgain(t *testing.T) {
	t.Parallel()
	f := newField(t, 2, allOfThem)
	f.find(t)
	file := f.conflictsFile("garden")
	for name, text := range map[string]string{"half": `{"edition":1,"last":`, "of another edition": `{"edition":99}`,
		"empty": "", "too large": strings.Repeat(" ", mostKnown+1), "a list": "[]"} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
		if got := f.known(t); len(got.Of) > 0 {
			t.Errorf("%s: %v", name, got)
		}
		f.find(t)
		wants(t, name, with(f.known(t).Of["t0"]), "feat/1 t1 src/0/0.go")
	}
	must(t, os.Remove(file))
	must(t, os.Mkdir(file, 0o700))
	if one, err := f.ConflictsOf(t.Context(), f.tasks[0]); err != nil || len(one.Of["t0"]) != 1 {
		t.Errorf("the one who asks has no answer where it cannot be kept: %v, %v", one, err)
	}
	if err := f.FindConflicts(t.Context(), "garden", f.tasks); err == nil {
		t.Error("nothing is said of a file that cannot be written")
	}
	left, err := os.ReadDir(filepath.Dir(file))
	must(t, err)
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestALookThatIsEnded_keepsNothingHalf(t *testing.T) {
	t.Parallel()
	f := newField(t, 2, allOfThem)
	ctx, off := context.WithCancel(t.Context())
	ended := proc.WithEnviron(ctx, func() proc.Environ {
		off() // before the first program
		return proc.Environ{Own: os.Environ()}
	})
	if err := f.FindConflicts(ended, "garden", f.tasks); err == nil {
		t.Error("it was ended, and says nothing")
	}
	if _, err := os.Stat(f.conflictsFile("garden")); err == nil {
		t.Error("it has kept something")
	}
}

// BenchmarkConflicts is a look at fifty branches: the first one, and one after one of them moved. twos: two and
// two have changed the same file. all: each has changed one file that all have changed.
func BenchmarkConflicts(b *testing.B) {
	const branches = 50
	for name, files := range map[string]func(int) []string{"twos": inTwos, "all": allOfThem} {
		f := newField(b, branches, files)
		b.Run(name+"/first", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				if err := os.RemoveAll(f.conflictsFile("garden")); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				f.find(b)
			}
		})
		moved := 0
		b.Run(name+"/moved", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				moved++
				f.commit(b, 7, fmt.Sprint("moved ", moved), files(7)...)
				b.StartTimer()
				f.find(b)
			}
		})
		b.Run(name+"/settled", func(b *testing.B) {
			for b.Loop() {
				f.find(b)
			}
		})
	}
}
