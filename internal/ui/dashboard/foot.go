package dashboard

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// Messages for the foot.
type (
	news        struct{ text string }
	failureNews struct {
		what string
		err  error
	}
)

// foot is what the lines above the keys say: what runs, what became of the last key, what happened meanwhile, and what
// went wrong.
type foot struct {
	style    *screen.Style
	tasks    *tasks.Set
	pages    *pages
	searched func() (text string, typing bool) // what the person searches for
	jobs     jobs
	failures *failures
	answer   string // to the last key; until the next key
	news     string // what was reported meanwhile; until the next key
}

// clear removes the messages.
func (f *foot) clear() { f.answer, f.news = "", "" }

// finish says what became of a job.
func (f *foot) finish(msg jobResult) {
	f.jobs.end(msg.id)
	var incomplete *command.Incomplete
	var several command.Several
	switch {
	case errors.Is(msg.err, context.Canceled):
	case errors.As(msg.err, &several):
		f.answer = msg.message
		for _, one := range several {
			f.failures.answer(one.What, one.Err)
		}
	case errors.As(msg.err, &incomplete):
		f.failures.answer("", incomplete)
	case msg.err != nil:
		f.failures.answer(msg.what, msg.err)
	case msg.message != "":
		f.answer = msg.message
	}
}

// lines have what the person searches for, or the jobs, messages and failures. A form has its room for itself: there
// they have one line.
func (f *foot) lines(width, height int) []string {
	if text, typing := f.searched(); typing {
		text = screen.Clean(text)
		if over := screen.Width(text) - max(1, width-8); over > 0 {
			text = ansi.TruncateLeft(text, over, "")
		}
		return []string{screen.Cut("find: "+text+f.style.Chosen.Render(" "), width)}
	}
	most := (height - headLines - 1) / 2
	if f.pages.page == pageForm {
		most = 1
	}
	lines := f.messages(width, most)
	if len(lines) == 1 && lines[0] == "" && f.tasks.Text != "" && !f.pages.page.ofTask() {
		lines[0] = f.style.Faint.Render("holding " + strconv.Quote(f.tasks.Text) + "; Esc shows all")
	}
	return lines
}

// partGap is between two parts of a line.
const partGap = "  "

// messages have the jobs, the messages and the newest failure: in one line where they fit, else each in lines of
// its own, broken between words. Where these are too many, the longest is cut at its end. There is always one line.
func (f *foot) messages(width, most int) []string {
	failure := screen.Clean(f.failures.line())
	if failure != "" {
		failure = "! " + failure
	}
	plain := func(text string) string { return text }
	all := []message{{f.jobs.text(), func(text string) string { return f.style.Info.Render(text) }},
		{screen.Clean(f.answer), plain}, {screen.Clean(f.news), plain},
		{failure, func(text string) string { return f.style.Bad.Render(text) }}}
	all = slices.DeleteFunc(all, func(one message) bool { return one.text == "" })
	var whole, drawn []string
	for _, one := range all {
		whole, drawn = append(whole, one.text), append(drawn, one.render(one.text))
	}
	switch {
	case screen.Width(strings.Join(whole, partGap)) <= width:
		return []string{strings.Join(drawn, partGap)}
	case len(all) > most:
		return []string{f.oneLine(width, failure)}
	}
	parts := make([][]string, len(all))
	longest := 0
	for used := most + 1; used > most; {
		used = 0
		for i, one := range all {
			if parts[i] == nil {
				parts[i] = screen.Flow([]screen.Fragment{screen.Raw(nil, one.text)}, width, screen.Indent{})
			}
			if used += len(parts[i]); len(parts[i]) > len(parts[longest]) {
				longest = i
			}
		}
		if last := len(parts[longest]) - 2; used > most {
			end := screen.Cut(parts[longest][last]+" "+parts[longest][last+1]+" …", width)
			parts[longest] = append(parts[longest][:last:last], end)
		}
	}
	var out []string
	for i, one := range all {
		for _, line := range parts[i] {
			out = append(out, one.render(screen.Cut(line, width)))
		}
	}
	return out
}

// message is one of the texts above the keys.
type message struct {
	text   string
	render func(text string) string
}

// oneLine has as much of each message as fits into one line.
func (f *foot) oneLine(width int, failure string) string {
	var parts []string
	room, most := width, width
	if f.answer != "" || f.news != "" || failure != "" {
		most = width / 3
	}
	if line := f.jobs.line(f.style, most); line != "" {
		parts = append(parts, line)
		room -= screen.Width(line) + len(partGap)
	}
	if failure != "" {
		room -= min(screen.Width(failure), width/3) + len(partGap)
	}
	parts = append(parts, f.fit(max(room, 0))...)
	if failure != "" {
		parts = append(parts, f.style.Bad.Render(failure))
	}
	return screen.Cut(strings.Join(parts, partGap), width)
}

// fit shortens the answer and the news to a width: neither hides the other, and a long name in one does not hide what
// happened to the task.
func (f *foot) fit(room int) []string {
	answer, news := screen.Clean(f.answer), screen.Clean(f.news)
	switch {
	case answer == "" && news == "":
		return nil
	case news == "":
		return []string{shortenNews(answer, room)}
	case answer == "":
		return []string{shortenNews(news, room)}
	}
	answer = shortenNews(answer, room-min(screen.Width(news), room/3)-len(partGap))
	return []string{answer, shortenNews(news, room-screen.Width(answer)-len(partGap))}
}

// shortenNews makes news of a task, "name: what", at most width cells wide: it shortens the name first, then the end.
func shortenNews(text string, width int) string {
	name, what, named := strings.Cut(text, ": ")
	if !named {
		return screen.Cut(text, width)
	}
	return screen.Cut(screen.Squeeze(name, max(width/3, width-screen.Width(what)-2))+": "+what, width)
}
