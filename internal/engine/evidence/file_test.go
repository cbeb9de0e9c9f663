package evidence_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"orange/internal/rules/workflow"
)

func TestLook_atAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("plan.md", "a plan\n")
	w.write("blank.md", " \r\n\t\n")
	w.write("good.json", `{"a": [1, 2]}`)
	w.write("bom.json", "\xef\xbb\xbf{\"a\": 1}\r\n")
	w.write("bad.json", "{\n  \"ä\": oops\n}\n")
	w.write("two.json", "{} {}")
	w.write("cut.json", "{\"a\": ")
	w.write("latin.json", "{\"a\":\n \"\xe4\"}")
	w.write("deep.json", strings.Repeat("[", 100_000))
	w.write("sub/real.md", "text")
	must(t, os.Symlink("/etc/passwd", w.path("passwd")))
	must(t, os.Symlink("/etc", w.path("etc")))
	must(t, os.Symlink("plan.md", w.path("link.md")))
	must(t, os.Symlink("loop", w.path("loop")))
	w.write("shared.md", "text")
	must(t, os.Link(w.path("shared.md"), w.path("hard.md")))
	must(t, os.Symlink("sub", w.path("inside")))
	must(t, syscall.Mkfifo(w.path("pipe"), 0o644))
	must(t, os.WriteFile(w.path("huge"), nil, 0o644))
	must(t, os.Truncate(w.path("huge"), 100<<20))
	tests := []struct {
		part         workflow.Part
		found, where string
	}{
		{workflow.Part{File: "plan.md", Required: true}, "", "plan.md"},
		{workflow.Part{File: "blank.md"}, "", ""},
		{workflow.Part{File: "blank.md", Required: true}, "an empty file", "blank.md"},
		{workflow.Part{File: "none.md"}, "no such file", "none.md"},
		{workflow.Part{File: "none/at/all.md"}, "no such file", "none/at/all.md"},
		{workflow.Part{File: "plan.md/below"}, "no such file", ""},
		{workflow.Part{File: "sub"}, "a folder, expected a file", "sub"},
		{workflow.Part{File: "sub/real.md"}, "", ""},
		{workflow.Part{File: "inside/real.md"}, "", ""},
		{workflow.Part{File: "passwd"}, "a link, expected a file", "passwd"},
		{workflow.Part{File: "link.md"}, "a link, expected a file", ""},
		{workflow.Part{File: "hard.md"}, "a hard link: the file has 2 names; make it a file of its own", "hard.md"},
		{workflow.Part{File: "loop/x"}, "expected a file", ""},
		{workflow.Part{File: "etc/passwd"}, "leads out of the task's folder", "etc/passwd"},
		{workflow.Part{File: "../abc/plan.md"}, "leads out of the task's folder", ""},
		{workflow.Part{File: "/etc/passwd"}, "leads out of the task's folder", ""},
		{workflow.Part{File: "pipe"}, "a pipe, expected a file", "pipe"},
		{workflow.Part{File: "huge"}, "at most 8 MiB are read", "huge"},
		{workflow.Part{File: "good.json", JSON: true}, "", ""},
		{workflow.Part{File: "bom.json", JSON: true}, "", ""},
		{workflow.Part{File: "blank.md", JSON: true}, "no JSON: an empty file", "blank.md:1:1"},
		{workflow.Part{File: "bad.json", JSON: true}, "no JSON: invalid character 'o'", "bad.json:2:8"},
		{workflow.Part{File: "two.json", JSON: true}, "after top-level value", "two.json:1:4"},
		{workflow.Part{File: "cut.json", JSON: true}, "unexpected end", "cut.json:1:6"},
		{workflow.Part{File: "latin.json", JSON: true}, "the byte 0xe4 is no UTF-8", "latin.json:2:3"},
		{workflow.Part{File: "deep.json", JSON: true}, "depth", ""},
	}
	var parts []workflow.Part
	for _, test := range tests {
		parts = append(parts, test.part)
	}
	facts := w.look(workflow.Part{Any: parts[:5]}, workflow.Part{
		All: []workflow.Part{{Any: parts[5:]}, {Section: "Plan"}}})
	if len(facts) != len(tests) {
		t.Errorf("%d facts for %d parts", len(facts), len(tests))
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s %t %t", test.part.File, test.part.Required, test.part.JSON), func(t *testing.T) {
			t.Parallel()
			fact := facts[test.part.Key()]
			wantFact(t, fact, test.found, test.where)
			if unread := fact.Digest == "" && test.found != "no such file" && !test.part.JSON; fact.Unread != unread {
				t.Errorf("it is there and cannot be read: %v, want %v", fact.Unread, unread)
			}
		})
	}
}

func TestLook_digestsAFileOverItsNormalForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a", "one\ntwo\n")
	w.write("b", "\xef\xbb\xbfone  \r\ntwo\r\n\r\n")
	w.write("c", "one\nthree\n")
	a, b, c := w.fact(workflow.Part{File: "a"}), w.fact(workflow.Part{File: "b"}), w.fact(workflow.Part{File: "c"})
	if a.Digest != b.Digest || a.Digest == c.Digest || a.Text != "one\ntwo\n" || a.Source != "a" {
		t.Errorf("got %+v\n%+v\n%+v", a, b, c)
	}
}

func TestLook_reportsAnUnreadableFileAndFailsOnAnUnreadableFolder(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	w := newWorld(t)
	w.write("secret", "text")
	must(t, os.Chmod(w.path("secret"), 0))
	wantFact(t, w.fact(workflow.Part{File: "secret"}), "a file that cannot be read: permission denied", "secret")
	must(t, os.Chmod(w.dir(), 0))
	t.Cleanup(func() { _ = os.Chmod(w.dir(), 0o755) })
	if facts, err := w.looker.Look(t.Context(), w.task, w.def, []workflow.Part{{File: "secret"}}); !errors.Is(err,
		os.ErrPermission) {
		t.Errorf("got %v, %v", facts, err)
	}
}

func TestLook_thatCannotLookIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if facts, err := w.looker.Look(ctx, w.task, w.def, []workflow.Part{{File: "x"}}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("called off: %v, %v", facts, err)
	}
	must(t, os.RemoveAll(w.dir()))
	if facts, err := w.looker.Look(t.Context(), w.task, w.def, []workflow.Part{{File: "x"}}); err == nil {
		t.Errorf("no folder: %v", facts)
	}
	if facts, err := w.looker.Look(t.Context(), w.task, w.def, []workflow.Part{{Section: "Plan"}}); err != nil ||
		len(facts) != 0 {
		t.Errorf("nothing to look at: %v, %v", facts, err)
	}
}

func TestLook_atAGlob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("code/files/b.go", "package b\n")
	w.write("code/files/sub/a.go", "package a\n")
	w.write("code/files/empty.go", "")
	w.write("code/empty/x", "")
	must(t, os.Symlink("/etc", w.path("code/files/etc")))
	must(t, os.Symlink("/etc/passwd", w.path("code/files/passwd")))
	w.write("shared/one.md", "text")
	must(t, os.Link(w.path("shared/one.md"), w.path("shared/two.md")))
	must(t, syscall.Mkfifo(w.path("code/files/pipe"), 0o644))
	tests := []struct {
		part  workflow.Part
		found string
	}{
		{workflow.Part{Glob: "code/files/**"}, ""},
		{workflow.Part{Glob: "code/files/**/*.go", JQ: `. == ["b.go", "sub/a.go"]`}, ""},
		{workflow.Part{Glob: "code/*/b.go", JQ: `. == ["files/b.go"]`}, ""},
		{workflow.Part{Glob: "**/*.go", JQ: `. == ["code/files/b.go", "code/files/sub/a.go"]`}, ""},
		{workflow.Part{Glob: "code/files/**/*.go", JQ: `length > 2`}, "that its jq program answers false"},
		{workflow.Part{Glob: "code/files/*.py"}, "no such file"},
		{workflow.Part{Glob: "code/empty/*"}, "1 such files or folders, and none"},
		{workflow.Part{Glob: "code/files/pipe"}, "none that is a file"},
		{workflow.Part{Glob: "code/files/etc/**"}, "leads out of the task's folder"},
		{workflow.Part{Glob: "shared/*"}, "shared/one.md: a hard link: the file has 2 names"},
		{workflow.Part{Glob: "nowhere/**"}, "no such file"},
	}
	var parts []workflow.Part
	for _, test := range tests {
		parts = append(parts, test.part)
	}
	facts := w.look(parts...)
	for _, test := range tests {
		t.Run(test.part.Glob+" "+test.part.JQ, func(t *testing.T) {
			t.Parallel()
			wantFact(t, facts[test.part.Key()], test.found, test.part.Glob)
		})
	}
	first := facts[tests[0].part.Key()]
	if !strings.HasPrefix(first.Text, "code/files/b.go ") || strings.Count(first.Text, "\n") != 2 {
		t.Errorf("the list is %q", first.Text)
	}
	w.write("code/files/b.go", "package b\r\n")
	if again := w.fact(tests[0].part); again.Digest != first.Digest {
		t.Error("another line end is another digest")
	}
	w.write("code/files/b.go", "package c\n")
	if again := w.fact(tests[0].part); again.Digest == first.Digest {
		t.Error("another content has the same digest")
	}
}

func TestLook_atTooManyFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("many/one", "x")
	for i := range 10_000 {
		must(t, os.Link(w.path("many/one"), w.path(fmt.Sprintf("many/%05d", i))))
	}
	wantFact(t, w.fact(workflow.Part{Glob: "many/*"}), "more than 10000 files", "")
}
