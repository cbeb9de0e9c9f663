package logfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/task"
	"orange/internal/store/mirror"
)

func newFile(t *testing.T, dir string, size int64, kept int) *Log {
	t.Helper()
	f := &Log{path: filepath.Join(dir, "orange.log"), size: size, kept: kept, lock: mirror.Files{Home: dir}.Lock}
	if err := f.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func writeLine(t *testing.T, f *Log, line string) {
	t.Helper()
	if n, err := f.Write([]byte(line + "\n")); err != nil || n != len(line)+1 {
		t.Fatalf("wrote %d bytes: %v", n, err)
	}
}

func readLog(t *testing.T, f *Log) string {
	t.Helper()
	text, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func logged(t *testing.T, dir string, lines int) string {
	t.Helper()
	var out bytes.Buffer
	if err := Print(&out, filepath.Join(dir, "orange.log"), func([]byte) bool { return true }, lines); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestALogLineHasTimeLevelComponentAndMessage(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := NewLogger(&out, slog.LevelInfo)
	log.Debug("below the level", "component", "engine")
	log.Warn("moved", "component", "engine", "task", "abc", "time", "noon", slog.Group("inside", "level", "HIGH"))
	text := out.String()
	if want := regexp.MustCompile(
		`^\{"ts":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","level":"warn","msg":"moved","component":"engine","task":"abc","time":"noon","inside":\{"level":"HIGH"\}\}\n$`); !want.MatchString(text) {
		t.Errorf("found %s", text)
	}
	var line struct{ TS string }
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		t.Fatal(err)
	}
	if at, err := time.Parse(task.TimeFormat, line.TS); err != nil || time.Since(at) < 0 || time.Since(at) > time.Hour {
		t.Errorf("%q is not this moment in UTC: %v", line.TS, err)
	}
}

func TestAWrongLogLevelIsRefusedWithTheRightOnes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]slog.Level{
		"": slog.LevelInfo, "debug": slog.LevelDebug, "info": slog.LevelInfo, "WARN": slog.LevelWarn,
		"Error": slog.LevelError,
	} {
		if level, err := Level(name); err != nil || level != want {
			t.Errorf("%q is %v, %v", name, level, err)
		}
	}
	for _, name := range []string{"warning", "info+1", "loud", " info", "0"} {
		_, err := Level(name)
		if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), "debug, info, warn or error") ||
			!strings.Contains(err.Error(), strconv.Quote(name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestALogThatIsFullIsSetAsideAndThreeAreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newFile(t, dir, 100, 3)
	for n := range 6 {
		writeLine(t, f, fmt.Sprintf("%d%s", n, strings.Repeat("x", 100))) // each fills a file
	}
	if aside, err := asideFiles(f.path); err != nil || len(aside) != 3 {
		t.Errorf("%q are kept, %v", aside, err)
	}
	var first []string
	for _, line := range strings.Fields(logged(t, dir, 100)) {
		first = append(first, line[:1])
	}
	if got := strings.Join(first, ""); got != "2345" {
		t.Errorf("the lines left begin with %s, want 2345", got)
	}
	if text := readLog(t, f); !strings.HasPrefix(text, "5") || strings.Count(text, "\n") != 1 {
		t.Errorf("the log holds %q, want only the last line", text)
	}
}

// Defect: two logs that were set aside within one millisecond had one name, and the second replaced the first.
func TestALogSetAside_replacesNoOtherWhateverTheClockSays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newFile(t, dir, 100, 1000)
	// As many as can be in the next two seconds, one a millisecond, and one of an hour ahead.
	now := time.Now().UTC().Truncate(time.Millisecond)
	var want []string
	for n := range 2001 {
		at := now.Add(time.Duration(n) * time.Millisecond)
		if n == 2000 {
			at = now.Add(time.Hour)
		}
		want = append(want, fmt.Sprintf("before %d", n))
		must(t, os.WriteFile(filepath.Join(dir, "orange-"+at.Format(asideLayout)+".log"), []byte(want[n]+"\n"), 0o600))
	}
	f.kept = len(want) + 10
	for n := range 3 {
		want = append(want, fmt.Sprintf("%d%s", n, strings.Repeat("x", 100)))
		writeLine(t, f, want[len(want)-1]) // it fills a file
	}
	if got := strings.Split(strings.TrimSpace(logged(t, dir, 5000)), "\n"); !slices.Equal(got, want) {
		t.Errorf("of %d lines %d are there, the last are %q", len(want), len(got), got[max(0, len(got)-5):])
	}
}

func TestAProcessThatLivesForLongFollowsTheLog(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]func(*testing.T, *Log){
		"set aside by another process": func(t *testing.T, old *Log) {
			other := newFile(t, filepath.Dir(old.path), old.size, old.kept)
			writeLine(t, other, strings.Repeat("x", 100))
			writeLine(t, other, "another's") // sets aside what is full
		},
		"moved by a person":   func(t *testing.T, old *Log) { must(t, os.Rename(old.path, old.path+".mine")) },
		"removed by a person": func(t *testing.T, old *Log) { must(t, os.Remove(old.path)) },
		"replaced by another": func(t *testing.T, old *Log) {
			must(t, os.Rename(old.path, old.path+".mine"))
			must(t, os.WriteFile(old.path, []byte("new\n"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFile(t, t.TempDir(), 100, 3)
			writeLine(t, f, "before")
			gone(t, f)
			writeLine(t, f, "after")
			if text := readLog(t, f); !strings.Contains(text, "after\n") || strings.Contains(text, "before") {
				t.Errorf("the log at the path holds %q", text)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestALineIsNotLostWhereTheLogCannotBeFollowed(t *testing.T) {
	t.Parallel()
	f := newFile(t, t.TempDir(), 100, 3)
	writeLine(t, f, strings.Repeat("x", 100))
	broken := errors.New("no lock is to be had")
	f.lock = func(context.Context, string) (func(), error) { return nil, broken }
	if _, err := f.Write([]byte("still here\n")); !errors.Is(err, broken) {
		t.Errorf("the fault is not reported: %v", err)
	}
	if text := readLog(t, f); !strings.HasSuffix(text, "still here\n") {
		t.Errorf("the log holds %q", text)
	}
}

// Each writer is a process of its own: the test runs itself again. Nothing is removed, so every line must be
// there, whole and once.
func TestProcessesThatSetTheLogAsideTogetherLoseOrTearNoLine(t *testing.T) {
	const writers, size = 6, 64 << 10
	lines := 2000
	if os.Getenv("ORANGE_TEST_LONG") != "" {
		lines = 6000
	}
	if who := os.Getenv("ORANGE_TEST_LOG_WRITER"); who != "" {
		f := newFile(t, os.Getenv("ORANGE_TEST_LOG_DIR"), size, 1000)
		for n := range lines {
			// Some open the log again, as short commands do.
			if n%100 == 99 {
				must(t, f.Close())
				f.file = nil
				must(t, f.open())
			}
			writeLine(t, f, fmt.Sprintf("%s %d %s.", who, n, strings.Repeat(who, 10+n%300)))
		}
		return
	}
	t.Parallel()
	dir := t.TempDir()
	var processes []*exec.Cmd
	for who := range writers {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("ORANGE_TEST_LOG_WRITER=%d", who), "ORANGE_TEST_LOG_DIR="+dir)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		must(t, cmd.Start())
		processes = append(processes, cmd)
	}
	for _, cmd := range processes {
		if err := cmd.Wait(); err != nil {
			t.Errorf("a writer ended with %v: %s", err, cmd.Stdout)
		}
	}
	aside, err := asideFiles(filepath.Join(dir, "orange.log"))
	if err != nil || len(aside) < 10 {
		t.Fatalf("the log was set aside %d times (%v), too few to tell", len(aside), err)
	}
	for _, name := range aside {
		info, err := os.Stat(name)
		if err != nil || info.Size() < size || info.Size() > size+writers*1000 {
			t.Errorf("%s was set aside with %d bytes: %v", name, info.Size(), err)
		}
	}
	found := map[string]int{}
	whole := regexp.MustCompile(`^(\d) (\d+) \d+\.$`)
	all := strings.Split(strings.TrimSuffix(logged(t, dir, writers*lines+1000), "\n"), "\n")
	for _, line := range all {
		match := whole.FindStringSubmatch(line)
		if match == nil || line != fmt.Sprintf("%s %s %s.", match[1], match[2],
			strings.Repeat(match[1], 10+number(match[2])%300)) {
			t.Fatalf("a line is torn: %q", line)
		}
		found[match[1]+" "+match[2]]++
	}
	if len(all) != writers*lines || len(found) != writers*lines {
		t.Errorf("%d lines, %d different ones, want %d", len(all), len(found), writers*lines)
	}
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func TestTheLastLinesIncludeThoseOfFilesSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"orange-2026-01-02T03-04-05.678.log": "3\n4\n", "orange-2025-12-31T03-04-05.678.log": "1\n2\n",
		"orange.log": "5\n6\n7", "orange-notes.log": "mine\n", "orange-2026-01-02T03-04-05.678.log.txt": "mine\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for lines, want := range map[int]string{1: "7", 3: "567", 4: "4567", 6: "234567", 100: "1234567"} {
		if got := strings.Join(strings.Fields(logged(t, dir, lines)), ""); got != want {
			t.Errorf("the last %d are %s, want %s", lines, got, want)
		}
	}
	must(t, os.Remove(filepath.Join(dir, "orange.log"))) // as in the middle of being set aside
	if got := strings.Join(strings.Fields(logged(t, dir, 3)), ""); got != "234" {
		t.Errorf("without the log itself the last are %s", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, "orange.log"), []byte(strings.Repeat("x", 3<<20)+"\nlast\n"), 0o644))
	if got := logged(t, dir, 2); len(got) != 3<<20+6 {
		t.Errorf("a line of three megabytes is not given back: %d bytes", len(got))
	}
}

func BenchmarkLogLine(b *testing.B) {
	dir := b.TempDir()
	f := &Log{path: filepath.Join(dir, "orange.log"), size: 1 << 40, kept: 3, lock: mirror.Files{Home: dir}.Lock}
	if err := f.open(); err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for name, write := range map[string]func([]byte) (int, error){"followed": f.Write, "bare": f.file.Write} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := write(
					[]byte(
						`{"ts":"2026-01-02T03:04:05.678Z","level":"info","msg":"hook begins","component":"hook","task":"abc"}` + "\n")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if err := f.open(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
