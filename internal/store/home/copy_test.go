package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/task"
)

func TestACopyOfAWorkflowDiffersInItsNameAlone(t *testing.T) {
	t.Parallel()
	plain := shipped(t)
	with := func(line string) string { return strings.Replace(plain, "name: default", line, 1) }
	tests := []struct{ name, text, line, want string }{
		{"mine", plain, "name: default", "name: mine"},
		{"mine", with("name: other   # why it is called so"), "name: other   # why it is called so",
			"name: mine   # why it is called so"},
		{"mine", with(`name: "other" # x`), `name: "other" # x`, "name: mine # x"},
		{"mine", with("name: 'other'"), "name: 'other'", "name: mine"},
		{"mine", with("\"name\" :  other\r"), "\"name\" :  other\r", "\"name\" :  mine\r"},
		{"two words", plain, "name: default", `name: "two words"`},
		{"null", plain, "name: default", `name: "null"`},
		{`x": [\`, plain, "name: default", `name: "x\": [\\"`},
		{"ü", with("name: ö"), "name: ö", `name: "ü"`},
	}
	for _, test := range tests {
		t.Run(test.name+" from "+test.line, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			write(t, h, "workflows/source.yml", test.text)
			def, made, err := h.CopyWorkflow(test.name, "source")
			must(t, err)
			text, err := os.ReadFile(filepath.Join(h.WorkflowFolder(), test.name+".yml"))
			must(t, err)
			if want := strings.Replace(test.text, test.line, test.want, 1); string(text) != want {
				t.Errorf("got:\n%s", text[:200])
			}
			if def.Name != test.name || made.Name != test.name || made.Hides {
				t.Errorf("made %q, %+v", def.Name, made.Name)
			}
		})
	}
}

func TestACopyIsMadeOnlyWhereItStandsForItself(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, source, said string
		is                 error
	}{
		{"source", shipped(t), "already", task.ErrUsage},
		{"", shipped(t), "empty", task.ErrUsage},
		{".kept", shipped(t), "dash or a dot", task.ErrUsage},
		{"a/b", shipped(t), "slash", task.ErrUsage},
		{"a\nb", shipped(t), "newline", task.ErrUsage},
		{"mine", "name: x\n", `found no "states"`, nil},
		{"mine", strings.Replace(shipped(t), "name: default", "name: >\n  folded", 1), "plain word", nil},
		{"mine", strings.Replace(shipped(t), "name: default", `name: "def\x61ult"`, 1), "plain word", nil},
		{"mine", strings.Replace(shipped(t), "name: default", "name: &n default", 1), "plain word", nil},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.said, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			write(t, h, "workflows/source.yml", test.source)
			_, _, err := h.CopyWorkflow(test.name, "source")
			if err == nil || !strings.Contains(err.Error(), test.said) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, expected %q", err, test.said)
			}
			files, err := os.ReadDir(h.WorkflowFolder())
			must(t, err)
			if text, err := os.ReadFile(filepath.Join(h.WorkflowFolder(), "source.yml")); err != nil ||
				string(text) != test.source || len(files) != 1 {
				t.Errorf("the folder is not as it was: %v, %v", files, err)
			}
		})
	}
}

func TestAFileThatCannotBeReadHidesNoOther(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	must(t, os.MkdirAll(filepath.Join(h.WorkflowFolder(), "folder.yml"), 0o755))
	_, _, err := h.FindWorkflow("default")
	must(t, err)
	if _, _, err := h.FindWorkflow("folder"); err == nil || errors.Is(err, task.ErrNotFound) {
		t.Errorf("got %v, expected why it cannot be read", err)
	}
	if _, err := h.Pinned(t.Context(), task.WorkflowRef{Name: "x", Digest: "nowhere"}); err == nil ||
		errors.Is(err, task.ErrNotFound) {
		t.Errorf("got %v, expected that it could not be looked for", err)
	}
}
