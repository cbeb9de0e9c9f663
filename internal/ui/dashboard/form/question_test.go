package form

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/ui/dashboard/screen"
)

// Who answers a question sees whether they have read all of what it is about.
func TestAQuestionThatDoesNotFitSaysThatItsTextWasCut(t *testing.T) {
	t.Parallel()
	style := screen.NewStyle()
	text := strings.Repeat("feat/a-branch-with-a-name, ", 30)
	q := Question{Style: style, Title: "Start 30 tasks?", Text: text,
		Answers: []Answer{{Key: "y", Label: "start them"}}}
	for _, size := range [][2]int{{80, 10}, {40, 12}, {120, 8}} {
		shown := ansi.Strip(strings.Join(q.box(size[0], size[1]), "\n"))
		for _, want := range []string{" …", "y  start them", "n  leave it"} {
			if !strings.Contains(shown, want) {
				t.Errorf("at %v it lacks %q:\n%s", size, want, shown)
			}
		}
	}
	q.Text = "feat/one."
	if shown := strings.Join(q.box(80, 10), "\n"); strings.Contains(shown, "…") {
		t.Errorf("it was cut:\n%s", shown)
	}
}
