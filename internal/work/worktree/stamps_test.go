package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestStamps_tellOfAFileThatIsWrittenThroughMemory(t *testing.T) {
	t.Parallel()
	slot := newHome(t).prepared(t, "fix", "abc")
	held := mapping(t, filepath.Join(slot.Dir, "a.txt"))
	held[0] = 'o' // the page is written to: the next write has no time of its own
	before, err := slot.Files().Stamps(t.Context())
	if err != nil || len(before.Differ) > 0 {
		t.Fatalf("%q differ: %v", before.Differ, err)
	}
	held[0] = 'X'
	if got := before.Changed(); !slices.Equal(got, []string{"a.txt"}) {
		t.Errorf("found %q", got)
	}
	after, err := slot.Files().Stamps(t.Context())
	if err != nil || !slices.Equal(after.Differ, []string{"a.txt"}) {
		t.Errorf("%q differ: %v", after.Differ, err)
	}
	if err := slot.PlaceAt(t.Context(), "HEAD"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(slot.Dir, "a.txt")); string(text) != "one\n" {
		t.Errorf("a checkout of the commit has %q: %v", text, err)
	}
}

// mapping is the content of a file as a program has it that maps it.
func mapping(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	held, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(held); err != nil {
			t.Error(err)
		}
	})
	return held
}

func TestStamps_differInNothingThatFiltersMake(t *testing.T) {
	t.Parallel()
	slot := newHome(t).prepared(t, "fix", "abc")
	write(t, slot.Dir, ".gitattributes", "*.bat text eol=crlf\n*.id ident\n")
	write(t, slot.Dir, "a.bat", "one\r\n")
	write(t, slot.Dir, "b.id", "$Id$\n")
	write(t, slot.Dir, "with \"quotes\"\nand\\lines.bat", "one\r\n")
	if err := os.Symlink("a.txt", filepath.Join(slot.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, slot.Dir, "add", "-A")
	gitIn(t, slot.Dir, "commit", "-q", "-m", "filters")
	gitIn(t, slot.Dir, "checkout", "-q", "HEAD", "--", ".")
	for _, name := range []string{"", "a.bat", "with \"quotes\"\nand\\lines.bat", "b.id", "link"} {
		var want []string
		if path := filepath.Join(slot.Dir, name); name != "" {
			want = []string{name}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			write(t, slot.Dir, name, "two\r\n")
		}
		now, err := slot.Files().Stamps(t.Context())
		if err != nil || !slices.Equal(now.Differ, want) {
			t.Errorf("%q differ, and %q should: %v", now.Differ, want, err)
		}
		gitIn(t, slot.Dir, "checkout", "-q", "HEAD", "--", ".")
	}
}

func TestStamps_tellAlsoOfFilesThatAreAsTheyWereAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do   func(dir string) error
		want []string
	}{
		"nothing":      {func(string) error { return nil }, nil},
		"another file": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) }, nil},
		"a file that is put right and back": {func(dir string) error {
			file := filepath.Join(dir, "a.txt")
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, []byte("right"), 0o600)
			}
			if err == nil {
				err = os.WriteFile(file, text, 0o600)
			}
			if err == nil {
				err = os.Chtimes(file, info.ModTime(), info.ModTime())
			}
			return err
		}, []string{"a.txt"}},
		"a file that is moved away and back": {func(dir string) error {
			file := filepath.Join(dir, "a.txt")
			if err := os.Rename(file, file+".away"); err != nil {
				return err
			}
			return os.Rename(file+".away", file)
		}, []string{"a.txt"}},
		"a file that is gone": {func(dir string) error { return os.Remove(filepath.Join(dir, "a.txt")) },
			[]string{"a.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slot := newHome(t).prepared(t, "fix", "abc")
			before, err := slot.Files().Stamps(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.do(slot.Dir); err != nil {
				t.Fatal(err)
			}
			if got := before.Changed(); !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}
