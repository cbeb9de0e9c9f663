package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orange/internal/proof/simulate"
	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/store/mirror"
	"orange/internal/store/sqlite"
	"orange/workflows"
)

// The simulation runs the real engine, judge, record, files and hooks in a simulated world, and lets every
// program die at every step. One seed is one run and always the same one: ORANGE_SEED=17 go test
// ./internal/engine -run TestSimulation -v
//
//	simulation_process_test.go  programs, whose turn it is, and how they die
//	simulation_record_test.go   the record and the files as a program sees them
//	simulation_world_test.go    terminals, agents and workspaces
//	simulation_environment_test.go  in whose environment programs run
//	simulation_claims_test.go   in whose they may
//	simulation_story_test.go    what people, agents and monitors do
//	simulation_check_test.go    what must be true, and what really happened
func TestSimulation(t *testing.T) {
	t.Parallel()
	common := readSetting(t)
	if seed, given := givenSeed(t); given {
		inWorld(t, common, seed, func(s *simulation) {
			s.run()
			t.Log(s.counts, "\n"+strings.Join(s.trace, "\n"))
		})
		return
	}
	const shards = 4
	seeds := uint64(200)
	long := os.Getenv("ORANGE_TEST_LONG") != ""
	switch {
	case raced && long:
		seeds = 300
	case raced:
		seeds = 8
	case long:
		seeds = 10_000
	case testing.Short():
		seeds = 40
	}
	var mu sync.Mutex
	total := counts{}
	t.Cleanup(func() { t.Log(total) })
	for shard := range uint64(shards) {
		t.Run(fmt.Sprintf("every %dth seed from %d", shards, shard), func(t *testing.T) {
			t.Parallel()
			for seed := shard; seed < seeds && !t.Failed(); seed += shards {
				f := runSeed(t, common, seed)
				mu.Lock()
				total.add(f)
				mu.Unlock()
			}
		})
	}
}

// One seed is one story: without that no one could look at a failure twice.
func TestSimulation_isTheSameEveryTime(t *testing.T) {
	t.Parallel()
	common := readSetting(t)
	for seed := range uint64(2) {
		once, again := runSeed(t, common, seed), runSeed(t, common, seed)
		if once != again {
			t.Errorf("seed %d:\n%v\n%v", seed, once, again)
		}
	}
}

// What a fleet adds changes nothing for tasks that no other home has: with the guard of acts that are seen outside in
// the way of each of them, one seed is the same story.
func TestSimulation_isTheSameUnderAGuard(t *testing.T) {
	t.Parallel()
	common := readSetting(t)
	guarded := *common
	guarded.guarded = true
	for seed := range uint64(4) {
		without, with := runSeed(t, common, seed), runSeed(t, &guarded, seed)
		if without != with {
			t.Errorf("seed %d:\n%v\n%v", seed, without, with)
		}
	}
}

// counts are how much a simulation has covered.
type counts struct {
	seeds, steps, programs, deaths, agents, agentDeaths, tasks, moves, hooks, performed, failures int
	// decisions that were made again, and tasks all of whose decisions were
	replayed, retold int
	// programs of tasks, those for which no environment was kept for sure, ends of the terminal server, and
	// merges
	ran, unclaimed, lost, merges int
	// tasks that started because those were done that they waited for, and moves of rules that send back
	waited, sentBack int
	// a sum over everything that happened
	story uint64
}

func (f *counts) add(o counts) {
	f.seeds += o.seeds
	f.steps += o.steps
	f.programs += o.programs
	f.deaths += o.deaths
	f.agents += o.agents
	f.agentDeaths += o.agentDeaths
	f.tasks += o.tasks
	f.moves += o.moves
	f.hooks += o.hooks
	f.performed += o.performed
	f.failures += o.failures
	f.replayed += o.replayed
	f.retold += o.retold
	f.ran += o.ran
	f.unclaimed += o.unclaimed
	f.lost += o.lost
	f.merges += o.merges
	f.waited += o.waited
	f.sentBack += o.sentBack
	f.story ^= o.story
}

func (f counts) String() string {
	return fmt.Sprintf("%d seeds, %d steps, %d programs of which %d died, %d agents of which %d died by "+
		"themselves, %d tasks, %d moves, %d hooks settled, %d performed, %d failures of the world, %d "+
		"decisions of %d tasks made again, %d programs of tasks of which %d in no certain environment, %d "+
		"ends of the terminal server, %d merges, %d starts of tasks that waited, %d tasks sent back (%x)",
		f.seeds, f.steps, f.programs, f.deaths, f.agents, f.agentDeaths, f.tasks, f.moves, f.hooks, f.performed,
		f.failures, f.replayed, f.retold, f.ran, f.unclaimed, f.lost, f.merges, f.waited, f.sentBack,
		f.story)
}

// setting is what all seeds share and none changes.
type setting struct {
	def      *workflow.Definition
	agents   map[string]*harness.Harness
	template []byte // an empty record
	guarded  bool   // every task is held for a fleet
}

func readSetting(t *testing.T) *setting {
	t.Helper()
	usual, err := workflow.ParseUsual("usual.yml", workflows.Usual)
	must(t, err)
	text, err := workflows.Files.ReadFile("default.yml")
	must(t, err)
	def, err := workflow.Parse("default.yml", withPrograms(t, text), usual)
	must(t, err)
	l := &setting{def: def, agents: map[string]*harness.Harness{}}
	for _, name := range []string{"claude", "codex"} {
		text := "name: " + name + "\nprogram: " + name + "\nworker:\n  command: [" + name +
			", \"{prompt}\"]\nreviewer:\n  command: [" + name + ", \"{prompt}\"]\n"
		l.agents[name], err = harness.Parse(name+".yml", []byte(text))
		must(t, err)
	}
	path := filepath.Join(t.TempDir(), "orange.db")
	store, err := sqlite.Open(t.Context(), path)
	must(t, err)
	must(t, store.Close())
	l.template, err = os.ReadFile(path)
	must(t, err)
	return l
}

// under is the same setting with another workflow.
func (c *setting) under(def *workflow.Definition) *setting {
	other := *c
	other.def = def
	return &other
}

// withPrograms is the default workflow with a check and with commands that hooks run: at the hand-over, and at the end.
func withPrograms(t *testing.T, text []byte) []byte {
	t.Helper()
	out := string(text)
	for _, change := range [][2]string{
		{"\nstates:\n", "\nchecks:\n  tests: {run: [make, test], timeout: 1m}\n\nstates:\n"},
		{"      - git: committed\n    hooks:\n", "      - git: committed\n      - check: tests\n    hooks:\n"},
		{"increment_review_round\n      - action: spawn_reviewer\n        prompt: reviewer\n\n  - from: working\n",
			"increment_review_round\n      - {action: run_command, run: [make, docs]}\n      - action: " +
				"spawn_reviewer\n        prompt: reviewer\n\n  - from: working\n"},
		{"    gate:\n      git: unmoved\n    hooks:\n",
			"    gate:\n      - git: unmoved\n      - check: tests\n    hooks:\n      - {action: run_command, " +
				"run: [make, news]}\n"},
	} {
		if strings.Count(out, change[0]) != 1 {
			t.Fatalf("the default workflow has %q %d times, expected once", change[0], strings.Count(out, change[0]))
		}
		out = strings.Replace(out, change[0], change[1], 1)
	}
	return []byte(out)
}

// givenSeed is the seed that the person who runs the tests has given.
func givenSeed(t *testing.T) (seed uint64, given bool) {
	t.Helper()
	text := os.Getenv("ORANGE_SEED")
	if text == "" {
		return 0, false
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	must(t, err)
	return seed, true
}

// runSeed runs one seed.
func runSeed(t *testing.T, of *setting, seed uint64) counts {
	t.Helper()
	return inWorld(t, of, seed, (*simulation).run).counts
}

// inWorld runs something in a world of its own, and reports what it found broken.
func inWorld(t *testing.T, of *setting, seed uint64, run func(s *simulation)) *simulation {
	t.Helper()
	dir := quickDir(t)
	path := filepath.Join(dir, "orange.db")
	must(t, os.WriteFile(path, of.template, 0o600))
	store, err := sqlite.Open(background, path)
	must(t, err)
	s := newSimulation(of, seed, dir, store)
	synctest.Test(t, func(*testing.T) { run(s) })
	must(t, store.Close())
	must(t, os.RemoveAll(dir))
	if s.failure != "" {
		last := slices.DeleteFunc(slices.Clone(s.trace), changesNothing)
		last = last[max(0, len(last)-50):]
		t.Errorf("seed %d: %s\n\nits last steps:\n%s\n\nsee it again: ORANGE_SEED=%d go test ./internal/engine "+
			"-run '%s' -v", seed, s.failure, strings.Join(last, "\n"), seed, t.Name())
	}
	return s
}

// changesNothing reports whether a line of the trace is about a step that changed nothing.
func changesNothing(line string) bool {
	_, what, _ := strings.Cut(line, "] ")
	for _, look := range []string{"reads ", "lists ", "looks ", "look at", "takes a lock", "writes the mirrors",
		"begins"} {
		if strings.HasPrefix(what, look) {
			return true
		}
	}
	return false
}

// quickDir is a folder for one seed, in memory where the system has such: a simulation waits for no disk.
func quickDir(t *testing.T) string {
	t.Helper()
	const memory = "/dev/shm"
	if _, err := os.Stat(memory); err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "orange-simulation-") //nolint:usetesting // t.TempDir is on a disk
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	return dir
}

func newSimulation(l *setting, seed uint64, dir string, store *sqlite.Store) *simulation {
	random := rand.New(rand.NewPCG(seed, 0x0ca5e))
	s := &simulation{
		setting: l, seed: seed, random: random, dir: dir, store: store, files: mirror.Files{Home: dir},
		prepared: map[string]string{}, pushed: map[string]bool{}, branches: map[string]*simBranch{},
		base:   map[string]bool{},
		seen:   newObserved(),
		server: server{kept: map[string]string{}}, environments: newEnvironmentClaims(),
		deathRate:   []float64{0, 0.001, 0.004, 0.015}[random.IntN(4)],
		failureRate: []float64{0, 0.02, 0.1, 0.3}[random.IntN(4)],
		patience:    []int{0, 45, 3000}[random.IntN(3)],
		stayRate:    []float64{0.3, 0.8, 0.95}[random.IntN(3)],
		maxBusy:     2 + random.IntN(4),
		maxTasks:    1 + random.IntN(3),
		actsLeft:    20 + random.IntN(30),
	}
	s.World = &simulate.World{
		Workflow: l.def, Record: store, Folders: s.files, Now: time.Now, Observer: s,
		Project: task.Project{Name: "garden", Path: "/nowhere", DefaultBranch: "main", PoolSize: 1 + random.IntN(3)},
	}
	s.audit = simulate.NewAudit(s.World, func(id, property, format string, args ...any) {
		s.breakf("[%s] %s: "+format, slices.Concat([]any{property, s.short(id)}, args)...)
	})
	s.counts.seeds = 1
	return s
}
