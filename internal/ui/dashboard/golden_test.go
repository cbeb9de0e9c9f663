package dashboard

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false,
	"write what the screens show now into the golden files; look at the difference before you keep it")

// golden compares what a screen shows with testdata/screens/NAME.txt.
func golden(t *testing.T, name, got string) {
	t.Helper()
	compareFile(t, filepath.Join("testdata", "screens", name+".txt"), got)
}

func compareFile(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what is shown; go test ./internal/ui/dashboard -update writes it\ngot:\n%s\nwant:\n%s",
			file, got, want)
	}
}

// plainScreen is what a person reads: no colours, no blanks at the ends of lines.
func plainScreen(screen string) string {
	lines := strings.Split(ansi.Strip(screen), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// painted is a screen with its colours as words that can be read: \x1b[1;36m is {1;36}, and the end of it {}.
func painted(screen string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(screen, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String() + "\n"
		}
		colour, rest, _ := strings.Cut(after, "m")
		b.WriteString("{" + strings.TrimPrefix(colour, "0") + "}")
		screen = rest
	}
}
