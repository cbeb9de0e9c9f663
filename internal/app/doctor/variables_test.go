package doctor_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/app/doctor"
	"orange/internal/rules/harness"
)

func TestExamine_saysWhichHarnessLacksWhichVariableThatItNeeds(t *testing.T) {
	t.Parallel()
	const lacks = "warning harnesses claude: KEY or TOKEN is not set, in this shell or with orange env"
	for name, tt := range map[string]struct {
		given, environ, own []string
		want                []string
	}{
		"nowhere":                   {nil, nil, nil, []string{lacks}},
		"empty in the shell":        {nil, []string{"KEY="}, nil, []string{lacks}},
		"in the shell":              {nil, []string{"TOKEN=secret"}, nil, nil},
		"for every project":         {[]string{":KEY=secret"}, nil, nil, nil},
		"for one project":           {[]string{"garden:KEY=secret"}, nil, nil, nil},
		"by the harness's own file": {nil, nil, []string{"KEY=x"}, nil},
	} {
		w := newWorld(t)
		w.given, w.environ = tt.given, tt.environ
		w.files[1].Harness.Env, w.files[1].Harness.Needs = tt.own, [][]string{{"KEY", "TOKEN"}}
		all := w.examine(false)
		if found := notOK(all); !slices.Equal(found, tt.want) {
			t.Errorf("%s: found %q, want %q", name, found, tt.want)
		}
		said := ""
		for _, f := range all {
			said += f.Found + f.Advice + "\n"
		}
		if strings.Contains(said, "secret") {
			t.Errorf("%s: a value is in %q", name, said)
		}
		if hint := "orange env set TOKEN is for agents that start without it"; strings.Contains(said, hint) !=
			(name == "in the shell") {
			t.Errorf("%s: it says %q", name, said)
		}
	}
}

func TestExamine_saysWhatAHarnessNeedsAsRoot(t *testing.T) {
	t.Parallel()
	const lacks = "warning harnesses claude: as root claude-program needs BOXED=1, and ends at once without it"
	for name, tt := range map[string]struct {
		root  bool
		given []string
		want  []string
	}{
		"another user":    {false, nil, nil},
		"root":            {true, nil, []string{lacks}},
		"another value":   {true, []string{":BOXED=0"}, []string{lacks}},
		"for one project": {true, []string{"garden:BOXED=1"}, []string{lacks}},
		"it is set":       {true, []string{":BOXED=1"}, nil},
	} {
		w := newWorld(t)
		w.root, w.given = tt.root, tt.given
		w.files[1].Harness.Root = []string{"BOXED=1"}
		if found := notOK(w.examine(false)); !slices.Equal(found, tt.want) {
			t.Errorf("%s: found %q, want %q", name, found, tt.want)
		}
	}
	w := newWorld(t) // where its program is not installed it needs nothing
	w.root, w.files[1].Harness = true, &harness.Harness{Program: "none", Root: []string{"BOXED=1"}}
	w.files = append(w.files, doctor.File{Kind: "harness", Name: "other",
		Harness: &harness.Harness{Program: "claude-program"}})
	if found := notOK(w.examine(false)); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

func TestExamine_saysWhereGitKnowsNoOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.nameless = true
	const missing = "it does not know whose commits are made there: user.name or user.email is missing, and no " +
		"agent can commit"
	if found := notOK(w.examine(false)); !slices.Equal(found, []string{"warning git garden: " + missing}) {
		t.Errorf("found %q", found)
	}
	w.given = []string{"garden:GIT_AUTHOR_NAME=Person"}
	if found := notOK(w.examine(false)); len(found) > 0 {
		t.Errorf("with variables it found %q", found)
	}
	w.given, w.projects, w.tasks, w.folders = nil, nil, nil, nil
	found := notOK(w.examine(false))
	if !slices.Contains(found, "warning git identity: "+missing) {
		t.Errorf("without a project it found %q", found)
	}
}

func TestExamine_saysWhatIsWrongWithTheVariables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.given = []string{":KEY=x", "garden:KEY=x", "gone:OLD=x"}
	want := "warning variables OLD: it is set for the project gone, which is not registered"
	if found := notOK(w.examine(false)); !slices.Equal(found, []string{want}) {
		t.Errorf("found %q, want %q", found, want)
	}
	w.blind["variables"] = true
	if found := notOK(w.examine(false)); !slices.Equal(found, []string{
		"problem variables env.json: could not look: " + errBlind.Error()}) {
		t.Errorf("found %q", found)
	}
}

func TestExamine_findsTheVariablesOfATaskThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := w.tasks[0].ID
	w.ownGiven = []string{"gone1", known}
	want := "warning variables gone1: the variables of a task that is gone are still kept"
	if found := notOK(w.examine(false)); !slices.Equal(found, []string{want}) {
		t.Errorf("found %q", found)
	}
	w.examine(true)
	if !slices.Equal(w.ownGiven, []string{known}) {
		t.Errorf("afterwards those of %q are kept", w.ownGiven)
	}
	w.ownWrong = known
	want = "problem variables " + known + ": cannot use the variables of task " + known
	if found := notOK(w.examine(false)); !slices.Equal(found, []string{want}) {
		t.Errorf("found %q", found)
	}
}
