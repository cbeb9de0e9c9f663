package mirror_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/rules/record"
	"orange/internal/store/mirror"
)

func TestDiffers_tellsWhatIsNotAsOnRecordAndChangesNothing(t *testing.T) {
	t.Parallel()
	lines := []string{`{"seq":1}`, `{"seq":2}`}
	whole := strings.Join(lines, "\n") + "\n"
	tests := []struct {
		what, header, history, want string
	}{
		{"nothing", "", whole, ""},
		{"status", "status: planning>status: done", whole, `TASK.md: status is "done", and "planning" on record`},
		{"a key", "status: planning\n>", whole, "TASK.md has no status"},
		{"a key that is empty", "review_model: \"\"\n>", whole, "TASK.md has no review_model"},
		{"broken", "status: planning>status: [", whole, "TASK.md: "},
		{"no header", "---\n>", whole, "TASK.md has no header"},
		{"a line", "", strings.Replace(whole, "2", "3", 1), "history.jsonl: line 2 is not what is on record"},
		{"too short", "", lines[0] + "\n", "history.jsonl ends after line 1, and has 2 on record"},
		{"no newline", "", strings.TrimSuffix(whole, "\n"), "history.jsonl: line 2 is not what is on record"},
		{"too long", "", whole + "x\n", "history.jsonl goes on after line 2"},
		{"no history", "", "-", "history.jsonl is missing"},
	}
	for _, tt := range tests {
		f := mirror.Files{Home: t.TempDir()}
		one := someTask()
		one.Status = "planning"
		must(t, f.Sync(one, record.LinesOf(lines, true), ""))
		path := f.Document(one.Project, one.ID)
		if old, now, edit := strings.Cut(tt.header, ">"); edit {
			text := read(t, path)
			if !strings.Contains(text, old) {
				t.Fatalf("%s: there is no %q in\n%s", tt.what, old, text)
			}
			write(t, path, strings.Replace(text, old, now, 1))
		}
		write(t, f.History(one.Project, one.ID), tt.history)
		if tt.history == "-" {
			must(t, os.Remove(f.History(one.Project, one.ID)))
		}
		before := read(t, path)
		got, err := f.Differs(one, lines)
		if err != nil || (tt.want == "") != (len(got) == 0) || !strings.HasPrefix(strings.Join(got, "; "), tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.what, got, err, tt.want)
		}
		if read(t, path) != before {
			t.Errorf("%s: the document was changed", tt.what)
		}
	}
}

func TestDiffers_callsADocumentThatItCannotReadAnError(t *testing.T) {
	t.Parallel()
	f, one := mirror.Files{Home: t.TempDir()}, someTask()
	must(t, os.MkdirAll(f.Document(one.Project, one.ID), 0o755))
	if got, err := f.Differs(one, nil); err == nil {
		t.Errorf("a folder in its place: %v", got)
	}
}

func TestKeepHistory_neverOverwritesACopy(t *testing.T) {
	t.Parallel()
	f, one := mirror.Files{Home: t.TempDir()}, someTask()
	path := f.History(one.Project, one.ID)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	for i, text := range []string{"first\n", "second\n", "first\n"} {
		write(t, path, text)
		kept, err := f.KeepHistory(one.Project, one.ID, "torn")
		must(t, err)
		if got := read(t, kept); got != text || (i != 1) != strings.HasSuffix(kept, ".torn") {
			t.Errorf("kept %q in %s, want %q", got, kept, text)
		}
	}
}

func TestFolders_listsThoseOfTasksOnly(t *testing.T) {
	t.Parallel()
	f := mirror.Files{Home: t.TempDir()}
	if got, err := f.Folders(); err != nil || len(got) != 0 {
		t.Errorf("before the first task: %v, %v", got, err)
	}
	for _, dir := range []string{"garden/b", "garden/a", "garden/.hidden", "yard/c"} {
		must(t, os.MkdirAll(filepath.Join(f.Home, "tasks", dir), 0o755))
	}
	write(t, filepath.Join(f.Home, "tasks", "garden", "file"), "x")
	got, err := f.Folders()
	must(t, err)
	if len(got) != 3 || got[0] != [2]string{"garden", "a"} || got[1] != [2]string{"garden", "b"} ||
		got[2] != [2]string{"yard", "c"} {
		t.Errorf("found %v", got)
	}
}
