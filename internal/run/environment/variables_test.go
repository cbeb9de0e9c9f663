package environment

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/store/mirror"
)

func someVariables(t *testing.T) Variables {
	t.Helper()
	home := t.TempDir()
	return Variables{Home: home, Locks: mirror.Files{Home: home}}
}

func set(t *testing.T, v Variables, project string, words ...string) {
	t.Helper()
	if err := v.Set(t.Context(), project, words); err != nil {
		t.Fatal(err)
	}
}

func wantOf(t *testing.T, v Variables, project string, want ...string) {
	t.Helper()
	if got, err := v.Of(project); err != nil || !slices.Equal(got, want) {
		t.Errorf("for %q found %q, %v, want %q", project, got, err, want)
	}
}

func TestVariables_areThoseOfEveryProjectAndOverThemItsOwn(t *testing.T) {
	t.Setenv("FROM_SHELL", "of the shell")
	v := someVariables(t)
	wantOf(t, v, "coffee")
	set(t, v, "", "KEY=every", "LINES=a\n\"b\" <c>=d\t\\", "FROM_SHELL", "EMPTY=")
	set(t, v, "coffee", "KEY=own", "EXTRA=1")
	set(t, v, "", "KEY=again")
	every := []string{"EMPTY=", "FROM_SHELL=of the shell", "KEY=again", "LINES=a\n\"b\" <c>=d\t\\"}
	wantOf(t, v, "", every...)
	wantOf(t, v, "tea", every...)
	wantOf(t, v, "coffee", "EMPTY=", "FROM_SHELL=of the shell", "KEY=own", "LINES=a\n\"b\" <c>=d\t\\", "EXTRA=1")
	names, err := v.List()
	want := []harness.Variable{{Name: "EMPTY"}, {Name: "FROM_SHELL"}, {Name: "KEY"}, {Name: "LINES"},
		{Name: "EXTRA", Project: "coffee"}, {Name: "KEY", Project: "coffee"}}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("listed %v, %v, want %v", names, err, want)
	}
	if err := v.Unset(t.Context(), "", []string{"KEY", "LINES", "EMPTY"}); err != nil {
		t.Fatal(err)
	}
	wantOf(t, v, "coffee", "FROM_SHELL=of the shell", "EXTRA=1", "KEY=own")
}

// They lie over all others, are kept where only their owner reads them, and go with the task.
func TestVariables_ofATaskAreItsOwn(t *testing.T) {
	t.Parallel()
	v := someVariables(t)
	set(t, v, "", "KEY=every", "OTHER=every")
	set(t, v, "coffee", "KEY=project")
	if err := v.Task("abc").Set(t.Context(), "", []string{"KEY=own", "MORE=own"}); err != nil {
		t.Fatal(err)
	}
	others := []string{"KEY=project", "OTHER=every"}
	for id, want := range map[string][]string{"abc": {"KEY=own", "OTHER=every", "MORE=own"}, "other": others,
		"": others, "../abc": others} {
		if got, err := v.For("coffee", id); err != nil || !slices.Equal(got, want) {
			t.Errorf("for %q found %q, %v, want %q", id, got, err, want)
		}
	}
	info, err := os.Stat(filepath.Join(v.Home, "env", "abc.json"))
	if err != nil || info.Mode() != task.PrivateFile {
		t.Errorf("found the mode %v, %v", info, err)
	}
	if ids, err := v.Tasks(); err != nil || !slices.Equal(ids, []string{"abc"}) {
		t.Errorf("found the tasks %q, %v", ids, err)
	}
	for range 2 {
		if err := v.Drop(t.Context(), "abc"); err != nil {
			t.Fatal(err)
		}
	}
	if ids, err := v.Tasks(); err != nil || len(ids) > 0 {
		t.Errorf("afterwards found the tasks %q, %v", ids, err)
	}
	wantOf(t, v, "coffee", others...)
}

func TestVariables_ofATaskThatCannotBeReadNameTheirFile(t *testing.T) {
	t.Parallel()
	v := someVariables(t)
	path := filepath.Join(v.Home, "env", "abc.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("[\nhidden]"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := v.For("coffee", "abc")
	if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), path+":2: ") ||
		!strings.Contains(err.Error(), "task abc") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("found %v", err)
	}
}

func TestVariables_areInOneFileForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	v := someVariables(t)
	// left by a process that was killed while it wrote
	half := filepath.Join(v.Home, ".env.json.123")
	if err := os.WriteFile(half, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	set(t, v, "", "KEY=secret")
	info, err := os.Stat(filepath.Join(v.Home, "env.json"))
	if err != nil || info.Mode() != task.PrivateFile {
		t.Errorf("found the mode %v, %v", info, err)
	}
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the half of a file is still there: %v", err)
	}
}

// A wrong word changes nothing, and no message repeats a value.
func TestVariables_thatCannotBeSetOrForgottenChangeNothing(t *testing.T) {
	t.Parallel()
	v := someVariables(t)
	set(t, v, "", "KEY=first")
	for _, test := range []struct {
		words []string
		want  string
	}{
		{[]string{"KEY=hidden", "1A=hidden"}, `called "1A"`},
		{[]string{"ORANGE_SEAT=hidden"}, "which task it works for"},
		{[]string{"TMUX=hidden"}, "a window or a repository that is not its own"},
		{[]string{"ORANGE"}, "this shell has no variable of that name"},
		{[]string{"KEY=hidden\x00"}, "zero byte"},
		{[]string{"KEY=hidden\xff"}, "no text in UTF-8"},
		{[]string{"KEY=" + strings.Repeat("hidden", 20_000)}, "has 120000 bytes"},
	} {
		err := v.Set(t.Context(), "", test.words)
		if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), test.want) ||
			strings.Contains(err.Error(), "hidden") {
			t.Errorf("%.40q: found %v, want %q", test.words, err, test.want)
		}
	}
	for _, words := range [][]string{{"KEY", "NONE"}, {"KEY=hidden"}} {
		err := v.Unset(t.Context(), "", words)
		if !errors.Is(err, task.ErrNotFound) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: found %v", words, err)
		}
	}
	if err := v.Unset(t.Context(), "coffee", []string{"KEY"}); !errors.Is(err, task.ErrNotFound) ||
		!strings.Contains(err.Error(), "for the project coffee") {
		t.Errorf("of another project: found %v", err)
	}
	wantOf(t, v, "", "KEY=first")
}

// What is wrong is said with the line and without the text that is there, and the file stays as it is.
func TestVariables_reportTheLineOfAMistake(t *testing.T) {
	t.Parallel()
	const good = `  {"name": "KEY", "value": "hidden"}`
	for text, want := range map[string]string{
		"":                               ":1: found no list",
		"\n{}":                           ":1: found no list",
		"[\n" + good + "\n":              ":2: found no end",
		"[\n" + good + ",\n":             ":3: found something else",
		"[\n" + good + "\n" + good + "]": ":3: found something else",
		"[\n" + good + ",\n hidden]":     ":3: found something else",
		"[\n" + good + ",\n\n\n" + `{"name": "A"}]`:                          ":5: found something else",
		"[\n" + good + ",\n" + `{"name": "A", "value": 7}]`:                  ":3: found something else",
		"[\n" + good + ",\n" + `{"nam": "A", "value": "hidden"}]`:            ":3: found something else",
		"[\n" + good + ",\n" + good + "]":                                    ":3: found KEY for every project for",
		"[\n" + good + ",\n" + `{"name": "ORANGE_HOME", "value": "hidden"}]`: ":3: cannot set ORANGE_HOME",
		"[\n" + good + ",\n" + `{"name": "A", "value": "\u0000"}]`:           ":3: the value of A holds a zero",
		"[\n" + good + "\n]\n,":                                              ":4: found something behind",
		"[\n" + good + "\n]\n[]":                                             ":4: found something behind",
	} {
		v := someVariables(t)
		path := filepath.Join(v.Home, "env.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := v.Of("")
		if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), path+want) ||
			strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: found %v, want %q", text, err, want)
		}
		if err := v.Set(t.Context(), "", []string{"A=1"}); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q: set answers %v", text, err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%q became %q, %v", text, now, err)
		}
	}
}

func TestVariables_setAtTheSameTimeAreAllThere(t *testing.T) {
	t.Parallel()
	v := someVariables(t)
	names := []string{"A", "B", "C", "D", "E", "F"}
	done := make(chan error)
	for _, name := range names {
		go func() { done <- v.Set(t.Context(), "", []string{name + "=1"}) }()
	}
	for range names {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if all, err := v.List(); err != nil || len(all) != len(names) {
		t.Errorf("found %v, %v", all, err)
	}
}
