package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orange/internal/rules/document"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/store/mirror"
)

func documentOf(t *testing.T, files mirror.Files, one task.Task) *document.Document {
	t.Helper()
	return document.Read([]byte(read(t, files.Document(one.Project, one.ID))))
}

func wantField(t *testing.T, d *document.Document, key, want string) {
	t.Helper()
	if got, ok := d.Front.Get(key); !ok || got != want {
		t.Errorf("TASK.md shows %s = %.60q (%v), want %.60q", key, got, ok, want)
	}
}

// syncFiles makes the mirrors equal to the record as the engine does: it has seen the header that is there.
func syncFiles(files mirror.Files, one task.Task, lines []string) error {
	header := ""
	if text, err := files.Read(one.Project, one.ID, false); err == nil {
		header = document.Read(text).Header()
	}
	return files.Sync(one, record.LinesOf(lines, true), header)
}

func TestSync_leavesAHeaderAloneThatNobodyHasCompared(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "\nbody\n")
	path := files.Document(one.Project, one.ID)
	seen := documentOf(t, files, one).Header()
	edited := strings.Replace(read(t, path), "summary: ", "summary: better ", 1)
	must(t, os.WriteFile(path, []byte(edited), 0o644))
	one.Status = "agent-review"
	if err := files.Sync(one, record.LinesOf([]string{"{}"}, true), seen); !errors.Is(err, task.ErrConflict) {
		t.Errorf("the error is %v", err)
	}
	if got := read(t, path); got != edited {
		t.Errorf("an edit that nobody had seen was overwritten: %q", got)
	}
	must(t, syncFiles(files, one, []string{"{}"}))
	wantField(t, documentOf(t, files, one), "status", "agent-review")
}

func TestSync_renewsTheHeaderInPlace(t *testing.T) {
	t.Parallel()
	const body = "\n# Garden\n\n## Plan\nAPPROACH: dig\r\n\ttabs, and \xff bytes"
	files, one := newFiles(t, body)
	path := files.Document(one.Project, one.ID)
	before, err := os.Stat(path)
	must(t, err)
	one.Status, one.Attention = "agent-review", "look: here"
	must(t, syncFiles(files, one, nil))
	after, err := os.Stat(path)
	must(t, err)
	if !os.SameFile(before, after) || before.Size() != after.Size() {
		t.Errorf("the file was replaced or is of another size: %d bytes, then %d", before.Size(), after.Size())
	}
	d := documentOf(t, files, one)
	wantField(t, d, "status", "agent-review")
	wantField(t, d, "attention", "look: here")
	if d.Body != body {
		t.Errorf("the body is %q, want %q", d.Body, body)
	}
}

func TestSync_writesNothingWhenNothingChanged(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "\nbody\n")
	lines := []string{`{"seq":1}`}
	must(t, syncFiles(files, one, lines))
	paths := []string{files.Document(one.Project, one.ID), filepath.Join(files.Dir(one.Project, one.ID),
		"history.jsonl")}
	old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, path := range paths {
		must(t, os.Chtimes(path, old, old))
	}
	must(t, syncFiles(files, one, lines))
	for _, path := range paths {
		info, err := os.Stat(path)
		must(t, err)
		if !info.ModTime().Equal(old) {
			t.Errorf("%s was written", filepath.Base(path))
		}
	}
}

func TestSync_keepsKeysOfTheUsersOwn(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	write(t, files.Document(one.Project, one.ID), "---\nid: abc\nmine: [1, 2]\nstatus: working\n---\nbody\n")
	one.Summary = strings.Repeat("long ", 200)
	must(t, syncFiles(files, one, nil))
	text := read(t, files.Document(one.Project, one.ID))
	if !strings.Contains(text, "\nmine: [1, 2]\n") {
		t.Errorf("the user's key is gone:\n%s", text)
	}
	wantField(t, document.Read([]byte(text)), "summary", one.Summary)
}

// linesOf are the lines of one writer, in the order in which they stand.
func linesOf(body, who string) []string {
	var out []string
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, who+" ") {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out
}

func wantAllLines(t *testing.T, body, who string, count int) {
	t.Helper()
	got := linesOf(body, who)
	if len(got) != count {
		t.Errorf("%d lines of the %s are there, want %d", len(got), who, count)
	}
	for i, line := range got {
		if want := fmt.Sprintf("%s %d", who, i+1); line != want {
			t.Fatalf("line %d of the %s is %q, want %q", i+1, who, line, want)
		}
	}
}

// While a goroutine and another process append, the header changes hundreds of times and outgrows its room again
// and again.
func TestSync_losesNoLineThatOthersAppend(t *testing.T) {
	t.Parallel()
	const body = "\n# Garden\n\n  leading blanks, trailing blanks  \n\n\n## Plan\r\nAPPROACH: dig\n"
	files, one := newFiles(t, body)
	dir := files.Dir(one.Project, one.ID)
	var stop atomic.Bool
	count := make(chan int, 1)
	go func() {
		n, err := appendLines(files.Document(one.Project, one.ID), "goroutine", stop.Load)
		if err != nil {
			t.Error(err)
		}
		count <- n
	}()
	other := startPart(t.Context(), "append "+dir)
	eventually(t, "the other process appends", func() bool {
		return strings.Contains(read(t, files.Document(one.Project, one.ID)), "\nprocess 1\n")
	})
	statuses := []task.Status{"working", "agent-review", "stuck"}
	for i := range 150 {
		one.Status = statuses[i%len(statuses)]
		if i%5 == 0 {
			one.Summary += strings.Repeat("more of it ", 8)
		}
		must(t, syncFiles(files, one, nil))
	}
	stop.Store(true)
	write(t, filepath.Join(dir, "stop"), "")
	must(t, <-other)
	mine := <-count
	d := documentOf(t, files, one)
	wantField(t, d, "summary", one.Summary)
	wantField(t, d, "status", string(one.Status))
	if !strings.HasPrefix(d.Body, body) {
		t.Errorf("the body does not begin as it did: %.120q", d.Body)
	}
	wantAllLines(t, d.Body, "goroutine", mine)
	theirs := linesOf(d.Body, "process")
	wantAllLines(t, d.Body, "process", len(theirs))
	wantNothingElse(t, strings.TrimPrefix(d.Body, body), mine+len(theirs))
	t.Logf("%d and %d lines", mine, len(theirs))
}

// wantNothingElse makes sure that a body holds as many lines as were written, and blank ones.
func wantNothingElse(t *testing.T, body string, count int) {
	t.Helper()
	written := 0
	for line := range strings.Lines(body) {
		if strings.TrimSpace(line) != "" {
			written++
		}
	}
	if written != count {
		t.Errorf("%d lines are in the body, want %d", written, count)
	}
}

func TestSync_leavesBlankLinesAtMostWhereTheHeaderGrew(t *testing.T) {
	t.Parallel()
	const body = "\none\ntwo without an end"
	files, one := newFiles(t, body)
	one.Summary = strings.Repeat("x", 5000)
	must(t, syncFiles(files, one, nil))
	d := documentOf(t, files, one)
	wantField(t, d, "summary", one.Summary)
	if got := strings.TrimRight(d.Body, " \n"); got != body {
		t.Errorf("the body is %q, want %q", d.Body, body)
	}
}

func TestSync_putsANewHeaderAboveWhatItCannotTrust(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"no header":               "# Garden\n\n## Plan\nAPPROACH: dig\n",
		"an empty file":           "",
		"one byte":                "x",
		"a header never closed":   "---\nid: abc\nstatus: working\n\n## Plan\nAPPROACH: dig\n",
		"bad YAML":                "---\nid: a: b\nsummary: \"open\n---\n## Plan\nAPPROACH: dig\n",
		"a heading in the header": "---\nid: abc\n\n## Plan\nx: y\n---\nrest\n",
		"a key twice":             "---\nid: abc\nid: def\n---\nrest\n",
		"binary":                  "\x00\x01\x02\xff\xfe",
		"a blank line above":      "\n---\nid: abc\n---\nrest\n",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, one := newFiles(t, "")
			write(t, files.Document(one.Project, one.ID), text)
			must(t, syncFiles(files, one, nil))
			d := documentOf(t, files, one)
			wantField(t, d, "status", "working")
			if broken := d.Broken(); broken != "" {
				t.Errorf("the new header is broken too: %s", broken)
			}
			if !strings.HasPrefix(d.Body, text) || strings.TrimSpace(strings.TrimPrefix(d.Body, text)) != "" {
				t.Errorf("the body is %q, want all of %q", d.Body, text)
			}
			once := read(t, files.Document(one.Project, one.ID))
			must(t, syncFiles(files, one, nil))
			if twice := read(t, files.Document(one.Project, one.ID)); twice != once {
				t.Error("a second Sync changed the document again")
			}
		})
	}
}

func TestSync_makesTheFolderAndTheDocumentAnew(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "\nbody\n")
	must(t, os.RemoveAll(files.Dir(one.Project, one.ID)))
	must(t, syncFiles(files, one, []string{"{}"}))
	wantField(t, documentOf(t, files, one), "id", "abc")
}

// What is where the document should be is named; neither Sync nor Read follows, blocks or replaces it.
func TestSyncAndRead_sayWhatStandsInPlaceOfTheDocument(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"a link", "a hard link", "a folder", "a pipe"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			files, one := newFiles(t, "")
			path := files.Document(one.Project, one.ID)
			target := filepath.Join(files.Home, "target")
			write(t, target, "precious")
			must(t, os.Remove(path))
			switch kind {
			case "a link":
				must(t, os.Symlink(target, path))
			case "a hard link":
				must(t, os.Link(target, path))
			case "a folder":
				must(t, os.Mkdir(path, 0o755))
			case "a pipe":
				must(t, syscall.Mkfifo(path, 0o644))
			}
			_, err := files.Read(one.Project, one.ID, true)
			wantError(t, err, kind)
			says := kind
			if kind == "a folder" {
				says = "directory" // the system refuses to open it for writing
			}
			wantError(t, syncFiles(files, one, nil), says)
			if err := files.Append(one.Project, one.ID, "x"); err == nil {
				t.Error("Append wrote into it")
			}
			if got := read(t, target); got != "precious" {
				t.Errorf("the link's target now holds %q", got)
			}
		})
	}
}

func TestRead_refusesAHugeDocumentAndSyncRenewsIt(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "\n"+strings.Repeat("0123456789abcde\n", mirror.MaxDocument/16))
	_, err := files.Read(one.Project, one.ID, true)
	wantError(t, err, "larger than")
	one.Status = "stuck"
	must(t, syncFiles(files, one, nil))
	wantField(t, documentOf(t, files, one), "status", "stuck")
}

func TestRead_namesTheLargestSectionOfADocumentThatIsTooLarge(t *testing.T) {
	t.Parallel()
	log := strings.Repeat("0123456789abcde\n", 3<<16)
	files, one := newFiles(t, "\n## Plan\n\nx\n\n## Log\n\n"+log+"## Last\n\ny\n")
	_, err := files.Read(one.Project, one.ID, true)
	wantError(t, err, `is larger than 2 MiB: its largest section, "## Log", has 3.0 MiB; keep what belongs to the task`+
		` and move the rest into a file of its own`)
	if !errors.Is(err, document.ErrTooLarge) {
		t.Errorf("the error is %v, want one of its size", err)
	}
}

func TestRead_ofAMissingDocumentIsNotExist(t *testing.T) {
	t.Parallel()
	_, err := (mirror.Files{Home: t.TempDir()}).Read("garden", "nobody", true)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v, want one that says that it does not exist", err)
	}
}

func TestSync_repairsTheHistory(t *testing.T) {
	t.Parallel()
	lines := []string{`{"seq":1}`, `{"seq":2}`, `{"seq":3}`}
	whole := strings.Join(lines, "\n") + "\n"
	tests := map[string]string{
		"up to date":      whole,
		"empty":           "",
		"one line behind": lines[0] + "\n" + lines[1] + "\n",
		"torn line":       whole[:14],
		"changed line":    strings.Replace(whole, "2", "9", 1),
		"too long":        whole + "{}\n",
		"binary":          "\x00\xff",
	}
	for name, have := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, one := newFiles(t, "")
			path := filepath.Join(files.Dir(one.Project, one.ID), "history.jsonl")
			write(t, path, have)
			before, err := os.Stat(path)
			must(t, err)
			must(t, syncFiles(files, one, lines))
			if got := read(t, path); got != whole {
				t.Errorf("the history is %q, want %q", got, whole)
			}
			after, err := os.Stat(path)
			must(t, err)
			if grows := strings.HasPrefix(whole, have); grows != os.SameFile(before, after) {
				t.Errorf("the same file: %v, want %v", os.SameFile(before, after), grows)
			}
		})
	}
}

func TestSync_replacesWhatStandsInPlaceOfTheHistory(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"nothing", "a link", "a hard link", "a pipe"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			files, one := newFiles(t, "")
			path := filepath.Join(files.Dir(one.Project, one.ID), "history.jsonl")
			target := filepath.Join(files.Home, "target")
			write(t, target, "{}\n")
			switch kind {
			case "a link":
				must(t, os.Symlink(target, path))
			case "a hard link":
				must(t, os.Link(target, path))
			case "a pipe":
				must(t, syscall.Mkfifo(path, 0o644))
			}
			done := make(chan error, 1)
			go func() { done <- syncFiles(files, one, []string{"{}", "{}"}) }()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			select {
			case err := <-done:
				must(t, err)
			case <-ctx.Done():
				t.Fatal("Sync hangs")
			}
			if got := read(t, path); got != "{}\n{}\n" {
				t.Errorf("the history is %q", got)
			}
			if got := read(t, target); got != "{}\n" {
				t.Errorf("the link's target now holds %q", got)
			}
		})
	}
}

func TestSync_leavesNoTemporaryFiles(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	for i := range 5 {
		one.Summary = strings.Repeat("y", i*700)
		must(t, syncFiles(files, one, []string{fmt.Sprint(i)}))
	}
	entries, err := os.ReadDir(files.Dir(one.Project, one.ID))
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{mirror.DocumentName, "history.jsonl"}; !slices.Equal(names, want) {
		t.Errorf("the folder holds %v, want %v", names, want)
	}
}

// A move compares no more of history.jsonl than its length and its last line, and asks for no more of the record than
// is missing.
func TestSync_extendsAHistoryThatEndsAsTheRecordDid(t *testing.T) {
	t.Parallel()
	line := func(seq int) string { return fmt.Sprintf(`{"seq":%d,"type":"task.updated"}`, seq) }
	whole := []string{line(1), line(2), line(3), line(4)}
	text := strings.Join(whole, "\n") + "\n"
	for _, tt := range []struct {
		name, have string
		asked      int // the event after which lines were asked for; 0 is the whole history
	}{
		{"as it was two events ago", line(1) + "\n" + line(2) + "\n", 1},
		{"as it is", text, 3},
		{"not there", "", 0},
		{"cut short", line(1) + "\n" + line(2)[:9], 0},
		{"without its last line feed", line(1) + "\n" + line(2), 0},
		{"with another line at its end", line(1) + "\n" + line(2) + "\nsomething else\n", 0},
		{"with another event at its end", line(1) + "\n" + strings.Replace(line(2), "updated", "created", 1) + "\n", 0},
		{"with a line gone from its middle", line(1) + "\n" + line(3) + "\n", 0},
		{"with a line too much", line(1) + "\n" + line(1) + "\n" + line(2) + "\n", 0},
		{"longer than the record", text + line(5) + "\n", 0},
	} {
		files, one := newFiles(t, "")
		path := filepath.Join(files.Dir(one.Project, one.ID), "history.jsonl")
		if tt.have != "" {
			must(t, os.WriteFile(path, []byte(tt.have), 0o600))
		}
		least := len(whole)
		past := record.LinesOf(whole, false)
		ask := past.Tail
		past.Tail = func(after int) ([]string, int64, error) {
			least = min(least, after)
			return ask(after)
		}
		header := documentOf(t, files, one).Header()
		must(t, files.Sync(one, past, header))
		if got := read(t, path); got != text || least != tt.asked {
			t.Errorf("%s: asked for the lines after %d, want after %d; the file is %q", tt.name, least, tt.asked, got)
		}
	}
}

func TestSync_comparesTheWholeHistoryWhereItIsAskedTo(t *testing.T) {
	t.Parallel()
	lines := []string{`{"seq":1,"summary":"a"}`, `{"seq":2}`}
	for _, whole := range []bool{false, true} {
		files, one := newFiles(t, "")
		path := filepath.Join(files.Dir(one.Project, one.ID), "history.jsonl")
		edited := strings.Replace(strings.Join(lines, "\n")+"\n", `"a"`, `"b"`, 1)
		must(t, os.WriteFile(path, []byte(edited), 0o600))
		must(t, files.Sync(one, record.LinesOf(lines, whole), documentOf(t, files, one).Header()))
		if got := read(t, path); (got == edited) == whole {
			t.Errorf("compared whole: %v; the file is %q", whole, got)
		}
	}
}

func TestStamps_ofAFileThatIsCutShortAreNone(t *testing.T) {
	t.Parallel()
	files, _ := newFiles(t, "")
	if found := files.Stamps(); len(found) > 0 {
		t.Errorf("before the first time there are %v", found)
	}
	must(t, os.MkdirAll(filepath.Join(files.Home, "locks"), 0o700))
	must(t, files.KeepStamps(map[string]uint64{"one": 3}))
	if found := files.Stamps(); len(found) != 1 || found["one"] != 3 {
		t.Errorf("kept, and found %v", found)
	}
	must(t, os.Truncate(filepath.Join(files.Home, "locks", "stamps.json"), 5))
	if found := files.Stamps(); len(found) > 0 {
		t.Errorf("of a part of the file there are %v", found)
	}
}

// An agent writes in its task's folder: a file without end, or with a terabyte of nothing, is not read.
func TestHistory_thatIsFarLongerThanTheRecordIsNotRead(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	lines := []string{`{"seq":1}`, `{"seq":2}`}
	path := files.History(one.Project, one.ID)
	write(t, path, "")
	must(t, os.Truncate(path, 1<<40))
	differs, err := files.Differs(one, lines)
	must(t, err)
	if !slices.Contains(differs, "history.jsonl has more than is on record") {
		t.Errorf("it differs in %q", differs)
	}
	if _, err := files.ReadHistory(one.Project, one.ID); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("reading it: %v", err)
	}
	must(t, syncFiles(files, one, lines))
	if got := read(t, path); got != strings.Join(lines, "\n")+"\n" {
		t.Errorf("the history is %q", got)
	}
}

func TestSync_readsNoDocumentThatIsTooLarge(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	path := files.Document(one.Project, one.ID)
	must(t, os.Truncate(path, 0)) // without a header, which is to come above all the rest
	must(t, os.Truncate(path, mirror.MaxDocument+1))
	wantError(t, files.Sync(one, record.LinesOf([]string{"{}"}, true), ""), "larger than 32 MiB")
	if info, err := os.Stat(path); err != nil || info.Size() != mirror.MaxDocument+1 {
		t.Errorf("it has %d bytes: %v", info.Size(), err)
	}
}

// A record that lost its newest commits is behind its copy: what the copy has more stays somewhere.
func TestSync_keepsAHistoryThatGoesOnWhereTheRecordEnds(t *testing.T) {
	t.Parallel()
	files, one := newFiles(t, "")
	path := files.History(one.Project, one.ID)
	ahead := `{"seq":1}` + "\n" + `{"seq":2}` + "\n" + `{"seq":3}` + "\n"
	write(t, path, ahead)
	must(t, syncFiles(files, one, []string{`{"seq":1}`, `{"seq":2,"x":1}`}))
	write(t, path, ahead)
	must(t, syncFiles(files, one, []string{`{"seq":1}`}))
	if got := read(t, path); got != `{"seq":1}`+"\n" {
		t.Errorf("the history is %q", got)
	}
	if got := read(t, path+".ahead"); got != ahead {
		t.Errorf("what it had more is %q", got)
	}
	write(t, path, ahead+"a line that no record wrote\n")
	must(t, syncFiles(files, one, []string{`{"seq":1}`, `{"seq":2}`, `{"seq":3}`}))
	if _, err := os.Stat(path + ".ahead-2"); err == nil {
		t.Error("words of no record are kept as its history")
	}
}
