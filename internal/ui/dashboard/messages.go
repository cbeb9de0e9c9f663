package dashboard

import (
	"slices"
	"strings"

	"orange/internal/ui/dashboard/screen"
)

// messages are what the lines above the keys say.
type messages struct {
	answer string // to the last key; until the next key
	news   string // what was reported meanwhile; until the next key
}

// clear removes the messages.
func (s *messages) clear() { s.answer, s.news = "", "" }

// partGap is between two parts of a line.
const partGap = "  "

// messageLines have the jobs, the messages and the newest failure: in one line where they fit, else each in lines of
// its own, broken between words. Where these are too many, the longest is cut at its end. There is always one line.
func messageLines(style *screen.Style, width, most int, j *jobs, s messages, failure string) []string {
	if failure != "" {
		failure = "! " + failure
	}
	plain := func(text string) string { return text }
	all := []message{{j.text(), func(text string) string { return style.Info.Render(text) }},
		{screen.Clean(s.answer), plain}, {screen.Clean(s.news), plain},
		{failure, func(text string) string { return style.Bad.Render(text) }}}
	all = slices.DeleteFunc(all, func(one message) bool { return one.text == "" })
	var whole, drawn []string
	for _, one := range all {
		whole, drawn = append(whole, one.text), append(drawn, one.render(one.text))
	}
	switch {
	case screen.Width(strings.Join(whole, partGap)) <= width:
		return []string{strings.Join(drawn, partGap)}
	case len(all) > most:
		return []string{messageLine(style, width, j, s, failure)}
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

// messageLine has as much of each message as fits into one line.
func messageLine(style *screen.Style, width int, j *jobs, s messages, failure string) string {
	var parts []string
	room, most := width, width
	if s.answer != "" || s.news != "" || failure != "" {
		most = width / 3
	}
	if line := j.line(style, most); line != "" {
		parts = append(parts, line)
		room -= screen.Width(line) + len(partGap)
	}
	if failure != "" {
		room -= min(screen.Width(failure), width/3) + len(partGap)
	}
	parts = append(parts, s.fit(max(room, 0))...)
	if failure != "" {
		parts = append(parts, style.Bad.Render(failure))
	}
	return screen.Cut(strings.Join(parts, partGap), width)
}

// fit shortens the answer and the news to a width: neither hides the other, and a long name in one does not hide what
// happened to the task.
func (s messages) fit(room int) []string {
	answer, news := screen.Clean(s.answer), screen.Clean(s.news)
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
