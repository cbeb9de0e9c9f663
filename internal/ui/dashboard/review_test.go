package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"orange/internal/rules/diff"
	"orange/internal/rules/task"
	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/screen"
)

const reviewedPatch = ` basket/basket.go | 9 ++++++---
 new, not added: notes.txt

diff --git a/basket/basket.go b/basket/basket.go
index 1111111..2222222 100644
--- a/basket/basket.go
+++ b/basket/basket.go
@@ -10,7 +10,9 @@ func (b *Basket) Total() int {
 	total := 0
 	for _, item := range b.items {
-		total += item.price * item.count // in cents
+		total += item.price * item.amount // in cents
 	}
-	return total
+	if total < 0 {
+		return 0 // "never" less
+	}
+	return total
 }
 
@@ -40,3 +42,3 @@ func (b *Basket) Add(name string, count int) {
 	b.items = append(b.items, item{name, count})
-	b.changed = true
+	b.changed, b.since = true, "a rather long text that does not fit into the width of a small screen at all, and goes on"
 }
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/db/schema.sql b/db/schema.sql
new file mode 100644
index 0000000..2222222
--- /dev/null
+++ b/db/schema.sql
@@ -0,0 +1,2 @@
+-- the basket of a person
+CREATE TABLE basket (person TEXT NOT NULL, item TEXT);
\ No newline at end of file
`

// reviewed is a backend with a task that a person reviews.
func reviewed(t testing.TB) *fakeBackend {
	t.Helper()
	one := aTask(t, 1, "reviewing", func(one *task.Task) {
		one.Branch, one.Summary = "feature/basket", "The basket has a total"
	})
	patch := diff.Patch{Text: reviewedPatch, Base: "origin/main", From: "1111111aaaa", To: "3333333cccc", Loose: true,
		Dir: "/w/shop--1", Last: "2222222bbbb", Judged: "agent-review → working by reviewer",
		Review: "Verdict: FAIL\n\n- basket.go:17 is never reached\n- `db/schema.sql:9`: an index is missing\n"}
	since := patch
	since.Base, since.From = "", "2222222bbbb"
	since.Text = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
	return &fakeBackend{tasks: []task.Task{one},
		patches: map[string]diff.Patch{one.ID: patch, "since " + one.ID: since}}
}

// openReview opens the review of the only task.
func openReview(t testing.TB, backend *fakeBackend, width, height int) *session {
	t.Helper()
	s := openSession(t, backend, width, height)
	s.press("D")
	return s
}

func TestReview_looksAsItShould(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}, {50, 12}} {
		name := fmt.Sprintf("%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openReview(t, reviewed(t), size[0], size[1])
			golden(t, "review_"+name, s.text())
			s.press("]") // the first changed line
			s.press("c")
			s.write("Amount of what?")
			s.press("ctrl+s")
			golden(t, "review_comment_"+name, s.text())
			s.press("r")
			golden(t, "review_send_"+name, s.text())
		})
	}
}

func TestReview_itsColours(t *testing.T) {
	t.Parallel()
	s := openReview(t, reviewed(t), 80, 40)
	golden(t, "review_colours", painted(s.m.View().Content))
}

func TestReview_commentsAreKeptAndSentTogether(t *testing.T) {
	t.Parallel()
	backend := reviewed(t)
	id := backend.tasks[0].ID
	s := openReview(t, backend, 100, 40)
	s.press("c") // on the list of files
	s.shows("c: no line of a file is selected")
	s.press("]", "c")
	s.shows("Comment on basket/basket.go:12")
	s.press("esc", "k", "k", "k", "k", "c") // on the head of the hunk: its first change, as it is now
	s.shows("Comment on basket/basket.go:12")
	s.press("esc", "]", "[", "c")
	s.shows("Comment on basket/basket.go:12")
	s.press("ctrl+s")
	s.shows("This cannot be empty")
	s.write("Amount of what?")
	s.press("ctrl+s")
	s.shows("commented on basket/basket.go:12")
	s.shows("you, on basket/basket.go:12: Amount of what?")
	s.shows("1 comment to send")
	s.press("j", "j", "j", "V", "j", "j", "j", "c")
	s.shows("Comment on basket/basket.go:14-16")
	s.write("Why?")
	s.press("ctrl+s")
	s.shows("2 comments to send")
	// one on a line that is gone
	s.press("g", "}", "k", "c")
	s.shows("Comment on basket/basket.go:12")
	s.write("Keep it.")
	s.press("ctrl+s")
	gone := slices.IndexFunc(backend.comments[id], func(c diff.Comment) bool { return c.Gone })
	if len(backend.comments[id]) != 3 || gone < 0 {
		t.Fatalf("kept are %+v", backend.comments[id])
	}
	// another start of the program has them too
	backend.strict = nil
	s = openReview(t, backend, 100, 40)
	s.shows("3 comments to send")
	// a comment is changed, and another one is taken away
	s.press(">", ">", "c")
	s.write("No: ")
	s.press("esc")
	s.shows("Esc again throws it away")
	s.press("esc", "d")
	s.shows("Take away the comment on basket/basket.go:12?")
	s.press("y")
	s.shows("2 comments to send")
	// what is sent is seen before
	s.press("r")
	s.shows("`basket/basket.go:14-16` at 3333333:")
	s.press("esc")
	s.shows("2 comments to send")
	s.press("r", "ctrl+s")
	sent := backend.asked[len(backend.asked)-1]
	for _, want := range []string{"RequestChanges " + id, "basket/basket.go:14-16", "\n    +", "Why?"} {
		if want = strings.ReplaceAll(want, "\n    +", "\n      "); !strings.Contains(sent, want) {
			t.Errorf("sent was %q, without %q", sent, want)
		}
	}
	if len(backend.comments[id]) != 0 {
		t.Errorf("after they were sent, kept are %+v", backend.comments[id])
	}
	s.hides("to send")
}

// One who goes to a file or a hunk and comments has a line that is changed, in a file that was there before too.
func TestReview_aFileAndAHunkBeginWithWhatIsChanged(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		for _, row := range []struct{ keys, line, file string }{
			{"]", ">12 +", "basket.go +6 -3"},
			{"}", ">12 +", "basket.go +6 -3"},
			{"]]", ">43 +", "lines 42 to 44"},
			{"]]j[", ">43 +", "lines 42 to 44"},
			{"]][", ">12 +", "basket.go +6 -3"},
			{"}}", ">── old name.txt → new name.txt", "rename from"}, // nothing below it is changed
			{"}}}}}", "> 1 +", "db/schema.sql +2 -0"},
			{"}}}}}]", "there is no other hunk in this direction", "db/schema.sql +2 -0"},
			{"G{{", ">── logo.png", "db/schema.sql +2 -0"},
		} {
			s := openReview(t, reviewed(t), size[0], size[1])
			for _, key := range row.keys {
				s.press(string(key))
			}
			s.shows(row.line)
			s.shows(row.file) // the head is seen above it
		}
		s := openReview(t, reviewed(t), size[0], size[1])
		s.press("]")
		if c, _ := s.m.review.Selected(); c.String() != "basket/basket.go:12" {
			t.Errorf("a comment after ] would be on %s", c)
		}
	}
}

// One who writes a comment sees what it is about.
func TestReview_aCommentIsWrittenBelowItsLine(t *testing.T) {
	t.Parallel()
	backend := reviewed(t)
	s := openReview(t, backend, 80, 24)
	s.press("]", "c")
	s.shows(">12 +         total += item.price * item.amount")
	s.shows(" 12 -         total += item.price * item.count")
	s.shows(" 13       }")
	if text := s.text(); strings.Index(text, "item.amount") > strings.Index(text, "Comment on") {
		t.Errorf("the line is not above the form:\n%s", text)
	}
	s.write("Amount of what?")
	s.press("ctrl+s", "j", "enter") // the comment itself: it is changed
	s.shows(">12 +         total += item.price * item.amount")
	s.shows("Change the comment on basket/basket.go:12")
	s.shows("Amount of what?")
	s.press("esc", "c") // another one
	s.shows("Comment on basket/basket.go:12")
	s.hides("Change the comment")
	s.write("And of which?")
	s.press("ctrl+s")
	s.shows("basket.go:12: Amount of what?")
	s.shows("basket.go:12: And of which?")
	s.press("j", "j", "j", "j", "V", "j", "j", "j", "c")
	for _, line := range []string{"*14 +", "*15 +", ">16 +", " 17 +"} {
		s.shows(line)
	}
	s.send(tea.WindowSizeMsg{Width: 50, Height: 13}) // little room: the last line stays
	s.shows(">16 +")
	s.shows("Comment on basket/basket.go:14-16")
	s.send(tea.WindowSizeMsg{Width: 50, Height: 7}) // none
	s.hides(">16 +")
	s.shows("Comment on basket/basket.go:14-16")
}

func TestReview_whatIsNotSentIsKept(t *testing.T) {
	t.Parallel()
	backend := reviewed(t)
	id := backend.tasks[0].ID
	backend.comments = map[string][]diff.Comment{id: {
		{Place: diff.Place{File: "run.sh", From: 1, To: 1}, Text: "Why?"},
		{Place: diff.Place{File: "gone.go", From: 1, To: 1}, Text: "On a file that is not changed any more"},
	}}
	backend.fails = map[string]error{"RequestChanges": errors.New("refused")}
	s := openReview(t, backend, 100, 40)
	s.shows("you, on gone.go:1: On a file")
	s.press("r", "ctrl+s")
	s.shows("! cannot send feature/basket back: refused")
	if len(backend.comments[id]) != 2 {
		t.Errorf("kept are %+v", backend.comments[id])
	}
	backend.fails = nil
	s.press("r")
	s.shows("This was not sent the last time")
	// from the list too
	s.press("esc", "esc", "esc")
	s.press("r", "ctrl+s")
	if len(backend.comments[id]) != 0 {
		t.Errorf("kept are %+v", backend.comments[id])
	}
	backend.fails = map[string]error{"Comments": errors.New("cannot read the comments")}
	s.press("r")
	s.shows("! cannot read the comments")
}

func TestReview_goesAbout(t *testing.T) {
	t.Parallel()
	backend := reviewed(t)
	s := openReview(t, backend, 80, 24)
	s.press("j", "j", "enter")
	s.press("/")
	s.write("create")
	s.press("enter", "e")
	if got := backend.asked[len(backend.asked)-1]; got != "EditAt /w/shop--1/db/schema.sql:2" {
		t.Errorf("the editor was opened with %q", got)
	}
	s.press("P")
	before, _, _ := strings.Cut(reviewedPatch, "+CREATE")
	want := fmt.Sprintf(":%d", 1+strings.Count(before, "\n"))
	if got := backend.asked[len(backend.asked)-1]; !strings.HasSuffix(got, want) {
		t.Errorf("the pager was opened with %q", got)
	}
	s.press("/")
	s.write("zzz")
	s.press("enter")
	s.shows("nothing in the changes has that text")
	s.press("/")
	s.write("total")
	s.press("enter", "N", "n", "g", "<")
	s.shows("there is no other comment or finding in this direction")
	s.press("w")
	s.shows("long lines are wrapped")
	s.press("s")
	s.shows("since the last review: 2222222 (agent-review → working by reviewer) to 3333333")
	s.hides("schema.sql")
	s.shows("old mode 100644")
	s.press("s")
	s.shows("schema.sql")
	s.press("esc")
	s.shows("  Task  ")
}

func TestReview_saysWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	backend := reviewed(t)
	backend.fails = map[string]error{"Patch": errors.New("git is \x1b[2J broken")}
	s := openReview(t, backend, 80, 24)
	s.shows("git is ")
	s.shows("R looks again")
	backend.fails = nil
	s.press("R")
	s.shows("basket/basket.go")
	backend.patches = nil
	s.press("R")
	s.shows("nothing that the default branch does not have")
	s.press("c")
	s.shows("no line of a file is selected")
	for _, k := range s.m.reviewKeys.keys() {
		s.press(k.names[0])
		s.press("esc", "D")
	}
}

// A large change is shown too, without colours from some line on, and no line is drawn beyond the screen.
func TestReview_ofALargeChange(t *testing.T) {
	t.Parallel()
	backend := reviewed(t)
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,20000 +1,20000 @@\n")
	for i := range 20000 {
		fmt.Fprintf(&b, "-return \"old %d\"\n+return \"new %d\"\n", i, i)
	}
	fmt.Fprintf(&b, "diff --git a/b.go b/b.go\n@@ -0,0 +1 @@\n+%s\n", strings.Repeat("日x", 300_000))
	backend.patches[backend.tasks[0].ID] = diff.Patch{Text: b.String()}
	s := openReview(t, backend, 80, 24)
	s.press("G")
	s.shows("the change is large")
	s.press("w", "}", "{")
	wantFitScreen(t, s)
}

func wantFitScreen(t testing.TB, s *session) {
	t.Helper()
	lines := strings.Split(s.m.View().Content, "\n")
	if len(lines) > max(s.m.layout.height, 1) {
		t.Fatalf("%d lines on a screen of %d", len(lines), s.m.layout.height)
	}
	for _, line := range lines[1:] {
		if why := wrongWith(line, s.m.layout.body().Width); why != "" {
			t.Fatalf("%s: %q", why, line)
		}
	}
}

// wantReviewFits shows a hostile change, and presses many keys in it.
func wantReviewFits(t testing.TB, text string, width, height int, keys []string) {
	t.Helper()
	backend := reviewed(t)
	id := backend.tasks[0].ID
	place := diff.Place{File: text, From: 1, To: 2}
	patch := diff.Patch{Text: text + "\ndiff --git a/" + text + " b/x.go\n@@ -1,99 +1,99 @@ " + text + "\n-" + text +
		"\n+a " + text + "\n \n" + text, Base: text, From: text, To: text, Last: text, Judged: text,
		Review: text + "\nx.go:1 " + text}
	backend.patches = map[string]diff.Patch{id: patch, "since " + id: patch}
	backend.comments = map[string][]diff.Comment{id: {{Place: place, Quoted: []string{text}, Text: text},
		{Place: diff.Place{File: "x.go", From: 1, To: 1}, Text: text}}}
	s := openReview(t, backend, width, height)
	wantFitScreen(t, s)
	for _, key := range keys {
		s.press(key)
		wantFitScreen(t, s)
	}
	s.send(tea.WindowSizeMsg{Width: 200, Height: 60})
	wantFitScreen(t, s)
	s.press("esc", "esc", "esc", "D", "r")
	wantFitScreen(t, s)
}

func reviewTestKeys() []string {
	return []string{"j", "k", "G", "g", "pgdown", "pgup", "]", "[", "}", "{", ">", "<", "w", "s", "V", "/", "x",
		"enter", "n", "N", "R", "c", "esc", "d", "space"}
}

func TestReview_nothingFromOutsideDisturbsTheTerminal(t *testing.T) {
	t.Parallel()
	sizes := [][2]int{{80, 24}, {9, 7}, {120, 30}, {1, 1}}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, text := range nastyTexts() {
		for _, size := range sizes {
			wantReviewFits(t, text, size[0], size[1],
				[]string{"w", "j", "G", "V", "k", "g", "]", "/", "x", "enter", "n"})
		}
	}
}

func TestReview_nothingAtRandomDisturbsTheTerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(append(nastyTexts(), reviewedPatch)), rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })), 0, 4).Draw(r, "text")
		wantReviewFits(t, strings.Join(parts, "\n"), rapid.IntRange(1, 200).Draw(r, "width"),
			rapid.IntRange(1, 60).Draw(r, "height"),
			rapid.SliceOfN(rapid.SampledFrom(reviewTestKeys()), 0, 12).Draw(r, "keys"))
	})
}

func FuzzReview(f *testing.F) {
	for i, text := range append(nastyTexts(), reviewedPatch) {
		f.Add(text, uint8(10*i), uint8(24), uint16(i))
	}
	f.Fuzz(func(t *testing.T, text string, width, height uint8, seed uint16) {
		var keys []string
		for n := int(seed); n > 0; n /= len(reviewTestKeys()) {
			keys = append(keys, reviewTestKeys()[n%len(reviewTestKeys())])
		}
		wantReviewFits(t, text, max(1, int(width)), max(1, int(height)), keys)
	})
}

// Who sends the comments before the screen has read them sends them all the same.
func TestCommentsAreSentBeforeTheyAreRead(t *testing.T) {
	t.Parallel()
	style := screen.NewStyle()
	sent := ""
	p := &form.TextPrompt{Style: style, Title: "Request changes: what?", Long: true, Awaits: true, What: "send it back",
		Work: func(_ context.Context, text string) (string, error) { sent = text; return "", nil }}
	size := screen.Size{Width: 80, Height: 24}
	p.Open("", size)
	if r := p.Update(keyNamed(t, "ctrl+s"), size); r.Start != nil || r.Close {
		t.Fatal("it is sent without the comments")
	}
	r := p.Update(form.Drafted{What: "send it back", Text: "basket.go:1: why?"}, size)
	if r.Start == nil || !r.Close {
		t.Fatal("it is not sent once the comments are there")
	}
	if _, err := r.Start.Work(t.Context()); err != nil || sent != "basket.go:1: why?" {
		t.Errorf("sent %q, %v", sent, err)
	}
}

// A person who sends the task back from the menu of moves sends their comments too.
func TestTheMenuOfMovesSendsTheComments(t *testing.T) {
	t.Parallel()
	backend := moving(t)
	place := diff.Place{File: "totals.go", From: 3, To: 3}
	backend.comments = map[string][]diff.Comment{backend.tasks[2].ID: {{Place: place, Text: "Round it up."}}}
	s := openSession(t, backend, 80, 24)
	s.selects("fix/totals")
	s.press("M", "enter")
	s.shows("Round it up.")
}
