package mutation

import (
	"strings"
	"testing"
)

func TestParse_aListSaysWhichRulesAreBrokenAndHow(t *testing.T) {
	t.Parallel()
	got, err := parse("list", "# words\n\n== a.go: it holds\n- if x {\n- y\n+ if !x {\n\n== b.go: that too\n- z()\n+\n")
	if err != nil || len(got) != 2 {
		t.Fatalf("found %+v, %v", got, err)
	}
	want := []mutation{
		{line: 3, file: "a.go", rule: "it holds", old: "if x {\ny", new: "if !x {"},
		{line: 8, file: "b.go", rule: "that too", old: "z()"},
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("found %+v, want %+v", got[i], want[i])
		}
	}
}

func TestParse_saysWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"== a.go it holds":    `list:1: found "a.go it holds", expected the file and the rule`,
		"\n- x":               `list:2: found "- x" before any rule`,
		"== a.go: it\n* what": `list:2: found "* what", expected ==, - or +`,
	} {
		if _, err := parse("list", text); err == nil || err.Error() != want {
			t.Errorf("of %q: found %v, want %s", text, err, want)
		}
	}
}

func TestPlace_doesNotDependOnHowLinesAreBroken(t *testing.T) {
	t.Parallel()
	m := mutation{old: "f(a, b) && x {\ny"}
	for text, want := range map[string]bool{
		"f(a, b) && x {\ny": true, "f(\na,\nb) &&\nx { y": true, "f(a, b) && x {\nz": false, "f(a, b)&& x {\ny": false,
	} {
		if m.place().MatchString(text) != want {
			t.Errorf("%q: found %v", text, !want)
		}
	}
}

func TestAPackageIsCompiledWithAnotherTextInThePlaceOfAFile(t *testing.T) {
	t.Parallel()
	r := openPackage(t)
	text := read(t, "parse.go")
	if err := r.compiles("parse.go", text); err != nil {
		t.Errorf("as it is: %v", err)
	}
	for broken, want := range map[string]string{
		strings.Replace(text, "kind, rest, _ :=", "kind, rest :=", 1):               "assignment mismatch",
		strings.Replace(text, "text, \"\\n\") {", "\"\", \"\") {\n unused := 1", 1): "declared and not used",
		// seen in another file
		strings.Replace(text, "func parse(", "func reads(", 1):                   "undefined: parse",
		strings.Replace(text, "switch m := &out[len(out)-1]; kind {", "if {", 1): "missing condition",
	} {
		if err := r.compiles("parse.go", broken); broken == text || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %s", err, want)
		}
	}
}
