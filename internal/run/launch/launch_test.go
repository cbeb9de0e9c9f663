package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const secret = "known to the launcher and to its agent"

// seat is what everyone may know of it.
var seat = harness.SeatOf(secret)

// ticketOf writes a ticket for a program of the shell below a new home.
func ticketOf(t *testing.T, argv ...string) (home, path string) {
	t.Helper()
	home = t.TempDir()
	must(t, os.Mkdir(Folder(home), 0o700))
	text, err := json.Marshal(harness.Ticket{Home: home, Task: "abc", Argv: argv, Dir: home,
		Set: []string{"ORANGE_SEAT=" + secret}, Exit: filepath.Join(Folder(home), "7.exit")})
	must(t, err)
	path = filepath.Join(Folder(home), "7.json")
	must(t, os.WriteFile(path, text, 0o600))
	return home, path
}

func noneGiven(harness.Ticket) ([]string, error) { return nil, nil }

func watched(harness.Ticket) error { return nil }

func leaves(context.Context, harness.Ticket) {}

func launched(messages io.Writer, path string, kept func(harness.Ticket) ([]string, error)) int {
	return Launcher{Messages: messages, Kept: kept, Given: noneGiven, Watch: watched, Keep: leaves}.Run(path)
}

func TestRun_takesTheTicketAndNotesTheEnd(t *testing.T) {
	home, path := ticketOf(t, "sh", "-c", "exit 3")
	var said bytes.Buffer
	status := launched(&said, path, func(ticket harness.Ticket) ([]string, error) {
		if ticket.Task != "abc" {
			t.Errorf("the environment of task %q is asked for", ticket.Task)
		}
		return os.Environ(), nil
	})
	end, found, err := Ending(home, 7, seat)
	if status != 3 || !found || err != nil || end != (task.Ending{Known: true, Status: 3}) || said.Len() > 0 {
		t.Errorf("status %d, note %+v (%v, %v), said %q", status, end, found, err, &said)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the ticket is still there: %v", err)
	}
	if status := launched(&said, path, nil); status != cannotStart {
		t.Errorf("without a ticket the status is %d", status)
	}
}

func TestRun_notesWhyTheAgentCouldNotBeStarted(t *testing.T) {
	for name, kept := range map[string]func(harness.Ticket) ([]string, error){
		"no such program": func(harness.Ticket) ([]string, error) { return []string{"PATH=/nowhere"}, nil },
		"no environment":  func(harness.Ticket) ([]string, error) { return nil, errors.New("no terminal server") },
	} {
		home, path := ticketOf(t, "no-such-agent")
		var said bytes.Buffer
		status := launched(&said, path, kept)
		end, found, err := Ending(home, 7, seat)
		if status != cannotStart || !found || err != nil || end.Unstarted == "" || said.Len() == 0 {
			t.Errorf("%s: status %d, note %+v (%v, %v), said %q", name, status, end, found, err, &said)
		}
	}
}

func TestEnding_ofWhatIsNotThereOrCutShortIsNoNote(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if _, found, err := Ending(home, 7, seat); found || err != nil {
		t.Errorf("no note: %v, %v", found, err)
	}
	must(t, os.Mkdir(Folder(home), 0o700))
	must(t, os.WriteFile(filepath.Join(Folder(home), "7.exit"), []byte(`{"stat`), 0o600))
	if _, found, err := Ending(home, 7, seat); found || err != nil {
		t.Errorf("half a note: %v, %v", found, err)
	}
}

func TestEnding_isToldByTheAgentsOwnLauncherAlone(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	must(t, os.Mkdir(Folder(home), 0o700))
	write := func(note harness.Note) {
		t.Helper()
		must(t, leave(filepath.Join(Folder(home), "7.exit"), note))
	}
	own := harness.Note{Status: 3, At: "2026-03-01T12:00:00.000Z"}.Sealed(secret)
	changed, other := own, own
	changed.Status = 0
	other.Key, other.Seal = harness.Note{}.Sealed("mine").Key, own.Seal
	for name, note := range map[string]harness.Note{"no seal": {}, "another agent's": harness.Note{}.Sealed("mine"),
		"a changed one": changed, "another key": other, "half a key": {Key: own.Key[:3], Seal: own.Seal}} {
		write(note)
		if end, found, err := Ending(home, 7, seat); found || err != nil {
			t.Errorf("%s: found %+v (%v)", name, end, err)
		}
	}
	write(own)
	if end, found, err := Ending(home, 7, seat); !found || err != nil || end != (task.Ending{Known: true, Status: 3}) {
		t.Errorf("its own: found %+v, %t (%v)", end, found, err)
	}
}

func TestRun_notesTheEndWhateverLiesInThePlaceOfTheNote(t *testing.T) {
	home, path := ticketOf(t, "sh", "-c", "exit 3")
	must(t, os.MkdirAll(filepath.Join(Folder(home), "7.exit", "full"), 0o700))
	if _, found, err := Ending(home, 7, seat); found || err != nil {
		t.Errorf("a folder is taken for a note: %t, %v", found, err)
	}
	var said bytes.Buffer
	launched(&said, path, func(harness.Ticket) ([]string, error) { return os.Environ(), nil })
	if end, found, err := Ending(home, 7, seat); !found || err != nil || end.Status != 3 || said.Len() > 0 {
		t.Errorf("found %+v, %t (%v), said %q", end, found, err, &said)
	}
}

// Some programs end with status 0 when their terminal is gone.
func TestRun_notesThatTheTerminalWentAwayFirst(t *testing.T) {
	home, path := ticketOf(t, "sh", "-c", "trap 'kill $!; exit 0' HUP; tail -f /dev/null & kill -HUP $PPID; wait")
	launched(io.Discard, path, func(harness.Ticket) ([]string, error) { return os.Environ(), nil })
	end, found, err := Ending(home, 7, seat)
	if want := (task.Ending{Known: true, HungUp: true}); !found || err != nil || end != want || end.Itself() {
		t.Errorf("found %+v, %t (%v), by itself %t, want %+v", end, found, err, end.Itself(), want)
	}
}

func TestNoteOf_readsTheHookFromTheName(t *testing.T) {
	t.Parallel()
	if hook, found := noteOf("/home/launch/12.exit"); hook != 12 || !found {
		t.Errorf("found %d, %v", hook, found)
	}
	for _, path := range []string{"/home/launch/12.json", "/home/launch/x.exit", "/home/launch/12.exit.new"} {
		if _, found := noteOf(path); found {
			t.Errorf("%s is taken for a note", path)
		}
	}
}

func TestDropTickets_takesOldTicketsAndLeavesNotes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	must(t, DropTickets(home))
	must(t, os.Mkdir(Folder(home), 0o700))
	old := time.Now().Add(-2 * ticketAge)
	for _, name := range []string{"1.json", "2.json.new", "3.exit", "4.json"} {
		path := filepath.Join(Folder(home), name)
		must(t, os.WriteFile(path, nil, 0o600))
		if name != "4.json" {
			must(t, os.Chtimes(path, old, old))
		}
	}
	must(t, DropTickets(home))
	left, err := os.ReadDir(Folder(home))
	must(t, err)
	var names []string
	for _, entry := range left {
		names = append(names, entry.Name())
	}
	if !slices.Equal(names, []string{"3.exit", "4.json"}) {
		t.Errorf("left are %q", names)
	}
}

func TestRun_answersTheRequestsOfAConfinedAgentWhileItLives(t *testing.T) {
	home, path := ticketOf(t, "sh", "-c", "echo $SEEN >seen; while ! test -e served; do sleep 0.01; done")
	requests := filepath.Join(home, "requests")
	must(t, os.Mkdir(requests, 0o700))
	var ticket harness.Ticket
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, json.Unmarshal(text, &ticket))
	ticket.Requests, ticket.Set = requests, []string{"SEEN=this"}
	text, err = json.Marshal(ticket)
	must(t, err)
	must(t, os.WriteFile(path, text, 0o600))
	ended := false
	status := Launcher{Messages: io.Discard, Given: noneGiven, Watch: watched, Keep: leaves,
		Kept: func(harness.Ticket) ([]string, error) { return os.Environ(), nil },
		Serve: func(ctx context.Context, _ harness.Ticket, env []string) error {
			if harness.Value(env, "SEEN") != "this" {
				t.Errorf("the environment is %q", env)
			}
			must(t, os.WriteFile(filepath.Join(home, "served"), nil, 0o600))
			<-ctx.Done()
			ended = true
			return nil
		}}.Run(path)
	if _, err := os.Stat(requests); status != 0 || !ended || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("status %d, ended %v, its folder is there: %v", status, ended, err)
	}
}

// Who watches is there from the beginning, and finds the note of the end. The window says where no one can.
func TestRun_hasTheAgentWatchedOver(t *testing.T) {
	home, path := ticketOf(t, "/bin/true")
	var said bytes.Buffer
	calls, keeps := 0, false
	keep := func(ctx context.Context, ticket harness.Ticket) {
		<-ctx.Done()
		keeps = calls == 1 && ticket.Home == home
	}
	watch := func(ticket harness.Ticket) error {
		calls++
		if _, found, err := Ending(ticket.Home, 7, seat); ticket.Home != home || found != (calls == 2) || err != nil {
			t.Errorf("call %d: of %q it is noted: %v, %v", calls, ticket.Home, found, err)
		}
		return errors.New("no one is there")
	}
	status := Launcher{Messages: &said, Kept: noneGiven, Given: noneGiven, Keep: keep, Watch: watch}.Run(path)
	want := strings.Repeat("orange: no one watches over this agent: no one is there\n", 2)
	if status != 0 || calls != 2 || !keeps || said.String() != want {
		t.Errorf("status %d, kept between the two %t, said %q", status, keeps, said.String())
	}
}

func TestRun_beginsAfreshWhereTheConversationIsGone(t *testing.T) {
	for name, tt := range map[string]struct {
		again string // what goes on with the conversation does
		says  string
		want  int
	}{
		"gone":     {"exit 1", "could not go on with its earlier conversation", 7},
		"there":    {"exit 0", "", 0},
		"by a key": {"kill -INT $$", "", 128 + 2},
	} {
		t.Run(name, func(t *testing.T) {
			home, path := ticketOf(t)
			text, err := json.Marshal(harness.Ticket{Home: home, Argv: []string{"sh", "-c", tt.again}, Dir: home,
				Fresh: []string{"sh", "-c", "exit 7"}, Exit: filepath.Join(Folder(home), "7.exit")})
			must(t, err)
			must(t, os.WriteFile(path, text, 0o600))
			var said bytes.Buffer
			status := launched(&said, path, func(harness.Ticket) ([]string, error) { return os.Environ(), nil })
			if status != tt.want || !strings.Contains(said.String(), tt.says) || tt.says == "" && said.Len() > 0 {
				t.Errorf("status %d, want %d, said %q", status, tt.want, &said)
			}
		})
	}
}

func TestRun_startsNoAgentWithoutWhatThePersonHasSet(t *testing.T) {
	home, path := ticketOf(t, "sh", "-c", "exit 3")
	var said bytes.Buffer
	status := Launcher{Messages: &said, Watch: watched, Keep: leaves,
		Kept:  func(harness.Ticket) ([]string, error) { return os.Environ(), nil },
		Given: func(harness.Ticket) ([]string, error) { return nil, errors.New("env.json:3: found something else") },
	}.Run(path)
	end, _, err := Ending(home, 7, seat)
	if status != cannotStart || err != nil || !strings.Contains(end.Unstarted, "env.json:3") {
		t.Errorf("status %d, note %+v, %v", status, end, err)
	}
}
