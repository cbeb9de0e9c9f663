package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"orange/internal/proof/explore"
	"orange/internal/rules/edition"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
	"orange/internal/store/home"
)

const endless = `name: own
version: 1
states:
  todo: {}
  here: {}
  done: {terminal: true}
transitions:
  - {from: todo, to: here}
  - {from: todo, to: done}
`

const excused = endless + "allow: {no-dead-end: it waits there for another place, terminating: the same}\n"

// counted is a home that counts how often a task is followed through a workflow, and keeps its news.
type counted struct {
	*home.Home
	looks  *atomic.Int32
	warned *[]string
	most   int
}

func newCounted(t *testing.T) counted {
	t.Helper()
	return counted{newHome(t), new(atomic.Int32), new([]string), explore.MostAtCreation}.again()
}

// again is another program at work in the same home.
func (c counted) again() counted {
	c.Home = &home.Home{
		Dir: c.Dir, Workflows: c.Workflows, Usual: c.Usual, Harnesses: c.Harnesses, Keeper: keeper{},
		Check: func(def *workflow.Definition, most int) explore.Report {
			c.looks.Add(1)
			return explore.Check(def, min(most, c.most))
		},
	}
	return c
}

func (c counted) wantLooks(t *testing.T, want int32) {
	t.Helper()
	if got := c.looks.Load(); got != want {
		t.Errorf("the workflow was followed %d times, want %d", got, want)
	}
}

func (c counted) take(t *testing.T, name string) *workflow.Definition {
	t.Helper()
	def, news, err := c.Named(t.Context(), name, task.Project{})
	*c.warned = append(*c.warned, news...)
	must(t, err)
	return def
}

func TestAWorkflow_withFindingsIsUsedWithOneWarningPerText(t *testing.T) {
	t.Parallel()
	h := newCounted(t)
	write(t, h.Home, "workflows/own.yml", endless)
	def, _, err := h.FindWorkflow("own")
	must(t, err)
	if passed, err := h.Passed(def); err != nil || len(passed) != 1 || len(*h.warned) > 0 { // no one creates a task
		t.Errorf("passed is %+v, %v, told was %q", passed, err, *h.warned)
	}
	for range 2 {
		h.take(t, "own")
	}
	h.again().take(t, "own")
	h.wantLooks(t, 1)
	want := []string{`the workflow "own" has 1 finding: orange workflow check own`}
	if !slices.Equal(*h.warned, want) {
		t.Errorf("told was %q, want %q", *h.warned, want)
	}
	write(t, h.Home, "workflows/own.yml", excused)
	h.take(t, "own")
	h.wantLooks(t, 2)
	if len(*h.warned) != 1 {
		t.Errorf("told was %q", *h.warned)
	}
}

// Who only tries a workflow leaves no trace, and takes no one's news.
func TestTried_keepsNothingAndNotesNothing(t *testing.T) {
	t.Parallel()
	h := newCounted(t)
	write(t, h.Home, "workflows/own.yml", endless)
	def, err := h.Tried("own", task.Project{})
	must(t, err)
	for _, path := range []string{h.KeptPath(def.Digest), h.ProvedPath(def.Digest)} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
	if h.take(t, "own"); len(*h.warned) != 1 {
		t.Errorf("told was %q, want the finding", *h.warned)
	}
	if _, err := h.Tried("none", task.Project{}); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
}

// Where the file, its project or the person's settings are strict.
func TestFindings_refuseAWorkflowWhereThatIsWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where, why    string
		text, setting string
		project       bool
	}{
		{where: "file", why: "strict: true in the file", text: endless + "strict: true\n", setting: "monitor: never\n"},
		{where: "project", why: "its project is strict", text: endless, setting: "strict: false\n", project: true},
		{where: "config.yml", why: "strict: true in config.yml", text: endless, setting: "strict: true\n"},
	} {
		t.Run(c.where, func(t *testing.T) {
			t.Parallel()
			h := newCounted(t)
			path := write(t, h.Home, "workflows/own.yml", c.text)
			write(t, h.Home, "config.yml", c.setting)
			def, _, err := h.FindWorkflow("own")
			must(t, err)
			for range 2 { // it stays so, however often it is asked for
				_, _, err := h.Named(t.Context(), "own", task.Project{Strict: c.project})
				if !errors.Is(err, task.ErrUsage) {
					t.Errorf("the error is of another kind: %v", err)
				}
				wantError(t, err, `cannot use the workflow "own": it has 1 finding (`+c.why+")\n")
				wantError(t, err, path+`:5:3: finding: nothing leads on from "here" [no-dead-end]`)
				wantError(t, err, "\n  2. A person asks for \"here\"")
				wantError(t, err, "\n  can happen: a task stays there until a person gives it up\n  to do: give it a")
				wantError(t, err, "allow: {no-dead-end: REASON")
				for _, v := range explore.Check(def, explore.Most).Failed() {
					wantError(t, err, v.Tell(path))
				}
			}
			if tried, err := h.again().Tried("own", task.Project{Strict: c.project}); !errors.Is(err, task.ErrUsage) {
				t.Errorf("tried, it is %+v, %v", tried, err)
			}
			if _, err := os.Stat(h.KeptPath(def.Digest)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the text was kept: %v", err)
			}
			if len(*h.warned) > 0 {
				t.Errorf("told was %q", *h.warned)
			}
		})
	}
}

func TestAWorkflow_isProvedOnceForEachText(t *testing.T) {
	t.Parallel()
	h := newCounted(t)
	write(t, h.Home, "workflows/own.yml", excused)
	def := h.take(t, "own")
	note := h.ProvedPath(def.Digest)
	first, err := os.Stat(note)
	must(t, err)
	h.take(t, "own")
	h.again().take(t, "own")
	h.wantLooks(t, 1)
	if again, err := os.Stat(note); err != nil || !os.SameFile(first, again) {
		t.Errorf("the note was written a second time: %v", err)
	}
	write(t, h.Home, "workflows/own.yml", excused+"# another text\n")
	if h.take(t, "own").Digest == def.Digest {
		t.Error("the digest is the same")
	}
	h.wantLooks(t, 2)
}

func TestANote_thatIsCutShortOrOfAnotherEditionIsNone(t *testing.T) {
	t.Parallel()
	for _, wrong := range []func(string) string{
		func(string) string { return "" },
		func(s string) string { return s[:len(s)-1] },
		func(s string) string { return s[:len(s)/2] },
		func(s string) string { return s + s },
		func(s string) string {
			return strings.Replace(s, edition.Rules, "0123456789ab", 1)
		},
		func(s string) string { return strings.Replace(s, `"digest": "`, `"digest": "0`, 1) },
		func(s string) string { return strings.Replace(s, "passed", "\x00\x00\x00\x00\x00\x00", 1) },
	} {
		h := newCounted(t)
		write(t, h.Home, "workflows/own.yml", excused)
		note := h.ProvedPath(h.take(t, "own").Digest)
		right, err := os.ReadFile(note)
		must(t, err)
		must(t, os.WriteFile(note, []byte(wrong(string(right))), 0o600))
		h.again().take(t, "own")
		h.wantLooks(t, 2)
		if now, err := os.ReadFile(note); err != nil || string(now) != string(right) {
			t.Errorf("the note is %q, %v, want %q", now, err, right)
		}
		h.again().take(t, "own")
		h.wantLooks(t, 2)
	}
}

func TestANote_thatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	h := newCounted(t)
	write(t, h.Home, "workflows/own.yml", excused)
	def, _, err := h.FindWorkflow("own")
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(h.ProvedPath(def.Digest), "x"), 0o755))
	_, _, err = h.Named(t.Context(), "own", task.Project{})
	wantError(t, err, "check whether the workflow was proved")
	h.wantLooks(t, 0)
}

func TestAShippedWorkflowsText_isNeverProvedAgain(t *testing.T) {
	t.Parallel()
	h := newCounted(t)
	for _, name := range []string{"default", "classic", "minimal", "build", "phases"} {
		h.take(t, name)
	}
	write(t, h.Home, "workflows/default.yml", shipped(t)) // a copy, with nothing changed yet
	h.take(t, "default")
	h.wantLooks(t, 0)
	write(t, h.Home, "workflows/default.yml", shipped(t)+"# mine\n")
	h.take(t, "default")
	h.wantLooks(t, 1)
}

func TestTwoAtOnce_bothHaveTheWorkflowProved(t *testing.T) {
	t.Parallel()
	h := newCounted(t)
	write(t, h.Home, "workflows/own.yml", excused)
	var both sync.WaitGroup
	for range 8 {
		both.Go(func() {
			if _, _, err := h.again().Named(t.Context(), "own", task.Project{}); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	looks := h.looks.Load() // each that came before the first note
	h.again().take(t, "own")
	h.wantLooks(t, looks)
	left, err := filepath.Glob(filepath.Join(h.Dir, "workflows", ".kept", ".*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind are %q", left)
	}
}

func TestAWorkflow_tooLargeToProveWarnsAndIsTriedOnce(t *testing.T) {
	t.Parallel()
	h := newCounted(t)
	h.most = 50
	h = h.again()
	write(t, h.Home, "workflows/default.yml", shipped(t)+"# mine\n")
	for range 3 { // a migration asks for each of its tasks
		h.take(t, "default")
	}
	h.again().take(t, "default")
	h.wantLooks(t, 1)
	if said := *h.warned; len(said) != 2 || said[0] != said[1] ||
		!strings.Contains(said[0], `the workflow "default" is not proved`) ||
		!strings.Contains(said[0], `"orange workflow check default"`) {
		t.Errorf("warned of %q", said)
	}
	// It has the findings of what it has followed.
	write(t, h.Home, "workflows/default.yml", strings.ReplaceAll(shipped(t), "- action: release_workspace",
		"- {action: notify, via: desktop, message: over}"))
	_, _, err := h.Named(t.Context(), "default", task.Project{Strict: true})
	wantError(t, err, "with its workspace, which no other task can get then [workspace]")
}
