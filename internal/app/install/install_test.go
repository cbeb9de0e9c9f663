package install_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"orange/internal/app/install"
	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// programs are the harnesses of a test; those with a dot before the name are not on PATH.
type programs map[string]harness.Harness

func (p programs) ListHarnesses(string) ([]harness.Choice, error) {
	var out []harness.Choice
	for name := range p {
		choice := harness.Choice{Name: strings.TrimPrefix(name, ".")}
		if choice.Name == name {
			choice.Path = "/bin/" + name
		}
		out = append(out, choice)
	}
	slices.SortFunc(out, func(a, b harness.Choice) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (p programs) Harness(name string) (*harness.Harness, error) {
	h, ok := p[name]
	if !ok {
		h = p["."+name]
	}
	h.Name = name
	return &h, nil
}

// world is a home of a person in which skills are installed.
type world struct {
	t      *testing.T
	person string
	skills install.Skills
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, person: t.TempDir()}
	t.Setenv("HOME", w.person)
	w.skills = install.Skills{Home: t.TempDir(), Getenv: os.Getenv, Harnesses: programs{
		"claude": {Skills: ".claude/skills", ProjectSkills: ".claude/skills"},
		"amp":    {Skills: ".config/agents/skills", ProjectSkills: ".agents/skills"},
		"codex":  {Skills: ".codex/skills", ProjectSkills: ".agents/skills"},
		".pi":    {Skills: ".pi/agent/skills"},
		"aider":  {},
	}}
	w.ship("first")
	return w
}

// ship makes another version of the skills.
func (w *world) ship(text string) {
	w.skills.Files = fstest.MapFS{"orange-worker/SKILL.md": {Data: []byte(text)}}
}

func (w *world) install(wanted harness.SkillsWanted) (states, notes string) {
	w.t.Helper()
	plan, err := w.skills.Plan(w.t.Context(), wanted)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.skills.Install(w.t.Context(), wanted, plan); err != nil {
		w.t.Fatal(err)
	}
	return w.states(plan.Files), strings.Join(plan.Notes, "\n")
}

func (w *world) states(files []harness.SkillFile) string {
	var out []string
	for _, one := range files {
		out = append(out, one.State+" "+strings.TrimPrefix(one.Path, w.person+"/"))
	}
	return strings.Join(out, "\n")
}

func (w *world) uninstall() string {
	w.t.Helper()
	done, err := w.skills.Uninstall(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return w.states(done)
}

func (w *world) path(harness string) string {
	return filepath.Join(w.person, harness, "skills/orange-worker/SKILL.md")
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		w.t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

func TestInstall_writesIntoTheFolderOfEveryProgramOnPATH(t *testing.T) {
	w := newWorld(t)
	states, notes := w.install(harness.SkillsWanted{})
	want := "new .config/agents/skills/orange-worker/SKILL.md\nnew .claude/skills/orange-worker/SKILL.md\n" +
		"new .codex/skills/orange-worker/SKILL.md"
	if states != want || notes != `aider is left out: its harness file has no "skills"` {
		t.Errorf("found\n%s\n%s", states, notes)
	}
	if got := read(t, w.path(".claude")); got != "first" {
		t.Errorf("wrote %q", got)
	}
	if again, _ := w.install(harness.SkillsWanted{}); again != strings.ReplaceAll(want, "new ", "same ") {
		t.Errorf("the second time it found\n%s", again)
	}
}

func TestInstall_takesANamedProgramEvenWhereItIsMissing(t *testing.T) {
	w := newWorld(t)
	if states, _ := w.install(harness.SkillsWanted{Harness: "pi"}); states !=
		"new .pi/agent/skills/orange-worker/SKILL.md" {
		t.Errorf("found\n%s", states)
	}
	for name, want := range map[string]error{"aider": task.ErrUsage, "nothing": task.ErrNotFound} {
		if _, err := w.skills.Plan(t.Context(), harness.SkillsWanted{Harness: name}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

func TestInstall_replacesItsOwnTextAndNoOneElses(t *testing.T) {
	w := newWorld(t)
	w.write(w.path(".codex"), "mine")
	w.install(harness.SkillsWanted{})
	w.ship("second")
	states, _ := w.install(harness.SkillsWanted{Harness: "claude"})
	if got := read(t, w.path(".claude")); states != "changed .claude/skills/orange-worker/SKILL.md" || got != "second" {
		t.Errorf("found %q, and now there is %q", states, got)
	}
	w.write(w.path(".claude"), "second, and a line of mine")
	w.ship("third")
	if states, _ := w.install(harness.SkillsWanted{Harness: "claude"}); !strings.HasPrefix(states, "yours ") {
		t.Errorf("found %q", states)
	}
	if states, _ := w.install(harness.SkillsWanted{Harness: "codex"}); !strings.HasPrefix(states, "yours ") {
		t.Errorf("found %q", states)
	}
	if a, b := read(t, w.path(".claude")), read(t, w.path(".codex")); a != "second, and a line of mine" || b != "mine" {
		t.Errorf("now there are %q and %q", a, b)
	}
}

func TestInstall_leavesALinkAndWhatWasNotShown(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.person, "elsewhere"), "first")
	w.write(filepath.Join(filepath.Dir(w.path(".claude")), "other"), "")
	if err := os.Symlink(filepath.Join(w.person, "elsewhere"), w.path(".claude")); err != nil {
		t.Fatal(err)
	}
	if states, _ := w.install(harness.SkillsWanted{Harness: "claude"}); !strings.HasPrefix(states, "yours ") {
		t.Errorf("found %q", states)
	}
	done, err := w.skills.Install(t.Context(), harness.SkillsWanted{Harness: "codex"}, harness.SkillPlan{})
	if err != nil || len(done) > 0 || read(t, w.path(".codex")) != "" {
		t.Errorf("wrote %v, %v", done, err)
	}
}

func TestUninstall_removesWhatIsUnchangedAndTheFoldersThatWereMade(t *testing.T) {
	w := newWorld(t)
	if err := os.Mkdir(filepath.Join(w.person, ".codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.install(harness.SkillsWanted{})
	w.ship("second")
	w.install(harness.SkillsWanted{Harness: "codex"})
	w.write(w.path(".config/agents"), "mine now")
	there, err := w.skills.Installed(t.Context())
	if err != nil || len(there) != 3 || there[0].State != harness.SkillYours {
		t.Errorf("installed are %+v, %v", there, err)
	}
	if done := w.uninstall(); strings.Count(done, "remove ") != 2 {
		t.Errorf("removed\n%s", done)
	}
	if read(t, w.path(".config/agents")) != "mine now" {
		t.Error("what the person changed is gone")
	}
	for name, stays := range map[string]bool{".claude": false, ".codex": true, ".codex/skills": false} {
		if _, err := os.Stat(filepath.Join(w.person, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	if again := w.uninstall(); again != "" {
		t.Errorf("the second time it removed\n%s", again)
	}
}

func TestInstall_thatWasKilledBeforeItWroteIsDoneAgain(t *testing.T) {
	w := newWorld(t)
	w.install(harness.SkillsWanted{Harness: "claude"})
	if err := os.Remove(w.path(".claude")); err != nil { // the list has it, and it is not there
		t.Fatal(err)
	}
	if there, err := w.skills.Installed(t.Context()); err != nil || len(there) > 0 {
		t.Errorf("installed are %+v, %v", there, err)
	}
	if states, _ := w.install(harness.SkillsWanted{Harness: "claude"}); !strings.HasPrefix(states, "new ") {
		t.Errorf("found %q", states)
	}
}

func TestABrokenListIsAnErrorThatNamesItAndChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.skills.Home, "installed.json"), "{")
	_, planned := w.skills.Plan(t.Context(), harness.SkillsWanted{})
	_, removed := w.skills.Uninstall(t.Context())
	for _, err := range []error{planned, removed} {
		if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), "installed.json") {
			t.Errorf("found %v", err)
		}
	}
	if read(t, filepath.Join(w.skills.Home, "installed.json")) != "{" {
		t.Error("the list was written over")
	}
}

// checkout makes a repository with one commit.
func (w *world) checkout() string {
	w.t.Helper()
	dir := filepath.Join(w.person, "coffee")
	w.write(filepath.Join(dir, "README"), "coffee")
	w.git(dir, "init", "-q")
	w.git(dir, "add", "README")
	w.git(dir, "-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "begin")
	return dir
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	res, err := proc.Run(w.t.Context(), proc.Command{Name: "git", Args: args, Dir: dir})
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(string(res.Stdout))
}

func TestInstall_intoAProjectIsIgnoredByGitAndUndone(t *testing.T) {
	w := newWorld(t)
	dir := w.checkout()
	exclude := filepath.Join(dir, ".git/info/exclude")
	before := read(t, exclude) + "/of-the-person"
	w.write(exclude, before)
	states, notes := w.install(harness.SkillsWanted{Project: dir})
	if strings.Count(states, "new ") != 2 || strings.Count(notes, "git will ignore the skills in ") != 2 {
		t.Errorf("found\n%s\n%s", states, notes) // amp and codex share a folder
	}
	if got := w.git(dir, "status", "--porcelain", "--untracked-files=all"); got != "" {
		t.Errorf("git shows\n%s", got)
	}
	w.uninstall()
	if after := read(t, exclude); after != before+"\n" {
		t.Errorf("git ignores\n%s", after)
	}
	if _, err := os.Stat(filepath.Join(dir, ".claude")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder is left: %v", err)
	}
}

func TestInstall_intoATrackedFolderLeavesTheCommitToThePerson(t *testing.T) {
	w := newWorld(t)
	dir := w.checkout()
	w.write(filepath.Join(dir, ".claude/skills/own/SKILL.md"), "own")
	w.git(dir, "add", ".claude")
	_, notes := w.install(harness.SkillsWanted{Project: dir, Harness: "claude"})
	if !strings.Contains(notes, "git tracks .claude/skills") {
		t.Errorf("it says %q", notes)
	}
	if got := w.git(dir, "status", "--porcelain", "--untracked-files=all"); !strings.Contains(got, "orange-worker") {
		t.Errorf("git shows\n%s", got)
	}
}

func TestInstall_neverLeavesAProject(t *testing.T) {
	w := newWorld(t)
	dir := w.checkout()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, ".claude")); err != nil {
		t.Fatal(err)
	}
	_, err := w.skills.Plan(t.Context(), harness.SkillsWanted{Project: dir, Harness: "claude"})
	if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), "outside of the project") {
		t.Errorf("found %v", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, ".claude")),
		os.MkdirAll(filepath.Join(dir, ".claude/skills"), 0o755),
		os.Symlink(t.TempDir(), filepath.Join(dir, ".claude/skills/orange-worker"))); err != nil {
		t.Fatal(err)
	}
	_, err = w.skills.Plan(t.Context(), harness.SkillsWanted{Project: dir, Harness: "claude"})
	if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), "outside of the project") {
		t.Errorf("a skill's own folder: %v", err)
	}
	bare := t.TempDir()
	w.git(bare, "init", "-q", "--bare")
	_, err = w.skills.Plan(t.Context(), harness.SkillsWanted{Project: bare})
	if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), "without --project") {
		t.Errorf("a repository without a checkout: %v", err)
	}
}

// A folder of dotfiles that is not mounted, and a file where a skill's folder was.
func TestAnObstacleStopsOneProgramOnlyAndStaysAsItIs(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(w.person, ".claude")
	if err := os.Symlink("/not/mounted", link); err != nil {
		t.Fatal(err)
	}
	wanted := harness.SkillsWanted{Harness: "claude"}
	plan, err := w.skills.Plan(t.Context(), wanted)
	if err == nil {
		_, err = w.skills.Install(t.Context(), wanted, plan)
	}
	if err == nil || !strings.Contains(err.Error(), `a link to "/not/mounted", which is not there`) {
		t.Errorf("installed through a link to nowhere: %v", err)
	}
	w.uninstall()
	if _, err := os.Lstat(link); err != nil {
		t.Errorf("the person's link is gone: %v", err)
	}
	w.install(harness.SkillsWanted{Harness: "codex"})
	w.install(harness.SkillsWanted{Harness: "amp"})
	folder := filepath.Dir(w.path(".codex"))
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	w.write(folder, "a note of mine")
	if done := w.uninstall(); done != "remove .config/agents/skills/orange-worker/SKILL.md" {
		t.Errorf("removed %q", done)
	}
	if text, err := os.ReadFile(folder); err != nil || string(text) != "a note of mine" {
		t.Errorf("the person's file is %q, %v", text, err)
	}
}

func TestUninstall_goesOnWhereAProjectIsNoRepositoryAnyMore(t *testing.T) {
	w := newWorld(t)
	dir := w.checkout()
	w.install(harness.SkillsWanted{Project: dir, Harness: "claude"})
	w.install(harness.SkillsWanted{Harness: "claude"})
	if err := os.Rename(filepath.Join(dir, ".git"), filepath.Join(w.person, "git")); err != nil {
		t.Fatal(err)
	}
	done, err := w.skills.Uninstall(t.Context())
	if err == nil || !strings.Contains(err.Error(), "coffee") || len(done) != 2 {
		t.Errorf("removed %v, %v", done, err)
	}
	if _, err := os.Stat(filepath.Join(w.person, ".claude")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder is left: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if done := w.uninstall(); done != "" {
		t.Errorf("the second time it removed\n%s", done)
	}
}
