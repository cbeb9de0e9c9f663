package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"orange/internal/run/proc"
)

// Typing says when it is safe to type into a program, and how patiently.
// The patterns are matched against the visible screen; one that is nil is not looked for.
type Typing struct {
	Ready    *regexp.Regexp // must be on the screen; where it is nil the screen must have stood still for a while
	Dialog   *regexp.Regexp // must not: Enter would approve what it asks
	Pause    time.Duration  // between the text and Enter; 500 ms when 0
	Patience time.Duration  // how long to wait for a safe moment; one look when 0 and Ready is there
	Quiet    time.Duration  // how long the keys of attached people must rest; 10 s when 0
	// Begin is called when the safe moment has come, before anything is typed; its error ends it. It may be nil.
	Begin func(ctx context.Context) error
}

// Reason reports why typing was not safe.
type Reason string

// The reasons of a NotSafe.
const (
	NotReady     Reason = "the program does not wait for input"
	Moving       Reason = "its screen does not stand still"
	DialogOpen   Reason = "a dialog is open"
	PersonTyping Reason = "a person is typing"
)

// ErrNotSafe is what every *NotSafe is.
var ErrNotSafe = errors.New("not safe to type")

// NotSafe says that no safe moment came, and why the last one was not.
type NotSafe struct {
	Pane   string
	Reason Reason
	Pasted bool // the text is there but Enter was held back, as the moment passed between the two
}

func (e *NotSafe) Error() string {
	if e.Pasted {
		return fmt.Sprintf("cannot press Enter after the text in pane %q: %s", e.Pane, e.Reason)
	}
	return fmt.Sprintf("cannot type into pane %q: %s", e.Pane, e.Reason)
}

// Is makes every NotSafe an ErrNotSafe.
func (e *NotSafe) Is(target error) bool { return target == ErrNotSafe }

// Each number was measured with real agents: a shorter pause loses the Enter, and a call that holds both loses it too.
const (
	pauseAfterPaste = 500 * time.Millisecond
	pauseAfterEnter = time.Second
	quietKeys       = 10 * time.Second
	lookEvery       = 200 * time.Millisecond
	stillScreen     = 2 * time.Second // a program that works draws more often
	// activityGrain is how coarsely tmux tells when a key was pressed.
	activityGrain = time.Second

	tabWidth   = 4  // a tab is a key of its own to most agents
	editorTail = 8  // lines at the bottom of a screen in which an agent's editor and its footer stand
	telltale   = 40 // runes of the text that are looked for there
)

// Type puts text into the program of a pane ("%3") and presses Enter, when that is safe.
// It scrolls the pane back from copy mode, in which text would be lost.
// Newlines inside the text stay; tabs become blanks, other control characters are left out, and so are newlines
// at the end.
//
// A *NotSafe says that the moment did not come; ErrEnded that there is no program any more.
// No error means that keys were sent and not that the program has understood: only what it does then proves that.
// The caller sees to it that no one else types into the same pane.
func (s *Server) Type(ctx context.Context, pane string, text string, t Typing) error {
	if err := checkID('%', pane); err != nil {
		return err
	}
	text = typable(text)
	if text == "" {
		return fmt.Errorf("cannot type into pane %q: the text is empty", pane)
	}
	if t.Pause <= 0 {
		t.Pause = pauseAfterPaste
	}
	if t.Quiet <= 0 {
		t.Quiet = quietKeys
	}
	if err := s.safeMoment(ctx, pane, t); err != nil {
		return err
	}
	if t.Begin != nil {
		if err := t.Begin(ctx); err != nil {
			return err
		}
	}
	if err := s.paste(ctx, pane, text); err != nil {
		return err
	}
	if proc.Pause(ctx, t.Pause); ctx.Err() != nil {
		return fmt.Errorf("wait before Enter: %w", ctx.Err())
	}
	now, err := s.look(ctx, pane)
	if err != nil {
		return err
	}
	if reason := now.disturbance(t); reason != "" {
		return &NotSafe{Pane: pane, Reason: reason, Pasted: true}
	}
	if err := s.enter(ctx, pane); err != nil {
		return err
	}
	return s.enterAgain(ctx, pane, text, t)
}

// enterAgain presses Enter once more where the first was taken for a newline or not at all.
// On an empty prompt one more does nothing, so a doubt is settled by pressing; in a dialog it approves, so there
// it never is.
func (s *Server) enterAgain(ctx context.Context, pane, text string, t Typing) error {
	if proc.Pause(ctx, pauseAfterEnter); ctx.Err() != nil {
		return fmt.Errorf("wait after Enter: %w", ctx.Err())
	}
	now, err := s.look(ctx, pane)
	if errors.Is(err, ErrEnded) {
		return nil // it took the text and ended
	}
	if err != nil {
		return err
	}
	if now.disturbance(t) != "" || !sits(now.screen, text) {
		return nil
	}
	return s.enter(ctx, pane)
}

// safeMoment waits until nothing speaks against typing.
func (s *Server) safeMoment(ctx context.Context, pane string, t Typing) error {
	if t.Ready == nil {
		t.Patience = max(t.Patience, 2*stillScreen) // one look cannot tell
	}
	patience := time.NewTimer(t.Patience)
	defer patience.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var since moment // the first that had the screen of now
	for {
		now, err := s.look(ctx, pane)
		if err != nil {
			return err
		}
		if now.screen != since.screen || since.seen.IsZero() {
			since = now
		}
		reason := now.disturbance(t)
		switch {
		case reason != "":
		case t.Ready == nil && now.seen.Sub(since.seen) < stillScreen:
			reason = Moving
		case t.Ready != nil && !t.Ready.MatchString(now.screen):
			reason = NotReady
		default:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait to type into pane %q: %w", pane, ctx.Err())
		case <-patience.C:
			return &NotSafe{Pane: pane, Reason: reason}
		case <-tick.C:
		}
	}
}

// moment is what was seen of a pane at once.
type moment struct {
	screen string
	seen   time.Time
	keys   time.Time // when an attached person last pressed one; zero when no one is attached
}

func (m moment) disturbance(t Typing) Reason {
	if t.Dialog != nil && t.Dialog.MatchString(m.screen) {
		return DialogOpen
	}
	if !m.keys.IsZero() && m.seen.Sub(m.keys) < t.Quiet+activityGrain {
		return PersonTyping
	}
	return ""
}

// screenMark parts the lines about people from the screen, which may hold anything.
const screenMark = "screen:"

// look asks for everything in one call, so that the answers are of one moment.
func (s *Server) look(ctx context.Context, pane string) (moment, error) {
	res, err := s.ask(ctx,
		"display-message", "-p", "-t", pane, "#{pane_id}|#{pane_dead}|#{session_id}",
		";", "list-clients", "-F", "#{session_id}|#{client_activity}",
		";", "display-message", "-p", "-t", pane, screenMark,
		";", "capture-pane", "-p", "-t", pane)
	if err != nil {
		return moment{}, fmt.Errorf("look at pane %q: %w", pane, asEnded(err))
	}
	about, screen, found := strings.Cut(string(res.Stdout), screenMark+"\n")
	lines := strings.Split(strings.TrimRight(about, "\n"), "\n")
	head := strings.Split(lines[0], "|")
	const fields = 3
	if !found || len(head) != fields {
		return moment{}, fmt.Errorf("look at pane %q: cannot understand %q", pane, clip(about))
	}
	if head[0] != pane || on(head[1]) {
		return moment{}, fmt.Errorf("look at pane %q: %w", pane, ErrEnded)
	}
	m := moment{screen: trimScreen(screen), seen: time.Now()}
	for _, line := range lines[1:] {
		session, pressed, _ := strings.Cut(line, "|")
		if session != head[2] {
			continue
		}
		at, err := stamp(pressed)
		if err != nil {
			return moment{}, fmt.Errorf("look at pane %q: when was a key pressed: %w", pane, err)
		}
		if at.After(m.keys) {
			m.keys = at
		}
	}
	return m, nil
}

// paste goes through a buffer of tmux, which has no limit of 16 KB, and says where the text begins and ends
// to a program that wants to know (-p). -r keeps newlines from becoming Enter.
func (s *Server) paste(ctx context.Context, pane, text string) error {
	buffer := "orange-" + strconv.Itoa(os.Getpid()) + "-" + pane[1:] + "-" +
		strconv.FormatInt(time.Now().UnixNano(), 36)
	if _, err := s.run(ctx, []byte(text), "load-buffer", "-b", buffer, "-"); err != nil {
		return fmt.Errorf("load text for pane %q: %w", pane, asEnded(err))
	}
	_, err := s.run(ctx, nil, "copy-mode", "-q", "-t", pane, ";", "paste-buffer", "-p", "-r", "-d", "-b", buffer,
		"-t", pane)
	if err != nil {
		// The text may be no one else's business: it does not stay behind. The first trouble is the one to tell.
		_, _ = s.run(context.WithoutCancel(ctx), nil, "delete-buffer", "-b", buffer)
		return fmt.Errorf("paste text into pane %q: %w", pane, asEnded(err))
	}
	return nil
}

func (s *Server) enter(ctx context.Context, pane string) error {
	if _, err := s.run(ctx, nil, "copy-mode", "-q", "-t", pane, ";", "send-keys", "-t", pane, "Enter"); err != nil {
		return fmt.Errorf("press Enter in pane %q: %w", pane, asEnded(err))
	}
	return nil
}

// typable leaves out what a program would take for a key, and what could end the bracket around a pasted text.
func typable(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", strings.Repeat(" ", tabWidth)).Replace(text)
	text = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
	return strings.TrimRight(text, "\n")
}

// sits reports whether the end of the text still is where an agent's editor is.
func sits(screen, text string) bool {
	sought := []rune(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
	if len(sought) > telltale {
		sought = sought[:telltale]
	}
	needle := strings.TrimSpace(string(sought))
	if needle == "" {
		return false
	}
	var lines []string
	for _, line := range strings.Split(screen, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return strings.Contains(strings.Join(lines[max(len(lines)-editorTail, 0):], "\n"), needle)
}
