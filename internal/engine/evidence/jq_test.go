package evidence_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/document"
	"orange/internal/rules/workflow"
)

func TestLook_asksAFileByJQ(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("r.json", `{"ok": true, "n": 9007199254740993, "list": [1,2], "none": null}`)
	w.write("plan.json", `{"files": ["a"]}`)
	w.write("bad.json", `{`)
	with := []workflow.With{{Name: "plan", File: "plan.json"}, {Name: "gone", File: "gone.json"}}
	tests := []struct {
		program string
		with    []workflow.With
		found   string
	}{
		{`.ok`, nil, ""},
		{`.list | length == 2`, nil, ""},
		{`.n == 9007199254740993 and .n != 9007199254740992`, nil, ""},
		{`true, error("never asked")`, nil, ""},
		{`"any value"`, nil, ""},
		{`0`, nil, ""},
		{`$plan.files == ["a"] and $gone == null`, with, ""},
		{`.none`, nil, "that its jq program answers null"},
		{`.list == []`, nil, "that its jq program answers false"},
		{`false, true`, nil, "that its jq program answers false"},
		{`empty`, nil, "that its jq program answers nothing"},
		{`.list.x`, nil, "its program fails: "},
		{`error("so")`, nil, "its program fails: error: so"},
		{`halt`, nil, "its program fails"},
		{`now`, nil, "a gate has no clock"},
		{`$ENV == {} and env == {}`, nil, ""},
		{`$x`, nil, "variable not defined"},
		{`.ok`, []workflow.With{{Name: "b", File: "bad.json"}}, "no JSON"},
	}
	var parts []workflow.Part
	for _, test := range tests {
		parts = append(parts, workflow.Part{File: "r.json", JQ: test.program, With: test.with})
	}
	facts := w.look(parts...)
	for i, test := range tests {
		t.Run(test.program, func(t *testing.T) {
			t.Parallel()
			wantFact(t, facts[parts[i].Key()], test.found, "")
		})
	}
	if w.jqRuns != 1 {
		t.Errorf("%d processes for one look", w.jqRuns)
	}
}

func TestLook_survivesHostileJQPrograms(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long; make test-all runs it")
	}
	bombs := map[string]string{
		`[range(1e12)]`:                       "its program",
		`def f: f; f`:                         "its program takes more than 300ms",
		`[repeat("x")]`:                       "its program",
		`last(repeat("x"))`:                   "its program takes more than 300ms",
		`def f: 1 + f; f`:                     "its program",
		`def f: [f]; f`:                       "its program",
		`reduce range(100) as $i (3; . * .)`:  "",
		`"x" * 900000000 | length`:            "its program",
		`reduce range(1e9) as $i (0; . + 1)`:  "its program takes more than 300ms",
		`last(range(1e9))`:                    "its program takes more than 300ms",
		`[limit(30; repeat("x" * 20000000))]`: "its program",
		`"` + strings.Repeat("a", 5000) + `" | [match("(a?){900}"; "g")] | length`: "",
	}
	for program, found := range bombs {
		t.Run(program[:min(len(program), 40)], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.looker.JQTime = 300 * time.Millisecond
			w.write("r.json", `{}`)
			began := time.Now()
			p := workflow.Part{File: "r.json", JQ: program}
			fine := workflow.Part{File: "r.json", JQ: `. == {}`}
			facts := w.look(p, fine)
			if found != "" {
				wantFact(t, facts[p.Key()], found, "")
			}
			wantFact(t, facts[fine.Key()], "", "") // whatever became of the one before
			t.Logf("%v: %s", time.Since(began).Round(time.Millisecond), facts[p.Key()].Found)
		})
	}
}

func TestLook_limitsTheMemoryOfAJQProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("r.json", `{}`)
	wantFact(t, w.fact(workflow.Part{File: "r.json", JQ: `[limit(30; repeat("x" * 20000000 | explode))]`}),
		"its program needs more than 256 MiB of memory", "")
}

func TestLook_readsTheLargestFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("r.json", "["+strings.Repeat(`{"path": "internal/some/file.go", "line": 17},`+"\n", 175_000)+"{}]")
	info, err := os.Stat(w.path("r.json"))
	must(t, err)
	wantFact(t, w.fact(workflow.Part{File: "r.json", JQ: "length == 175001"}), "", "")
	t.Log(fmt.Sprint(info.Size()>>10, " KiB"))
}

// What a program sees besides its file decides too: it belongs to what the decision rested on.
func TestLook_notesTheOtherFilesThatAJQProgramSees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("r.json", `{"ok": true}`)
	w.write("plan.json", `["a"]`)
	plain := workflow.Part{File: "r.json", JQ: ".ok"}
	with := workflow.Part{File: "r.json", JQ: ".ok", With: []workflow.With{{Name: "plan", File: "plan.json"},
		{Name: "gone", File: "gone.json"}}}
	before := w.look(plain, with)
	if f := before[plain.Key()]; f.Source != "r.json" || f.Digest != document.Digest("{\"ok\": true}\n") {
		t.Errorf("a file alone is %q with the digest of %q", f.Source, f.Text)
	}
	f := before[with.Key()]
	want := "{\"ok\": true}\n$plan plan.json " + document.Digest("[\"a\"]\n") + "\n[\"a\"]\n$gone gone.json missing\n"
	if f.Source != "r.json with plan.json, gone.json" || f.Text != want || f.Digest != document.Digest(want) {
		t.Errorf("it is %q, with the text %q", f.Source, f.Text)
	}
	w.write("plan.json", `["b"]`)
	after := w.look(plain, with)
	if after[plain.Key()].Digest != before[plain.Key()].Digest || after[with.Key()].Digest == f.Digest {
		t.Error("another plan is no other evidence, or makes the file alone another one")
	}
}
