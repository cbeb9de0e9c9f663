package home_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"orange/harnesses"
	"orange/internal/rules/task"
	"orange/internal/store/home"
	"orange/workflows"
)

// keeper keeps workflows in memory.
type keeper map[string][]byte

func (k keeper) SaveWorkflow(_ context.Context, ref task.WorkflowRef, text []byte) error {
	k[ref.Digest] = text
	return nil
}

func (k keeper) Workflow(_ context.Context, digest string) ([]byte, error) {
	text, kept := k[digest]
	if !kept {
		return nil, task.ErrNotFound
	}
	return text, nil
}

func newHome(t *testing.T) *home.Home {
	t.Helper()
	dir := t.TempDir()
	return &home.Home{
		Dir: dir, Workflows: workflows.Files, Usual: workflows.Usual, Harnesses: harnesses.Files,
		Keeper: keeper{},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is %v, want one that says %q", err, says)
	}
}

func write(t *testing.T, h *home.Home, name, text string) string {
	t.Helper()
	path := filepath.Join(h.Dir, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func shipped(t *testing.T) string {
	t.Helper()
	text, err := fs.ReadFile(workflows.Files, "default.yml")
	must(t, err)
	return string(text)
}

func TestProjects_areReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if all, err := h.Projects(); err != nil || len(all) != 0 {
		t.Errorf("before the first: %v, %v", all, err)
	}
	zoo := task.Project{Name: "zoo ünï \"x\"", Path: "/a b", DefaultBranch: "main", PoolSize: 3, Workflow: "mine",
		Timeouts: map[string]string{"dig": "6h", "rest": "none"}}
	must(t, h.AddProject(t.Context(), zoo))
	must(t, h.AddProject(t.Context(), task.Project{Name: "ant", Path: "/c", DefaultBranch: "trunk"}))
	must(t, h.AddProject(t.Context(), zoo)) // again is no error
	all, err := h.Projects()
	must(t, err)
	want := []task.Project{{Name: "ant", Path: "/c", DefaultBranch: "trunk", PoolSize: task.DefaultPoolSize}, zoo}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("the projects are %+v, want %+v", all, want)
	}
	zoo.PoolSize = 9
	must(t, h.UpdateProject(t.Context(), zoo))
	if got, err := h.Project(zoo.Name); err != nil || !reflect.DeepEqual(got, zoo) {
		t.Errorf("the project is %+v, %v", got, err)
	}
	for _, name := range []string{"ant", zoo.Name} {
		must(t, h.RemoveProject(t.Context(), name))
	}
	if all, err := h.Projects(); err != nil || len(all) != 0 {
		t.Errorf("after the last: %v, %v", all, err)
	}
}

// The keys of the file are those that people and other programs write.
func TestProjects_haveTheKeysThatPeopleWrite(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	write(t, h, "projects.json",
		`[{"name": "coffee", "path": "/w/coffee", "default_branch": "trunk", "pool_size": 3, "workflow": "minimal"}]`)
	all, err := h.Projects()
	must(t, err)
	if want := []task.Project{
		{Name: "coffee", Path: "/w/coffee", DefaultBranch: "trunk", PoolSize: 3,
			Workflow: "minimal"}}; !reflect.DeepEqual(all, want) {
		t.Errorf("the projects are %+v, want %+v", all, want)
	}
}

func TestProjects_ofUnknownNamesAreNotFound(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	_, err := h.Project("nobody")
	for _, err := range []error{err, h.UpdateProject(t.Context(), task.Project{Name: "nobody"}),
		h.RemoveProject(t.Context(), "nobody")} {
		if !errors.Is(err, task.ErrNotFound) {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestAddProject_refusesNamesAndPathsThatAreTaken(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	must(t, h.AddProject(t.Context(), task.Project{Name: "ant", Path: "/a"}))
	tests := map[string]task.Project{
		"belongs to":      {Name: "ant", Path: "/b"},
		`belongs to "/a"`: {Name: "ANT", Path: "/b"}, // the same folder name on some file systems
		"registered as":   {Name: "bee", Path: "/a"},
		"dash or a dot":   {Name: "-bee", Path: "/c"},
	}
	for says, p := range tests {
		err := h.AddProject(t.Context(), p)
		wantError(t, err, says)
		if !errors.Is(err, task.ErrUsage) {
			t.Errorf("%+v: the error is of another kind: %v", p, err)
		}
	}
	if all, err := h.Projects(); err != nil || len(all) != 1 {
		t.Errorf("the projects are %v, %v", all, err)
	}
}

func TestChangeProjects_byManyAtOnceLosesNobody(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := h.AddProject(t.Context(), task.Project{
				Name: fmt.Sprint("p", i), Path: fmt.Sprint("/", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := h.Projects(); err != nil || len(got) != 8 {
		t.Errorf("%d projects are there, %v", len(got), err)
	}
}

func TestProjects_ofABrokenFileAreAnErrorAndTheFileStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", "{}", `[{"name":1}]`, "\x00\xff"} {
		h := newHome(t)
		path := write(t, h, "projects.json", text)
		_, err := h.Projects()
		wantError(t, err, "projects.json")
		wantError(t, err, "correct the file")
		if err := h.AddProject(t.Context(), task.Project{Name: "ant", Path: "/a"}); err == nil {
			t.Errorf("%q: a project was added", text)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("the file is %q, %v", got, err)
		}
	}
}

func TestCheckName_takesOnlyWhatCanBePartOfAFolderName(t *testing.T) {
	t.Parallel()
	good := []string{"a", "garden", "my garden", "ünï", "v1.2", "a--b", "x:y", "a\\b", strings.Repeat("x", 100)}
	bad := []string{"", " ", " a", "a ", "\ta", ".", "..", ".git", "-x", "a/b", "/", "a\nb", "a\x00b", "a\x7fb",
		"\xff", strings.Repeat("x", 101)}
	for _, name := range good {
		if err := home.CheckName(name); err != nil {
			t.Errorf("%q is refused: %v", name, err)
		}
	}
	for _, name := range bad {
		if err := home.CheckName(name); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestAWorkflowOfTheUsers_hidesTheOneThatShips(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	_, before, err := h.FindWorkflow("default")
	must(t, err)
	own := write(t, h, "workflows/default.yml", strings.Replace(shipped(t), "version: 7", "version: 8", 1))
	write(t, h, "workflows/mine.yml", strings.Replace(shipped(t), "name: default", "name: mine", 1))
	write(t, h, "workflows/.draft.yml", "broken: [")
	write(t, h, "workflows/notes.txt", "broken: [")
	def, after, err := h.FindWorkflow("default")
	must(t, err)
	if before.Hides || before.Source != "built in" || !after.Hides || after.Source != own || def.Version != 8 {
		t.Errorf("before %v %q, after %v %q, version %d", before.Hides, before.Source, after.Hides, after.Source,
			def.Version)
	}
	all, err := h.ListWorkflows()
	must(t, err)
	var names []string
	for _, one := range all {
		names = append(names, one.Name)
		if one.Hides != (one.Name == "default") {
			t.Errorf("%s hides one that ships: %v", one.Name, one.Hides)
		}
	}
	if want := []string{"build", "classic", "default", "mine", "minimal", "phases"}; !slices.Equal(names, want) {
		t.Errorf("listed are %q, want %q", names, want)
	}
	_, _, err = h.FindWorkflow("defaul")
	wantError(t, err, "default")
	if !errors.Is(err, task.ErrNotFound) {
		t.Errorf("the error is of another kind: %v", err)
	}
}

func TestPinned_isTheWorkflowOfTheTasksBirth(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := write(t, h, "workflows/default.yml", strings.Replace(shipped(t), "version: 7", "version: 8", 1))
	born, _, err := h.Named(t.Context(), "default", task.Project{})
	must(t, err)
	must(t, os.WriteFile(path, []byte("broken: ["), 0o644))
	if _, _, err := h.Named(t.Context(), "default", task.Project{}); err == nil {
		t.Error("a broken workflow was taken")
	}
	def, err := h.Pinned(t.Context(), task.WorkflowRef{Name: born.Name, Version: born.Version, Digest: born.Digest})
	must(t, err)
	if def.Version != 8 || def.Digest != born.Digest {
		t.Errorf("the pinned workflow has version %d and digest %s", def.Version, def.Digest)
	}
	_, err = h.Pinned(t.Context(), task.WorkflowRef{Digest: "unknown"})
	if !errors.Is(err, task.ErrNotFound) {
		t.Errorf("the error is %v", err)
	}
}

func TestAHarnessOfTheUsers_hidesTheOneThatShips(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	write(t, h, "harnesses/claude.yml", "name: claude\nworker:\n  command: [my-claude, \"{prompt}\"]\n")
	write(t, h, "harnesses/broken.yml", "name: broken\n")
	write(t, h, "harnesses/other.yml", "name: misnamed\nworker:\n  command: [x]\n")
	own, err := h.Harness("claude")
	must(t, err)
	if own.Program != "my-claude" {
		t.Errorf("the program is %q", own.Program)
	}
	_, err = h.Harness("broken")
	wantError(t, err, "broken.yml:1:")
	_, err = h.Harness("claud")
	wantError(t, err, "claude")
	_, err = h.Harness("other")
	wantError(t, err, `found the name "misnamed", expected "other"`)
}

func TestEveryHarnessThatShips_canBeRead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "pi"} {
		_, err := newHome(t).Harness(name)
		must(t, err)
	}
}

func TestConfig_mayLeaveOutAnything(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want home.Config
	}{
		"no file":   {"", home.Config{}},
		"one value": {"harness: codex\n", home.Config{Harness: "codex"}},
		"all values": {"tmux_config: /t\nreview_harness: pi\nharness: codex\n", home.Config{
			Harness: "codex", ReviewHarness: "pi", TmuxConfig: "/t"}},
		"what the monitor does": {"notify: [tell, \"{message}\"]\nstalled_after: 1h30m\n", home.Config{
			Notify: []string{"tell", "{message}"}, StalledAfter: 90 * time.Minute,
		}},
		"what the dashboard leaves out": {"signals: {bell: false, title: true}\n", home.Config{
			Quiet: home.Quiet{Bell: true}}},
		"what only the dashboard reads, whatever it is": {
			"harness: codex\nkeys: {nothing: 7}\ntheme: dark\n", home.Config{Harness: "codex"}},
	}
	for name, tt := range tests {
		h := newHome(t)
		if tt.text != "" {
			write(t, h, "config.yml", tt.text)
		}
		if got, err := h.Config(); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestConfigText_isTheFileOrNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if name, text, err := h.ConfigText(); name != "config.yml" || len(text) != 0 || err != nil {
		t.Errorf("without a file: %q, %q, %v", name, text, err)
	}
	write(t, h, "config.yml", "keys: {}\n")
	if _, text, err := h.ConfigText(); string(text) != "keys: {}\n" || err != nil {
		t.Errorf("with a file: %q, %v", text, err)
	}
}

func TestConfig_thatIsWrongIsAnErrorWithItsPlace(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"harness: codex\nharnes: pi\n": "config.yml:2:1", "harness: [a]\n": "config.yml:1:10",
		"stalled_after: soon\n": "config.yml:1:16", "a: b: c\n": "config.yml:1", "- x\n": "config.yml:1:1",
		"signals: {bell: loud}\n": "config.yml:1:17", "signals: {bel: false}\n": "config.yml:1:11",
	}
	for text, says := range tests {
		h := newHome(t)
		write(t, h, "config.yml", text)
		_, err := h.Config()
		wantError(t, err, says)
	}
}

func TestFilesThatShip_mayBeAnyFileSystem(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.Workflows = fstest.MapFS{
		"one.yml": {Data: []byte(strings.Replace(shipped(t), "name: default", "name: one", 1))}, "readme.md": {}}
	all, err := h.ListWorkflows()
	must(t, err)
	if len(all) != 1 || all[0].Name != "one" {
		t.Errorf("listed are %+v", all)
	}
}

func TestLastView_isWhatWasKept(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if words, err := h.LastView("coffee"); words != "" || err != nil {
		t.Errorf("before the first: %q, %v", words, err)
	}
	must(t, h.KeepView("coffee", "board all name"))
	must(t, h.KeepView("", "list done newest"))
	for project, want := range map[string]string{"coffee": "board all name", "": "list done newest", "tea": ""} {
		if words, err := h.LastView(project); words != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", project, words, err, want)
		}
	}
	write(t, h, "views.json", "[broken")
	if words, err := h.LastView("coffee"); words != "" || err != nil {
		t.Errorf("a broken file: %q, %v", words, err)
	}
}

// Document 002: copy default.yml, change it, and save it as custom.yml.
func TestAFileThatWasCopied_isCheckedAsItIsUsed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := write(t, h, "workflows/custom.yml", shipped(t))
	_, _, used := h.Named(t.Context(), "custom", task.Project{})
	_, byName := h.CheckWorkflow("custom")
	_, byPath := h.CheckWorkflow(path)
	for _, err := range []error{used, byName, byPath} {
		wantError(t, err, `found "default" as the name in the file "custom.yml", expected "custom"`)
		wantError(t, err, `write "name: custom", or leave the line out`)
	}
	write(t, h, "workflows/custom.yml", strings.Replace(shipped(t), "name: default\n", "", 1))
	def, _, err := h.Named(t.Context(), "custom", task.Project{})
	must(t, err)
	pinned, err := h.Pinned(t.Context(), task.WorkflowRef{Name: "custom", Version: def.Version, Digest: def.Digest})
	must(t, err)
	_, err = h.CheckWorkflow(path)
	must(t, err)
	if def.Name != "custom" || pinned.Name != "custom" {
		t.Errorf("it is called %q and %q", def.Name, pinned.Name)
	}
	outside := filepath.Join(t.TempDir(), "other.yml") // which has another name until it is put there
	must(t, os.WriteFile(outside, []byte(shipped(t)), 0o600))
	_, err = h.CheckWorkflow(outside)
	must(t, err)
}

// Defect: agents work in other folders than the person, and each of them made a second home inside its worktree.
func TestLocate_isOneNameWhicheverLinksLeadThere(t *testing.T) {
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Symlink(real, link), os.Mkdir(filepath.Join(real, "orange"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{"orange": "orange", "none": "none", "none/yet": "none/yet"} {
		t.Setenv("ORANGE_HOME", filepath.Join(link, given))
		if dir, err := home.Locate(os.Getenv); err != nil || dir != filepath.Join(real, want) {
			t.Errorf("%q: found %q, %v", given, dir, err)
		}
	}
	t.Setenv("ORANGE_HOME", "")
	t.Setenv("HOME", link)
	if dir, err := home.Locate(os.Getenv); err != nil || dir != filepath.Join(real, "orange") {
		t.Errorf("below the user's home: found %q, %v", dir, err)
	}
}

func TestLocate_refusesAPathThatIsNotFromTheRoot(t *testing.T) {
	for given, want := range map[string]string{"/a/../b": "/b", "home": "", "./home": ""} {
		t.Setenv("ORANGE_HOME", given)
		dir, err := home.Locate(os.Getenv)
		if dir != want || (err == nil) != (want != "") {
			t.Errorf("%q: found %q, %v", given, dir, err)
		}
	}
}
