package explore_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orange/internal/proof/explore"
)

// size is the size of a chain: how many states and counters it has, and the bound of each counter.
type size struct{ states, counters, bound int }

// row is a line of testdata/chains.txt: what is the same on every machine, and what was measured on one. The manual has
// some of them.
type row struct {
	size
	configurations  string // or "not proved"
	creation        string // the same at the creation of a task
	seconds, memory string
}

func (r row) String() string {
	return fmt.Sprintf("| %d | %d | %d | %s | %s | %s | %s |", r.states, r.counters, r.bound, r.configurations,
		r.creation, r.seconds, r.memory)
}

func sizes() []size {
	var out []size
	for _, states := range []int{10, 20, 40, 80} {
		for counters := 1; counters <= 4; counters++ {
			for _, bound := range []int{3, 5} {
				out = append(out, size{states, counters, bound})
			}
		}
	}
	return out
}

// comesTo is the result of the check of a chain.
func (s size) comesTo(t testing.TB, most int) string {
	t.Helper()
	r := explore.Check(parseText(t, chain(s.states, s.counters, s.bound)), most)
	if !r.Proved() {
		return "not proved"
	}
	return strconv.Itoa(r.Configurations)
}

// chainRow finds a row of a table of chains.
var chainRow = regexp.MustCompile(
	`(?m)^\| (\d+) \| (\d+) \| (\d+) \| (\d+|not proved) \| (proved|not proved) \| ([\d.]+ s) \| (\d+ MB) \|$`)

func chainRows(t *testing.T, path string) []row {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for _, m := range chainRow.FindAllStringSubmatch(string(text), -1) {
		var r row
		for i, n := range []*int{&r.states, &r.counters, &r.bound} {
			if *n, err = strconv.Atoi(m[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		r.configurations, r.creation, r.seconds, r.memory = m[4], m[5], m[6], m[7]
		out = append(out, r)
	}
	return out
}

// ORANGE_TEST_LONG=1 also compares what takes long. The test does not compare time and memory: see below.
func TestTheManualHasTheConfigurationsOfChains(t *testing.T) {
	t.Parallel()
	quick := 3000 // configurations
	if testing.Short() {
		quick = 500
	}
	rows := chainRows(t, "testdata/chains.txt")
	shown := chainRows(t, "../../../docs/properties.md")
	for _, r := range shown {
		if !slices.Contains(rows, r) {
			t.Errorf("the manual has the row %s, and testdata/chains.txt has not", r)
		}
	}
	var found []size
	for _, r := range rows {
		found = append(found, r.size)
	}
	if len(shown) == 0 || !slices.Equal(found, sizes()) {
		t.Fatalf("testdata/chains.txt has the chains %v, want %v", found, sizes())
	}
	for _, r := range rows {
		n, err := strconv.Atoi(r.configurations)
		if long := err != nil || n > quick; long && os.Getenv("ORANGE_TEST_LONG") == "" {
			continue
		}
		if got := r.comesTo(t, explore.Most); got != r.configurations {
			t.Errorf(
				"a chain of %+v comes to %s, and the table says %s: write it again, as TestChainsTable says",
				r.size, got, r.configurations)
		}
		if got := r.comesTo(t, explore.MostAtCreation); (got == "not proved") != (r.creation == "not proved") {
			t.Errorf("at a creation a chain of %+v comes to %s, and the table says %s", r.size, got, r.creation)
		}
	}
}

// TestChainsTable measures and prints the table:
// ORANGE_TEST_TABLE=1 go test ./internal/proof/explore -run TestChainsTable -v
// Each chain has a program of its own, three times; the table has the shortest of the times and the largest of the
// sizes in memory. The time is processor time, which other users of the machine do not make much longer.
func TestChainsTable(t *testing.T) {
	if os.Getenv("ORANGE_TEST_TABLE") == "" {
		t.Skip("it measures: ORANGE_TEST_TABLE=1")
	}
	if text := os.Getenv("ORANGE_TEST_CHAIN"); text != "" {
		var s size
		var most int
		if _, err := fmt.Sscan(text, &s.states, &s.counters, &s.bound, &most); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("found %s\n", strings.ReplaceAll(s.comesTo(t, most), " ", "_"))
		return
	}
	for _, s := range sizes() { // this program checks nothing: its memory would count for the others
		r := row{size: s, creation: "proved"}
		if found, _, _ := s.measured(t, explore.MostAtCreation); found == "not_proved" {
			r.creation = "not proved"
		}
		var times []time.Duration
		var memory []int64
		for range 3 {
			found, took, kept := s.measured(t, explore.Most)
			r.configurations, times, memory = strings.ReplaceAll(found, "_", " "), append(times, took),
				append(memory, kept)
		}
		r.seconds, r.memory = fmt.Sprintf("%.1f s", max(0.1, slices.Min(times).Seconds())),
			fmt.Sprintf("%d MB", (slices.Max(memory)>>20+5)/10*10)
		fmt.Println(r)
	}
}

// measured checks a chain in a program of its own.
func (s size) measured(t *testing.T, most int) (found string, took time.Duration, bytes int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self, "-test.run=^TestChainsTable$")
	command.Env = append(os.Environ(), fmt.Sprintf("ORANGE_TEST_CHAIN=%d %d %d %d", s.states, s.counters, s.bound,
		most))
	said, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if _, err := fmt.Sscanf(string(said), "found %s", &found); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	usage, known := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !known {
		t.Fatal("this system does not say how much memory a program took")
	}
	if bytes = usage.Maxrss; runtime.GOOS != "darwin" {
		bytes *= 1024
	}
	return found, command.ProcessState.UserTime() + command.ProcessState.SystemTime(), bytes
}
