package pool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/worktree"
)

// setups are the set-ups of worktrees, and where in them a task's programs start, with which ports.
type setups struct {
	*places
	record      Record
	files       Files
	log         *slog.Logger
	environment func(ctx context.Context, t task.Task) ([]string, error)
}

const (
	setupOutput = 256 << 10       // that is kept of what each command says
	setupLast   = 800             // bytes of it that stand in an error: it goes into the record
	setupGrace  = 2 * time.Second // what an earlier run, which no process waits for any more, gets to end
)

// noSeat is the seat of no agent: a set-up runs what agents have written, and must not ask for anything in a person's
// name.
const noSeat = "ORANGE_SEAT=setup"

// makeReady gives a prepared worktree what its project wants there besides the files of its commit. A set-up that was
// done for the same task is never done again: an agent may be at work by now.
func (s *setups) makeReady(ctx context.Context, t task.Task, slot worktree.Slot, in environment) error {
	project, err := s.setup.Project(t.Project)
	if err == nil {
		err = s.bring(ctx, t, project.Worktree, slot.Extras().Bring)
	}
	wants := project.Worktree
	if err != nil || len(wants.Commands) == 0 && !wants.Submodules {
		return err
	}
	had, err := readSetUp(slot)
	if err != nil || had.Task == t.ID {
		return err
	}
	if wants.Submodules {
		if err := slot.Submodules(ctx); err != nil {
			return err
		}
	}
	files, err := slot.Digest(ctx, wants.When)
	if err != nil {
		return err
	}
	now := setUpRecord{Commands: wants.Commands, Files: files, Task: t.ID}
	if len(wants.Commands) == 0 || had.covers(now) {
		return now.write(slot)
	}
	if err := os.Remove(slot.Companion(worktree.SetUpNote)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget an earlier set-up: %w", err)
	}
	run := setUp{at: s, task: t, wants: wants, name: t.Workspace, dir: slot.Dir,
		log: slot.Companion(worktree.SetUpOutput), in: in}
	if err := run.all(ctx); err != nil {
		return err
	}
	if err := slot.Settle(ctx); err != nil {
		return err
	}
	return now.write(slot) // with the files as they were before: what it has written there goes with the task
}

// environment is what a set-up runs in.
type environment func(context.Context) ([]string, error)

// environmentOf is that of a task.
func (s *setups) environmentOf(t task.Task) environment {
	return func(ctx context.Context) ([]string, error) {
		if s.environment == nil {
			return nil, errors.New("cannot set up a workspace here: there is no environment of tasks")
		}
		return s.environment(ctx, t)
	}
}

// makeReadyOnce is makeReady for a checkout that is thrown away after its use. What it starts is found by the name.
func (s *setups) makeReadyOnce(ctx context.Context, t task.Task, slot worktree.Slot, name string) error {
	project, err := s.setup.Project(t.Project)
	if err == nil {
		err = s.bring(ctx, t, project.Worktree, slot.Extras().BringOnce)
	}
	if err == nil && project.Worktree.Submodules {
		err = slot.Submodules(ctx)
	}
	if err != nil {
		return err
	}
	return setUp{at: s, task: t, wants: project.Worktree, name: name, dir: slot.Dir,
		in: s.environmentOf(t)}.all(ctx)
}

// bring has files of the main checkout brought into a worktree.
func (s *setups) bring(ctx context.Context, t task.Task, wants task.WorktreeSetup,
	bring func(context.Context, worktree.Wanted) ([]string, error)) error {
	left, err := bring(ctx, worktree.Wanted{Copy: wants.Copy, Link: wants.Link})
	for _, what := range left {
		s.log.Warn("a file that the project wants in its worktrees was left out", "component", "worktree",
			"task", t.ID, "project", t.Project, "what", what)
	}
	return err
}

// setUpRecord is the last set-up of a slot.
type setUpRecord struct {
	Commands [][]string `json:"commands"`
	Files    string     `json:"files"` // a digest of those that it rests on
	Task     string     `json:"task"`  // for which the slot was set up; empty once that gave it back
}

// covers reports whether another set-up would run the same commands on the same files.
func (d setUpRecord) covers(wanted setUpRecord) bool {
	return slices.EqualFunc(d.Commands, wanted.Commands, slices.Equal) && d.Files == wanted.Files
}

func readSetUp(slot worktree.Slot) (setUpRecord, error) {
	text, err := proc.ReadFile(slot.Companion(worktree.SetUpNote))
	if errors.Is(err, fs.ErrNotExist) {
		return setUpRecord{}, nil
	}
	var d setUpRecord
	if err == nil && json.Unmarshal(text, &d) != nil {
		return setUpRecord{}, nil // what cannot be understood is done again
	}
	if err != nil {
		return setUpRecord{}, fmt.Errorf("read what the workspace was set up with: %w", err)
	}
	return d, nil
}

func (d setUpRecord) write(slot worktree.Slot) error {
	if err := proc.ReplaceJSON(slot.Companion(worktree.SetUpNote), d); err != nil {
		return fmt.Errorf("note what the workspace was set up with: %w", err)
	}
	return nil
}

// letGo notes that a slot is no task's any more: the next one, and the same one again, checks whether a set-up is due.
func letGo(slot worktree.Slot) error {
	d, err := readSetUp(slot)
	if err != nil || d.Task == "" {
		return err
	}
	d.Task = ""
	return d.write(slot)
}

// setUp runs the commands of a project in one folder.
type setUp struct {
	at    *setups
	task  task.Task
	wants task.WorktreeSetup
	name  string // by which what it started is found
	dir   string
	log   string // the file that its output is kept in; empty where it is kept nowhere
	in    environment
}

func (s setUp) all(ctx context.Context) error {
	if len(s.wants.Commands) == 0 {
		return nil
	}
	env, err := s.in(ctx)
	if err != nil {
		return err
	}
	dir, own, err := s.at.startIn(ctx, s.task, s.dir)
	if err != nil {
		return err
	}
	s.dir = dir
	marks := []string{"ORANGE_HOME=" + s.at.home, "ORANGE_SETUP=" + s.name}
	env = harness.Layer(env, own, marks, aboutTask(s.task))
	// Two set-ups in one folder, the first one's waiting process killed, would disturb each other.
	if err := endMarked(ctx, marks); err != nil {
		return err
	}
	limit := time.Duration(s.wants.Seconds) * time.Second
	if limit == 0 {
		limit = task.SetupSeconds * time.Second
	}
	by := time.Now().Add(limit)
	var said strings.Builder
	for _, argv := range s.wants.Commands {
		err = s.one(ctx, argv, env, limit, time.Until(by), &said)
		if s.log != "" {
			err = errors.Join(err, keepOutput(s.log, said.String()))
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, endMarked(context.WithoutCancel(ctx), marks))
}

// aboutTask tells a program for which task it runs, and gives it no seat.
func aboutTask(t task.Task) []string {
	return []string{"ORANGE_TASK_ID=" + t.ID, "ORANGE_PROJECT=" + t.Project, noSeat}
}

func endMarked(ctx context.Context, marks []string) error {
	if err := proc.EndMarked(ctx, setupGrace, marks...); err != nil {
		return fmt.Errorf("end what an earlier run left behind: %w", err)
	}
	return nil
}

func keepOutput(path, text string) error {
	err := os.MkdirAll(filepath.Dir(path), task.PrivateFolder)
	if err == nil {
		err = proc.ReplaceFile(path, []byte(text))
	}
	if err != nil {
		return fmt.Errorf("keep the output of the project's commands: %w", err)
	}
	return nil
}

// one runs one command. Any end but status 0 is an error, which has the last lines of what it said.
func (s setUp) one(ctx context.Context, argv, env []string, limit, left time.Duration, said *strings.Builder) error {
	memory := s.wants.Memory
	if memory == 0 {
		memory = task.SetupMemory
	}
	run := boundedCommand{argv: argv, dir: s.dir, env: env, time: left, memory: memory}
	why, output, err := run.run(ctx, said)
	switch {
	case err != nil:
		return fmt.Errorf("cannot set up the workspace: %w; change it with %q", err,
			"orange project update NAME --setup COMMAND")
	case why == tookTooLong:
		why = fmt.Sprintf("took longer than %s (change that with --setup-timeout)", limit)
	case why == tookTooMuch:
		why = fmt.Sprintf("ran out of memory: it used more than %d MB (change that with --setup-memory)", memory)
	case why == "":
		return nil
	}
	kept := ""
	if s.log != "" {
		kept = fmt.Sprintf("; all of it is in %s", s.log)
	}
	return fmt.Errorf("the set-up of the workspace failed: %q %s%s: %s", strings.Join(argv, " "), why, kept,
		lastOf(output))
}

// boundedCommand is a command of the project's that runs within limits.
type boundedCommand struct {
	argv   []string
	dir    string
	env    []string
	time   time.Duration
	memory int // megabytes
}

// Two of the ways in which such a command fails.
const (
	tookTooLong = "took too long"
	tookTooMuch = "used too much memory"
)

// run answers why the command failed, and what it has said. It adds that to the whole.
func (b boundedCommand) run(ctx context.Context, said *strings.Builder) (why, output string, err error) {
	fmt.Fprintf(said, "$ %s\n", strings.Join(b.argv, " "))
	program := b.argv[0]
	if strings.ContainsRune(program, '/') && !filepath.IsAbs(program) {
		program = filepath.Join(b.dir, program) // one of the repository's own
	}
	if program, err = proc.Find(program, harness.Value(b.env, "PATH")); err != nil {
		return "", "", err
	}
	ran, err := proc.RunLimited(proc.ForNoOne(ctx),
		proc.Command{Name: program, Args: b.argv[1:], Dir: b.dir, Base: b.env},
		proc.Limits{Time: max(b.time, time.Millisecond), Memory: int64(b.memory) << 20, Output: setupOutput})
	if err != nil {
		return "", "", err
	}
	output = strings.TrimSpace(strings.ToValidUTF8(ran.Output, "\uFFFD"))
	fmt.Fprintf(said, "%s\n(status %d after %s)\n", output, ran.Code, ran.Took.Round(time.Millisecond))
	switch {
	case ran.TimedOut:
		why = tookTooLong
	case ran.OutOfMemory:
		why = tookTooMuch
	case ran.Code != 0:
		why = fmt.Sprintf("ended with status %d", ran.Code)
	}
	return why, output, nil
}

// lastOf is the end of what a program said, from the beginning of a line if one begins there.
func lastOf(output string) string {
	if output == "" {
		return "it said nothing"
	}
	if len(output) <= setupLast {
		return output
	}
	end := strings.ToValidUTF8(output[len(output)-setupLast:], "")
	if _, lines, more := strings.Cut(end, "\n"); more {
		end = lines
	}
	return "... " + end
}

// Ports are given out from these: above those of well-known services, and below those that systems give to outgoing
// connections.
const (
	firstPort = 20000
	lastPort  = 32767
)

// block is what one workspace has of the ports of this home, for one task.
type block struct {
	Task  string `json:"task"`
	First int    `json:"first"`
	Count int    `json:"count"`
}

// startIn is the folder of a worktree in which a task's programs start, and what is set for them alone.
func (s *setups) startIn(ctx context.Context, t task.Task, dir string) (start string, env []string, err error) {
	project, err := s.setup.Project(t.Project)
	if err == nil {
		start, err = folderBelow(dir, project.Worktree.Subdir)
	}
	if err != nil {
		return "", nil, err
	}
	mine, err := s.ports(ctx, t, project.Worktree.Ports)
	if err != nil || mine.Count == 0 {
		return start, nil, err
	}
	var all []string
	for n := range mine.Count {
		all = append(all, strconv.Itoa(mine.First+n))
	}
	return start, []string{"ORANGE_PORT=" + all[0], "ORANGE_PORTS=" + strings.Join(all, " ")}, nil
}

// folderBelow is a folder in a worktree, which must be there and lead nowhere else.
func folderBelow(dir, subdir string) (string, error) {
	if subdir == "" {
		return dir, nil
	}
	root, err := proc.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(subdir))
	if err == nil && !info.IsDir() {
		err = errors.New("it is no folder")
	}
	if err != nil {
		return "", fmt.Errorf("cannot start anything in the folder %q of worktree %q, which the project asks for: %w; "+
			"change that with %q", subdir, dir, err, "orange project update NAME --subdir FOLDER")
	}
	return filepath.Join(dir, filepath.FromSlash(subdir)), nil
}

// Place is where a task's programs start in its workspace, and what is set for them alone.
func (s *setups) Place(ctx context.Context, t task.Task) (dir string, env []string, err error) {
	return s.startIn(ctx, t, s.Dir(t.Workspace))
}

// ports are those of a task. It keeps them for as long as it holds its workspace, whatever becomes of the project's
// wishes; no other task that holds one has any of them.
func (s *setups) ports(ctx context.Context, t task.Task, count int) (block, error) {
	file := filepath.Join(s.home, "ports.json")
	if count == 0 {
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			return block{}, nil // and so it never had any
		}
	}
	release, err := s.files.Lock(ctx, "ports")
	if err != nil {
		return block{}, err
	}
	defer release()
	all := map[string]block{}
	if err := proc.ReadJSON(file, &all); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return block{}, fmt.Errorf("read which ports tasks have: %w; remove %q while no task runs", err, file)
	}
	if mine := all[t.Workspace]; mine.Task == t.ID || count == 0 || t.Workspace == "" {
		if mine.Task != t.ID {
			mine = block{}
		}
		return mine, nil
	}
	if err := s.freePorts(ctx, all); err != nil {
		return block{}, err
	}
	first, err := gap(all, count)
	if err != nil {
		return block{}, err
	}
	mine := block{Task: t.ID, First: first, Count: count}
	all[t.Workspace] = mine
	if err := proc.ReplaceJSON(file, all); err != nil {
		return block{}, fmt.Errorf("note which ports the task has: %w", err)
	}
	return mine, nil
}

// freePorts takes back those of tasks that hold their workspace no more.
func (s *setups) freePorts(ctx context.Context, all map[string]block) error {
	held, err := s.record.Holders(ctx, "")
	if err != nil {
		return err
	}
	for workspace, one := range all {
		holds := false
		for _, h := range held {
			holds = holds || h.Workspace == workspace && h.Task == one.Task
		}
		if !holds && !strings.HasSuffix(workspace, mergeSlot) { // a merge may be checked at this moment
			delete(all, workspace)
		}
	}
	return nil
}

// gap is the first of so many ports that no one has.
func gap(all map[string]block, count int) (int, error) {
	var taken []block
	for _, one := range all {
		taken = append(taken, one)
	}
	slices.SortFunc(taken, func(a, b block) int { return cmp.Compare(a.First, b.First) })
	first := firstPort
	for _, one := range taken {
		if first+count <= one.First {
			break
		}
		first = max(first, one.First+one.Count)
	}
	if first+count-1 > lastPort {
		return 0, fmt.Errorf("cannot give a task %d ports: live tasks have those from %d to %d; finish some, or ask "+
			"for fewer with %q", count, firstPort, lastPort, "orange project update NAME --ports N")
	}
	return first, nil
}
