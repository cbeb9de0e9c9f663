package detail

import (
	"slices"
	"testing"

	"orange/internal/ui/dashboard/screen"
)

func TestPaneText_everyLineHasAllOfItsColours(t *testing.T) {
	t.Parallel()
	got := paneText(Pane{Lines: []string{"\x1b[31mred", "still red \x1b[1mand bold", "both\x1b[0m none", "none",
		"\x1b[0;4mline", "\x1b[4mline", "\x1b[mend",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b[2J\x1b[>4;1mx"}}, 40)
	want := []string{
		"\x1b[31mred\x1b[0m", "\x1b[31mstill red \x1b[1mand bold\x1b[0m",
		"\x1b[31m\x1b[1mboth\x1b[0m none\x1b[0m", "none", "\x1b[0;4mline\x1b[0m",
		"\x1b[0;4m\x1b[4mline\x1b[0m", "\x1b[0;4m\x1b[4m\x1b[mend\x1b[0m", "link x",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What an agent said last is read whole; a terminal that lives is drawn by its program for a width.
func TestPaneText_breaksTheLinesOfTheDeadAlone(t *testing.T) {
	t.Parallel()
	lines := []string{"\x1b[31mthe disk is full"}
	dead := []string{"\x1b[31mthe disk\x1b[0m", "\x1b[31mis full\x1b[0m"}
	if got := paneText(Pane{Lines: lines, Dead: true}, 8); !slices.Equal(got, dead) {
		t.Errorf("got %q, want %q", got, dead)
	}
	if got := paneText(Pane{Lines: lines}, 8); !slices.Equal(got, []string{"\x1b[31mthe dis…\x1b[0m"}) {
		t.Errorf("of a terminal that lives: %q", got)
	}
}

func TestShares_giveWhatIsNotNeededToOthers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		needs []int
		lines int
		want  []int
	}{
		{[]int{5, 50}, 30, []int{5, 25}}, {[]int{50, 50}, 30, []int{15, 15}}, {[]int{3, 4}, 30, []int{3, 4}},
		{[]int{50, 50, 2}, 11, []int{4, 4, 2}}, {[]int{50, 50}, 0, []int{2, 2}}, {nil, 10, []int{}},
	} {
		if got := shares(row.needs, row.lines); !slices.Equal(got, row.want) {
			t.Errorf("%v of %d: got %v, want %v", row.needs, row.lines, got, row.want)
		}
	}
}

func TestHunk_aRemovedLineOfDashesIsNoNameOfAFile(t *testing.T) {
	t.Parallel()
	s := screen.NewStyle()
	var h hunk
	for _, row := range []struct {
		line string
		look any
	}{
		{"diff --git a/x b/x", &s.Bold}, {"--- a/x", &s.Faint}, {"+++ b/x", &s.Faint}, {"@@ -1,2 +1 @@", &s.Info},
		{"--- a", &s.Bad}, {"+++ b", &s.Added}, {`\ No newline at end of file`, &s.Faint},
		{"-c", &s.Bad}, {"@@ -9 +9,0 @@", &s.Info}, {"-x", &s.Bad}, {"diff --git a/y b/y", &s.Bold},
		{"--- a/y", &s.Faint}, {"@@ -1,100 +1,100 @@", &s.Info}, {"diff --git a/z b/z", &s.Bold},
		{"index 1..2", &s.Faint},
	} {
		if got := h.style(s, row.line); any(got) != row.look {
			t.Errorf("%q looks otherwise", row.line)
		}
	}
}

func TestReadLog_keepsTheOrderOfWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	e, ok := readLog(
		`{"level":"info","zeta":1,"alpha":{"b":[1, 2]},"empty":"","said":"two\nwords","task":"me","msg":"done"}`, "me")
	want := [][2]string{{"zeta", "1"}, {"alpha", `{"b":[1,2]}`}, {"said", `"two words"`}}
	if !ok || e.msg != "done" || !slices.Equal(e.rest, want) {
		t.Errorf("got %v %+v", ok, e)
	}
	for _, line := range []string{"", "[1]", "{", `{"a"`, `{"a":}`, "text"} {
		if _, ok := readLog(line, ""); ok {
			t.Errorf("%q is read as a line of the log", line)
		}
	}
}
