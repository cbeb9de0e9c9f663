package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/rules/task"
)

// Pane is one pane of the server as it was at one moment.
// Ids are never used again while the server lives, but a new server begins with $0, @0 and %0 again.
type Pane struct {
	Session, SessionID string // name and "$1"
	Window, WindowID   string // name and "@2"
	ID                 string // "%3"
	PID                int    // leads the pane's process session; not to be trusted once Dead

	// The tags. A window that someone else opened in the session of a task has the Task and no Role.
	Task, Role, Hook, Seat string

	Dead   bool        // the program has ended and the window stays to show its last words
	Ending task.Ending // of a dead pane; not known where tmux lost it

	InMode   bool // someone scrolls: keys go to tmux and not to the program
	Title    string
	Attached bool // someone looks at the session

	// Activity is when the window last showed something new or came to the front of its session,
	// in whole seconds; zero when tmux did not say.
	Activity time.Time
	Server   int // the process of the tmux server: another one has begun to count ids again
}

// HookID is the number of the hook that started the pane's program; 0 where no hook of Orange's did.
func (p Pane) HookID() int64 {
	id, err := strconv.ParseInt(p.Hook, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// The tags are options of tmux, so that they live exactly as long as what they describe.
const (
	tagTask = "@orange_task"
	tagRole = "@orange_role"
	tagHook = "@orange_hook"
	tagSeat = "@orange_seat"
)

// paneFormat is a line of fields that cannot hold a "|", then the lengths of the texts, then the texts.
// Any separator could be in a title, and later versions of tmux write control characters another way.
const paneFormat = "#{session_id}|#{window_id}|#{pane_id}|#{pane_pid}|" +
	"#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|#{pane_in_mode}|#{session_attached}|" +
	"#{window_activity}|#{pid}|" +
	"#{n:session_name}|#{n:window_name}|#{n:" + tagTask + "}|#{n:" + tagRole + "}|#{n:" + tagHook + "}|#{n:" +
	tagSeat + "}|#{n:pane_title}|" +
	"#{session_name}#{window_name}#{" + tagTask + "}#{" + tagRole + "}#{" + tagHook + "}#{" + tagSeat + "}#{pane_title}"

const (
	shortFields = 11
	textFields  = 7
)

// Panes lists every pane of the server in one tmux call, however many there are;
// only where tmux does not know yet how a program ended, it is asked once more.
// No server running is (nil, nil). Any other trouble is an error: then nothing is known about any pane.
func (s *Server) Panes(ctx context.Context) ([]Pane, error) {
	return withEndings(func(before ...string) ([]Pane, error) { return s.list(ctx, everyPane, before...) })
}

// PanesOf is Panes for one task. The server leaves out all others before it formats them: with 1,000 sessions that is
// most of what a look costs.
func (s *Server) PanesOf(ctx context.Context, task string) ([]Pane, error) {
	filter := everyPane
	if checkName(task) == nil { // else a format could read it as more than a name
		filter = "#{==:#{" + tagTask + "}," + task + "}"
	}
	panes, err := withEndings(func(before ...string) ([]Pane, error) { return s.list(ctx, filter, before...) })
	return slices.DeleteFunc(panes, func(p Pane) bool { return p.Task != task }), err
}

func withEndings(list func(before ...string) ([]Pane, error)) ([]Pane, error) {
	panes, err := list()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(panes, func(p Pane) bool { return p.Dead && !p.Ending.Known }) {
		return panes, nil
	}
	// tmux misses the end of a child now and then, and sees it with the end of the next one: so give it one.
	again, err := list("run-shell", "true", ";")
	if err != nil {
		// The first look was a good one. That a shell cannot be run now must not blind the caller.
		return panes, nil
	}
	return again, nil
}

// listed comes after the last pane that is selected: there may be none, and silence may mean that something else
// answered. everyPane selects all.
const (
	endOfList = "listed"
	everyPane = "1"
)

// PanesSince is Panes for the windows that showed something new at a time, in whole seconds, or after it. The server
// leaves out all others before it formats them. How a program ended may not be known yet.
func (s *Server) PanesSince(ctx context.Context, since time.Time) ([]Pane, error) {
	from := max(since.Unix(), 0)
	// tmux compares texts: both have as many digits as seconds have until the year 2286
	panes, err := s.list(ctx, fmt.Sprintf("#{>=:#{window_activity},%010d}", from))
	return slices.DeleteFunc(panes, func(p Pane) bool { return p.Activity.Unix() < from }), err
}

// list lists the panes that a format of tmux selects. No server is (nil, nil).
func (s *Server) list(ctx context.Context, filter string, before ...string) ([]Pane, error) {
	res, err := s.ask(ctx, append(before, "list-panes", "-a", "-f", filter, "-F", paneFormat,
		";", "display-message", "-p", endOfList)...)
	if noServer(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list tmux panes: %w", err)
	}
	text, whole := strings.CutSuffix(string(res.Stdout), endOfList+"\n")
	if !whole {
		return nil, fmt.Errorf("list tmux panes: cannot understand %q", clip(text))
	}
	panes, err := parsePanes(text)
	if err != nil {
		return nil, fmt.Errorf("list tmux panes: %w", err)
	}
	if len(panes) > 0 {
		s.saw(res.at, panes[0].Server)
	}
	return panes, nil
}

// parsePanes reads the whole answer and not line by line: a tag may hold a newline, and an agent may set one.
func parsePanes(text string) ([]Pane, error) {
	var out []Pane
	for text != "" {
		p, rest, err := parsePane(text)
		if err != nil {
			return nil, fmt.Errorf("read pane %d: %w", len(out), err)
		}
		out = append(out, p)
		text = rest
	}
	return out, nil
}

func parsePane(text string) (p Pane, rest string, err error) {
	fields := strings.SplitN(text, "|", shortFields+textFields+1)
	if len(fields) <= shortFields+textFields {
		return Pane{}, "", fmt.Errorf("%d fields in %q", len(fields), clip(text))
	}
	rest = fields[shortFields+textFields]
	texts := make([]string, textFields)
	for i := range texts {
		n, err := strconv.Atoi(fields[shortFields+i])
		if err != nil || n < 0 || n > len(rest) {
			return Pane{}, "", fmt.Errorf("length %q in %q", fields[shortFields+i], clip(text))
		}
		texts[i], rest = rest[:n], rest[n:]
	}
	rest, found := strings.CutPrefix(rest, "\n")
	if !found {
		return Pane{}, "", fmt.Errorf("no end of line after %q", clip(text))
	}
	p = Pane{
		SessionID: fields[0], WindowID: fields[1], ID: fields[2],
		Dead: fields[4] == "1", InMode: on(fields[7]), Attached: on(fields[8]),
		Session: texts[0], Window: texts[1], Task: texts[2], Role: texts[3], Hook: texts[4], Seat: texts[5],
		Title: texts[6],
	}
	if err := errors.Join(checkID('$', p.SessionID), checkID('@', p.WindowID), checkID('%', p.ID)); err != nil {
		return Pane{}, "", err
	}
	if p.PID, err = strconv.Atoi(fields[3]); err != nil {
		return Pane{}, "", fmt.Errorf("process of pane %q: %w", p.ID, err)
	}
	if p.Server, err = strconv.Atoi(fields[10]); err != nil {
		return Pane{}, "", fmt.Errorf("server of pane %q: %w", p.ID, err)
	}
	if p.Activity, err = stamp(fields[9]); err != nil {
		return Pane{}, "", fmt.Errorf("activity of pane %q: %w", p.ID, err)
	}
	if p.Dead {
		p.Ending = endingOf(fields[5], fields[6])
	}
	return p, rest, nil
}

func on(flag string) bool { return flag != "" && flag != "0" }

// stamp reads a time of tmux's: seconds since 1970, or nothing.
func stamp(text string) (time.Time, error) {
	if text == "" || text == "0" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(seconds, 0), nil
}

// endingOf reads how a program ended. Later versions of tmux name the signal instead of giving its number.
func endingOf(status, signal string) task.Ending {
	if n, err := strconv.Atoi(signal); err == nil && n > 0 {
		return task.Ending{Known: true, Signal: n}
	}
	if n := unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(signal), "SIG")); n > 0 {
		return task.Ending{Known: true, Signal: int(n)}
	}
	if n, err := strconv.Atoi(status); err == nil {
		return task.Ending{Known: true, Status: n}
	}
	return task.Ending{}
}

func clip(text string) string {
	const enough = 120
	if len(text) > enough {
		return text[:enough] + "..."
	}
	return text
}
