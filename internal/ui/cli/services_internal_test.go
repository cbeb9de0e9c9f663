package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/harness"
	"orange/internal/rules/rejection"
	"orange/internal/rules/task"
	"orange/internal/run/environment"
	"orange/internal/store/mirror"
)

func TestEnv_keepsValuesAndPrintsNamesAlone(t *testing.T) {
	t.Parallel()
	set := map[string][]string{"": {"A=1"}, "coffee": {"B=2"}, "tea": {"C=3"}}
	for _, tt := range []struct {
		line string
		set  map[string][]string // before, by project
		has  string              // what a project named gone has then
		want said
	}{
		{"env set A=secret B=2", nil, "A=secret B=2",
			said{0, "set A for every project\nset B for every project\n", ""}},
		{"env set A=secret --json", nil, "A=secret",
			said{0, "{\n  \"variables\": [\n    {\n      \"name\": \"A\"\n    }\n  ]\n}\n", ""}},
		{"env set A=-", nil, "A=from the input", said{0, "set A for every project\n", ""}},
		{"env set A=- B=-", nil, "", said{exitUsage, "",
			"orange: cannot set B and another variable from one standard input; set them one by one\n"}},
		{"env set A-B=1", nil, "", said{exitUsage, "", "orange: " + harness.CheckVariable("A-B").Error() + "\n"}},
		{"env unset --project gone A", map[string][]string{"": {"A=1"}, "gone": {"A=2"}}, "A=1",
			said{0, "forgot A for the project gone\n", ""}},
		{"env list", nil, "", said{0, "no variables; set one with: orange env set NAME\n", ""}},
		{"env list --project tea", set, "A=1",
			said{0, "NAME  SET\nA     for every project\nC     for the project tea\n", ""}},
	} {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			v := environment.Variables{Home: dir, Locks: mirror.Files{Home: dir}}
			for project, words := range tt.set {
				if err := v.Set(t.Context(), project, words); err != nil {
					t.Fatal(err)
				}
			}
			got := callWith(t, "from the input\n", Services{Variables: v, Identity: &person{}}, tt.line)
			has, err := v.Of("gone")
			if got != tt.want || strings.Join(has, " ") != tt.has || err != nil {
				t.Errorf("it came to %#v with %q, %v, want %#v with %q", got, has, err, tt.want, tt.has)
			}
		})
	}
}

// prober finds out what it was given, and notes the starts.
type prober struct {
	report  harness.Probed
	started harness.Started
	fails   error
	starts  int
}

func (b *prober) Test(context.Context, string) (harness.Probed, error) { return b.report, nil }

func (*prober) Toy(context.Context) (string, error) { return "", nil }

func (b *prober) Start(context.Context, string, time.Duration) (harness.Started, error) {
	b.starts++
	return b.started, b.fails
}

func TestHarnessTest_failsUnlessTheProgramIsWhatItsFileDescribes(t *testing.T) {
	t.Parallel()
	fine := harness.Probed{Program: "thinker", Path: "/bin/thinker", Version: "1.0",
		Flags: []harness.Flag{{Command: "thinker", Name: "--model", Found: true}}}
	lacks := fine
	lacks.Flags = []harness.Flag{{Command: "thinker", Name: "--model"}}
	for name, tt := range map[string]struct {
		line   string
		b      prober
		status int
		starts int
		prints string
	}{
		"it has every flag": {"harness test thinker", prober{report: fine}, 0, 0, "1 of 1 are in its help"},
		"it lacks a flag": {"harness test thinker", prober{report: lacks}, exitFailed, 0,
			`--model is not in the help of "thinker"`},
		"a start needs a yes": {"harness test thinker --start", prober{report: fine}, exitUsage, 0, "add --yes"},
		"it starts and ends": {"harness test thinker --start --yes",
			prober{report: fine, started: harness.Started{Arrived: time.Second, Ended: true}}, 0, 1,
			"and it ended with its window"},
		"it outlives its window": {"harness test thinker --start --yes",
			prober{report: fine, started: harness.Started{Arrived: time.Second}}, exitFailed, 1,
			"but it did not end with its window"},
		"it does not start": {"harness test thinker --start --yes --json",
			prober{report: fine, fails: errors.New("no login")}, exitFailed, 1, `"error": "no login"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := tt.b
			got := call(t, Services{Prober: &b, Identity: &person{}}, tt.line)
			if got.status != tt.status || b.starts != tt.starts || !strings.Contains(got.out+got.err, tt.prints) {
				t.Errorf("it came to %#v after %d starts, want %d after %d with %q", got, b.starts, tt.status,
					tt.starts, tt.prints)
			}
		})
	}
}

// teacher has files of skills, and notes what it is asked to change.
type teacher struct {
	files []harness.SkillFile
	calls []string
}

func (l *teacher) Plan(context.Context, harness.SkillsWanted) (harness.SkillPlan, error) {
	return harness.SkillPlan{Files: l.files}, nil
}

func (l *teacher) Install(context.Context, harness.SkillsWanted, harness.SkillPlan) ([]harness.SkillFile, error) {
	l.calls = append(l.calls, "install")
	return l.files, nil
}

func (l *teacher) Installed(context.Context) ([]harness.SkillFile, error) { return l.files, nil }

func (l *teacher) Uninstall(context.Context) ([]harness.SkillFile, error) {
	l.calls = append(l.calls, "uninstall")
	return l.files, nil
}

func TestInstall_showsEachFileAndChangesNoneWithoutAYes(t *testing.T) {
	t.Parallel()
	fresh := []harness.SkillFile{{Path: "/s/SKILL.md", Harnesses: []string{"claude"}, State: harness.SkillNew}}
	same := []harness.SkillFile{{Path: "/s/SKILL.md", State: harness.SkillSame}}
	for _, tt := range []struct {
		line   string
		files  []harness.SkillFile
		status int
		call   string
		prints string
	}{
		{"install", fresh, exitUsage, "", "nothing was written: no person can be asked here; add --yes"},
		{"install --yes", fresh, 0, "install", "wrote 1 file"},
		{"install", same, 0, "", "nothing to write"},
		{"uninstall", fresh, exitUsage, "", "nothing was removed"},
		{"uninstall --yes", fresh, 0, "uninstall", "removed 1 file"},
		{"uninstall", nil, 0, "uninstall", "nothing to remove"},
	} {
		t.Run(fmt.Sprint(tt.line, tt.files), func(t *testing.T) {
			t.Parallel()
			l := &teacher{files: tt.files}
			got := call(t, Services{Skills: l, Identity: &person{}}, tt.line)
			shown := len(tt.files) == 0 || strings.Contains(got.out, "/s/SKILL.md")
			if called := strings.Join(l.calls, "; "); got.status != tt.status || called != tt.call || !shown ||
				!strings.Contains(got.out+got.err, tt.prints) {
				t.Errorf("it came to %#v by %q, want %d by %q with %q", got, called, tt.status, tt.call, tt.prints)
			}
		})
	}
}

// umpire answers whose act is next.
type umpire struct {
	Identity
	own   decide.Explanation
	actor task.Actor
	fails error
}

func (u *umpire) Next(context.Context, string, string) (decide.Explanation, string, error) {
	return u.own, "a person merges", u.fails
}

func (u *umpire) End(context.Context, string, string) (decide.Explanation, string, error) {
	return u.own, "a person merges", u.fails
}

func (u *umpire) Looker(context.Context, string) (task.Actor, error) { return u.actor, nil }

func (u *umpire) Here(context.Context) (id, project string, err error) { return "abc", "", nil }

func TestOrangeHoldsATurnBackOnlyWhereTheAgentCanAct(t *testing.T) {
	t.Parallel()
	worker := task.Actor{Role: task.RoleWorker}
	own := decide.Explanation{Task: task.Task{ID: "abc", Status: "working"}, Ways: []decide.Option{{To: "review"}}}
	denied := &rejection.Rejection{Code: rejection.ActorDenied}
	for name, tt := range map[string]struct {
		u    umpire
		want said
	}{
		"its act is next": {umpire{own: own, actor: worker}, said{0, `{"decision":"block","reason":"Task abc is in ` +
			`\"working\", and the next act is yours, the worker's. Do not end your turn before you have asked for ` +
			`one of these:\nreview: not open yet\n  then: orange task update --status review\n"}` + "\n", ""}},
		"another one's act is next": {umpire{actor: worker}, said{0, "", ""}},
		"its part is over":          {umpire{actor: worker, fails: denied}, said{0, "", ""}},
		"a person's turn is theirs": {umpire{own: own, actor: task.Actor{Role: task.RoleHuman}}, said{0, "", ""}},
		"an error lets the agent go": {umpire{actor: worker, fails: errors.New("disk")}, said{exitFailed, "",
			"orange: cannot tell whether the next act is yours, so you may end your turn: disk\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := tt.u
			if got := call(t, Services{Turns: &u, Identity: &u}, "task why --stop-hook"); got != tt.want {
				t.Errorf("it came to %#v, want %#v", got, tt.want)
			}
		})
	}
}
