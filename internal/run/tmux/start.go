package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Start says what is to run, where, and how it is found again.
type Start struct {
	Task, Role, Hook, Seat string // the tags

	Session string   // the wanted name; what SafeName would change is changed
	Window  string   // "worker", "review-1"; several windows of a session may have one name
	Dir     string   // absolute, must exist
	Argv    []string // no shell reads them
	Env     []string // KEY=value for the program; visible to every process of this user's, so no secrets

	// Seen is every pane of the task as the caller has just seen them; nil has Start look.
	Seen []Pane
}

const (
	// longestCall keeps away from the 16 KB at which tmux says "command too long".
	longestCall = 12 << 10
	// startTries bounds the races with others who open or close the same session.
	startTries = 5
)

// Start runs a program in a new window: of the task's session where there is one, else of a new session.
// The tags are set in the same call of tmux, so there is never a window of Orange's without them.
// Where the wanted name belongs to someone else, "~" and the beginning of the task's id are added: read the name
// from the Pane. The Pane is how things were right after the start; a program that cannot be run is seen as a
// dead pane, not as an error here.
func (s *Server) Start(ctx context.Context, start Start) (Pane, error) {
	p, err := s.begin(ctx, start)
	if err != nil {
		return Pane{}, fmt.Errorf("start %q of task %q in tmux: %w", start.Window, start.Task, err)
	}
	return p, nil
}

func (s *Server) begin(ctx context.Context, start Start) (Pane, error) {
	start.Session, start.Window = SafeName(start.Session), SafeName(start.Window)
	if err := start.check(s.Config); err != nil {
		return Pane{}, err
	}
	for try := 1; ; try++ {
		panes, looked := start.Seen, false
		if panes == nil || try > 1 {
			var err error
			if panes, err = s.list(ctx, everyPane); err != nil {
				return Pane{}, err
			}
			looked = true
		}
		words, err := start.call(panes, looked)
		if err != nil {
			return Pane{}, err
		}
		res, err := s.start(ctx, nil, words...)
		if err != nil && try < startTries && isRaced(err) {
			continue
		}
		if err != nil {
			return Pane{}, err
		}
		p, rest, err := parsePane(string(res.Stdout))
		if err != nil || rest != "" {
			return Pane{}, fmt.Errorf("cannot understand what tmux said: %w",
				errors.Join(err, fmt.Errorf("left over: %q", clip(rest))))
		}
		p.Window = start.Window // it was read before the window got this name
		return p, nil
	}
}

func (start Start) check(config string) error {
	if start.Task == "" || len(start.Argv) == 0 || start.Argv[0] == "" {
		return errors.New("cannot start a window without a task and a program")
	}
	for _, tag := range []string{start.Task, start.Role, start.Hook, start.Seat} {
		if strings.ContainsFunc(tag, unicode.IsControl) {
			return fmt.Errorf("cannot use %q as a tag: it holds a control character", tag)
		}
	}
	for _, word := range append(append([]string{start.Dir}, start.Argv...), start.Env...) {
		if strings.ContainsRune(word, 0) {
			return fmt.Errorf("cannot hand over %q: it holds a zero byte", clip(word))
		}
	}
	// tmux would start the agent in the home folder instead, and say nothing.
	if info, err := os.Stat(start.Dir); err != nil || !filepath.IsAbs(start.Dir) || !info.IsDir() {
		return errors.Join(fmt.Errorf("cannot start in %q: not the absolute path of a folder", start.Dir), err)
	}
	// Without its configuration the server would run, and forget every agent that ends.
	if _, err := os.Stat(config); err != nil {
		return fmt.Errorf("look for the configuration of tmux: %w", err)
	}
	return nil
}

// call makes the one call of tmux that opens the window, tags it, and reads it back.
//
// A new window can be addressed by name only, for its id is not known to the commands that come with it,
// and a dead window may have the same name already. So it is born with a name of its own, and gets the wanted one last.
//
// A session that was seen a while ago is addressed by its name: the server may be another one by now, which counts its
// sessions from the beginning.
func (start Start) call(panes []Pane, looked bool) ([]string, error) {
	// The clock and the process together are unique: one process does not start two windows in one nanosecond.
	birth := "orange-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	id, name, err := start.home(panes)
	if err != nil {
		return nil, err
	}
	session := exactly(name)
	words := []string{"new-session", "-d", "-s", name}
	if id != "" {
		if looked || SafeName(name) != name {
			session = exactly(id)
		}
		words = []string{"new-window", "-d", "-t", session}
	}
	// Of the values only the folder is a format to tmux.
	words = append(words, "-n", birth, "-c", literal(strings.ReplaceAll(start.Dir, "#", "##")))
	for _, pair := range start.Env {
		words = append(words, "-e", literal(pair))
	}
	words = append(words, "--")
	for _, arg := range start.argv() {
		words = append(words, literal(arg))
	}
	window := session + "=" + birth
	if id == "" {
		words = append(words, ";", "set-option", "-t", session, tagTask, literal(start.Task))
	}
	words = append(words,
		";", "set-option", "-w", "-t", window, tagTask, literal(start.Task),
		";", "set-option", "-w", "-t", window, tagRole, literal(start.Role),
		";", "set-option", "-w", "-t", window, tagHook, literal(start.Hook),
		";", "set-option", "-w", "-t", window, tagSeat, literal(start.Seat),
		";", "list-panes", "-t", window, "-F", paneFormat,
		";", "rename-window", "-t", window, start.Window)
	size := 0
	for _, word := range words {
		size += len(word) + 1
	}
	if size > longestCall {
		return nil, fmt.Errorf("cannot hand %d bytes of command to tmux: at most %d; put long texts into a file",
			size, longestCall)
	}
	return words, nil
}

// argv starts the program without TMUX: it has no business with the server, and a library of colours would ask that
// for its terminal's.
func (start Start) argv() []string {
	return append([]string{"sh", "-c", `unset TMUX; exec "$0" "$@"`}, start.Argv...)
}

// home finds the session for the task: its id where the task has one, else a name that no one has.
func (start Start) home(panes []Pane) (id, name string, err error) {
	taken := make(map[string]bool)
	for _, p := range panes {
		taken[p.Session] = true
	}
	for _, p := range panes {
		if p.Task == start.Task {
			return p.SessionID, p.Session, nil
		}
	}
	for _, name := range names(start.Session, start.Task) {
		if !taken[name] {
			return "", name, nil
		}
	}
	return "", "", fmt.Errorf("cannot find a free session name for %q", start.Session)
}

// Rename gives a task's session a name, or one near it where that is another session's. It answers the name that
// the session has then; empty where the task has none. Its windows, and the one who is attached, stay as they are.
func (s *Server) Rename(ctx context.Context, task, wanted string) (string, error) {
	for try := 1; ; try++ {
		panes, err := s.list(ctx, everyPane)
		if err != nil {
			return "", fmt.Errorf("rename the session of task %q: %w", task, err)
		}
		id, name := sessionToRename(panes, task, SafeName(wanted))
		if id == "" {
			return name, nil
		}
		_, err = s.act(ctx, "rename-session", "-t", id, name)
		if err == nil {
			return name, nil
		}
		if try == startTries || !isRaced(err) {
			return "", fmt.Errorf("rename the session of task %q to %q: %w", task, name, err)
		}
	}
}

// sessionToRename is the session of a task with the name that it can have, the wanted one first; the id is empty where
// nothing is to be done.
func sessionToRename(panes []Pane, task, wanted string) (id, name string) {
	others := make(map[string]bool)
	for _, p := range panes {
		if p.Task == task && id == "" {
			id, name = p.SessionID, p.Session
		}
	}
	for _, p := range panes {
		others[p.Session] = others[p.Session] || p.SessionID != id
	}
	for _, free := range names(wanted, task) {
		if id == "" || free == name {
			return "", name
		}
		if !others[free] {
			return id, free
		}
	}
	return "", name
}

// isRaced says that the session or the server came or went between the look and the call.
// What was started in a server that is lost is lost too, so another try cannot start it twice.
func isRaced(err error) bool {
	return noTarget(err) || noServer(err) || isLost(err) || strings.HasPrefix(complaintOf(err), "duplicate session: ")
}

const (
	longestName = 80 // runes of a name: what a person can still read in a status line
	suffixRunes = 6  // of a task's id, where two tasks want one name
)

// SafeName makes a name that tmux keeps as it is and that no command line misreads.
// Letters, digits and a few signs stay; everything else becomes "_".
// The same text always gives the same name, but two texts may give one.
func SafeName(text string) string {
	var out strings.Builder
	count := 0
	for _, r := range text {
		if count == longestName {
			break
		}
		// "." and ":" divide a target, "#" begins a format, "\" is doubled, and the rest troubles shells.
		first := count == 0
		if !plain(r) || first && strings.ContainsRune("-=$@%+~", r) || first && unicode.IsMark(r) {
			r = '_'
		}
		out.WriteRune(r)
		count++
	}
	if count == 0 {
		return "_"
	}
	return out.String()
}

func plain(r rune) bool {
	if r == unicode.ReplacementChar {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("-_/~+=@%,", r)
}

// names are the session names to try for a task, the wanted one first.
func names(wanted, task string) []string {
	short := []rune(task)
	if len(short) > suffixRunes {
		short = short[:suffixRunes]
	}
	return []string{wanted, wanted + "~" + SafeName(string(short)), wanted + "~" + SafeName(task)}
}
