package dashboard

import (
	"slices"
	"strings"

	"orange/internal/ui/dashboard/screen"
)

// failures are what went wrong and was not read yet, the newest last. It is the view of them, too.
type failures struct {
	style  *screen.Style
	all    []failure
	passed bool // the person has gone on since the newest one came: the foot has its key alone
	scroll screen.Scroll
}

// failure is one of them: what could not be done, empty where the text says all.
type failure struct{ what, text string }

// add adds a failure, unless it is there already: what is looked up again and again fails again and again.
func (f *failures) add(what string, err error) {
	if one := (failure{what, err.Error()}); !slices.Contains(f.all, one) {
		f.all, f.passed = append(f.all, one), false
	}
}

// answer adds the failure of what the person asked for. They asked again, so they read it again.
func (f *failures) answer(what string, err error) {
	f.all = slices.DeleteFunc(f.all, func(one failure) bool { return one == failure{what, err.Error()} })
	f.add(what, err)
}

// looked adds the failure of a look-up, or takes it away where the look-up succeeds again.
func (f *failures) looked(what string, err error) {
	switch {
	case err != nil:
		f.add(what, err)
	case what != "":
		f.over(what)
	}
}

// over takes away the failures of what succeeds again.
func (f *failures) over(what string) {
	f.all = slices.DeleteFunc(f.all, func(one failure) bool { return one.what == what })
}

// line is the newest failure in one line; empty where there is none, or the person has gone on since it came.
func (f *failures) line() string {
	if len(f.all) == 0 || f.passed {
		return ""
	}
	last := f.all[len(f.all)-1]
	first, _, more := strings.Cut(last.text, "\n")
	text := "cannot " + last.what + ": " + first
	if last.what == "" || strings.HasPrefix(first, "cannot ") {
		text = first
	}
	if more || len(f.all) > 1 {
		text += " (" + f.style.Keys.Of("failures") + " shows all)"
	}
	return text
}

// none is why there is nothing to read.
func (f *failures) none() string {
	if len(f.all) == 0 {
		return "nothing went wrong that you have not read"
	}
	return ""
}

// open begins at the newest.
func (f *failures) open() { f.scroll = screen.Scroll{} }

func (f *failures) lines(width int) []string {
	out := []string{f.style.Title.Render("What went wrong") + f.style.Faint.Render("   Esc: I have read it"), ""}
	for _, one := range slices.Backward(f.all) {
		if one.what != "" {
			for _, part := range screen.Wrap("cannot "+screen.Clean(one.what), max(10, width)) {
				out = append(out, f.style.Bad.Render(part))
			}
		}
		for _, line := range screen.CleanLines(one.text) {
			for _, part := range screen.Wrap(line, max(10, width-2)) {
				out = append(out, "  "+part)
			}
		}
		out = append(out, "")
	}
	return out
}

// Move scrolls by n lines.
func (f *failures) Move(n int, size screen.Size) {
	f.scroll = f.scroll.By(n, len(f.lines(size.Width)), size.Height)
}

// View draws the failures.
func (f *failures) View(size screen.Size) []string {
	return f.scroll.Draw(f.lines(size.Width), size.Width, size.Height)
}
