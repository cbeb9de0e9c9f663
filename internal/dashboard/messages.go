package dashboard

import (
	"strings"

	"orange/internal/dashboard/screen"
)

// messages are what the line above the keys says.
type messages struct {
	answer string // to the last key; until the next key
	news   string // what was reported meanwhile; until the next key
}

// clear removes the messages.
func (s *messages) clear() { s.answer, s.news = "", "" }

// partGap is between two parts of a line.
const partGap = "  "

// messageLine has the jobs, the messages and the newest failure, as much of each as fits into a width. Empty where
// there is none of them.
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
		room -= min(screen.Width("! "+failure), width/3) + len(partGap)
	}
	parts = append(parts, s.fit(max(room, 0))...)
	if failure != "" {
		parts = append(parts, style.Bad.Render("! "+failure))
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
		return []string{screen.Squeeze(answer, room)}
	case answer == "":
		return []string{shortenNews(news, room)}
	}
	answer = screen.Squeeze(answer, room-min(screen.Width(news), room/3)-len(partGap))
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
