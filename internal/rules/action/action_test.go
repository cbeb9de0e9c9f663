package action_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orange/internal/rules/action"
)

// actionConstants are the names of actions in the source: the constants of the first group.
func actionConstants(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "action.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		var out []string
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value
			name, err := strconv.Unquote(value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, name)
		}
		return out
	}
	t.Fatal("found no constants")
	return nil
}

func TestEveryActionHasOneRow(t *testing.T) {
	t.Parallel()
	constants, rows := actionConstants(t), action.Names()
	slices.Sort(constants)
	slices.Sort(rows)
	if !slices.Equal(constants, rows) {
		t.Errorf("the constants are %q, the rows of the table %q", constants, rows)
	}
	if _, known := action.Of("make_coffee"); known {
		t.Error("an unknown action has a row")
	}
}

func TestARowAgreesWithItself(t *testing.T) {
	t.Parallel()
	for _, name := range action.Names() {
		row, _ := action.Of(name)
		if (row.Then == "") != (row.Class == action.ClassRecord) {
			t.Errorf("%s: after a move people read %q of it: all but changes of the record have words", name, row.Then)
		}
		if !row.Takes.Has(row.Needs) {
			t.Errorf("%s needs keys that it does not take", name)
		}
		starts := row.Means == action.StartsAgent || row.Means == action.MakesWorkspace ||
			row.Means == action.NotifiesWorker
		if starts && row.Class != action.ClassStart {
			t.Errorf("%s starts something, and is of class %d", name, row.Class)
		}
		ends := row.Means == action.EndsAgent || row.Means == action.EndsAll || row.Means == action.FreesWorkspace
		if ends != (row.Class == action.ClassEnd) {
			t.Errorf("%s has the meaning %d, and is of class %d", name, row.Means, row.Class)
		}
		if row.Class == action.ClassRecord && (row.Scope != action.Local || row.Means != action.MeansNothing) {
			t.Errorf("%s changes only the record, and its row says more", name)
		}
	}
}

// manualOf gives the rows of the manual's table of hooks: an action, and the cell with its keys.
func manualOf(t *testing.T) (rows [][2]string, text string) {
	t.Helper()
	manual, err := os.ReadFile("../../../docs/workflow-file.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(manual), "| action | does | further keys |\n|---|---|---|\n")
	if !found {
		t.Fatal("the manual has no table of hooks")
	}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			break
		}
		rows = append(rows, [2]string{strings.Trim(cells[1], " `"), cells[3]})
	}
	return rows, string(manual)
}

func TestTheManualHasEveryAction(t *testing.T) {
	t.Parallel()
	keys := map[string]action.Keys{
		"prompt": action.KeyPrompt, "harness": action.KeyHarness, "permissions": action.KeyPermissions,
		"field": action.KeyField, "value": action.KeyValue, "role": action.KeyRole, "folder": action.KeyFolder,
		"via": action.KeyVia, "message": action.KeyMessage, "url": action.KeyURL, "run": action.KeyRun,
		"timeout": action.KeyTimeout,
	}
	var known action.Keys
	for _, bit := range keys {
		known |= bit
	}
	rows, text := manualOf(t)
	var names []string
	for _, row := range rows {
		names = append(names, row[0])
		spec, is := action.Of(row[0])
		if !is {
			t.Errorf("the manual has the unknown action %q", row[0])
		}
		if spec.Takes&^known != 0 {
			t.Errorf("%s takes a key that this test does not know: add its name above", row[0])
		}
		for key, bit := range keys {
			if says := strings.Contains(row[1], "`"+key+"`"); says != spec.Takes.Has(bit) {
				t.Errorf("the key %s of %s: the manual has it: %t, the table: %t",
					key, row[0], says, !says)
			}
		}
	}
	sorted := action.Names()
	slices.Sort(names)
	slices.Sort(sorted)
	if !slices.Equal(names, sorted) {
		t.Errorf("the manual has %q, the table %q", names, sorted)
	}
	for _, sentence := range []struct {
		of  func(action.Spec) bool
		end string
	}{
		{func(s action.Spec) bool { return s.Class == action.ClassApart }, " neither hold others nor wait."},
		{func(s action.Spec) bool { return s.Scope == action.Remote },
			" change what others see outside of this machine."},
		{func(s action.Spec) bool { return s.Input == action.WithEvent }, " get the move that queued them."},
	} {
		want := sentenceOf(action.With(sentence.of)) + sentence.end
		if !strings.Contains(text, want) {
			t.Errorf("the manual does not have this sentence: %s", want)
		}
	}
}

func sentenceOf(names []string) string {
	for i, name := range names {
		names[i] = "`" + name + "`"
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
