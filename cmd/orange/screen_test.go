package main_test

import (
	"cmp"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"orange/internal/run/proc"
)

// screenWords are what a story can do at a terminal of its own: a pane of a tmux server that is only this
// story's, and ends with it. $SCREEN names the terminal where a story has several.
//
//	screen start 80x24 [COMMAND...]   opens it, with the dashboard or another program in it
//	screen keys KEY...                presses keys, as tmux names them
//	screen types TEXT                 types letters
//	screen pressed NUMBER             compares how many keys the story has pressed so far, texts apart
//	screen shows REGEXP               waits until the screen shows it
//	screen hides REGEXP               waits until the screen no longer shows it
//	screen colours none|16            looks at the colours on it
//	screen size 50x12                 makes it another size
//	screen signal NAME                sends its program a signal
//	screen left STATUS                waits until its program ended with that status and left the terminal as it was
//	screen vanish                     takes the terminal away, and waits until its program is gone
func screen(ts *testscript.TestScript, neg bool, args []string) {
	words := map[string]func(*testscript.TestScript, []string){
		"start": screenStart, "keys": screenKeys, "pressed": screenPressed, "types": screenTypes,
		"shows": screenShows, "hides": screenHides, "colours": screenColours, "size": screenSize,
		"signal": screenSignal, "left": screenLeft, "vanish": screenVanish,
	}
	if neg || len(args) == 0 || words[args[0]] == nil {
		ts.Fatalf("usage: screen start|keys|pressed|types|shows|hides|colours|size|signal|left|vanish ...")
	}
	words[args[0]](ts, args[1:])
}

// terminals is the configuration of the server.
const terminals = "set-option -g status off\nset-option -g default-terminal screen-256color\n"

// seat is who starts the program of a terminal, as a person's shell would: it notes which process that is, and
// tells how it ended and how it left the terminal. An interrupt is for the program alone.
const seat = `trap : INT
sh -c 'echo $$ >"$1"; shift; exec env "$@"' sh "$@"
status=$?
modes=$(stty -a)
case $modes in *-icanon*) echo "the terminal is raw";; esac
case $modes in *-echo\ *) echo "the terminal hides what is typed";; esac
printf '\nleft with %s\n' "$status"
exec cat
`

func screenName(ts *testscript.TestScript) string {
	if name := ts.Getenv("SCREEN"); name != "" {
		return name
	}
	return "desk"
}

// onScreens asks the server of this story's terminals.
func onScreens(ts *testscript.TestScript, words ...string) (string, error) {
	out, err := command(
		ts, append([]string{"tmux", "-L", "screens", "-f", ts.MkAbs(ts.Getenv("WORK") + "/terminals.conf")},
			words...)).CombinedOutput()
	return string(out), err
}

func mustScreens(ts *testscript.TestScript, words ...string) string {
	out, err := onScreens(ts, words...)
	if err != nil {
		ts.Fatalf("tmux %v: %v\n%s", words, err, out)
	}
	return out
}

func screenTarget(ts *testscript.TestScript) string { return "=" + screenName(ts) + ":" }

func sizeOf(ts *testscript.TestScript, args []string) (width, height string) {
	if len(args) > 0 {
		if width, height, found := strings.Cut(args[0], "x"); found {
			return width, height
		}
	}
	ts.Fatalf("a screen has a size like 80x24")
	return "", ""
}

func screenStart(ts *testscript.TestScript, args []string) {
	width, height := sizeOf(ts, args)
	ts.Check(os.WriteFile(ts.MkAbs(ts.Getenv("WORK")+"/terminals.conf"), []byte(terminals), 0o644))
	program := args[1:]
	if len(program) == 0 {
		program = []string{"orange"}
	}
	words := append([]string{"sh", "-c", seat, "sh", screenPidFile(ts)}, program...)
	mustScreens(ts, append([]string{"new-session", "-d", "-s", screenName(ts), "-x", width, "-y", height}, words...)...)
}

func screenKeys(ts *testscript.TestScript, args []string) {
	mustScreens(ts, append([]string{"send-keys", "-t", screenTarget(ts)}, args...)...)
	ts.Setenv("PRESSED", strconv.Itoa(keysPressed(ts)+len(args)))
}

func keysPressed(ts *testscript.TestScript) int {
	pressed, err := strconv.Atoi(cmp.Or(ts.Getenv("PRESSED"), "0"))
	ts.Check(err)
	return pressed
}

func screenPressed(ts *testscript.TestScript, args []string) {
	if pressed := strconv.Itoa(keysPressed(ts)); len(args) != 1 || pressed != args[0] {
		ts.Fatalf("%s keys were pressed, want %v", pressed, args)
	}
}

func screenTypes(ts *testscript.TestScript, args []string) {
	mustScreens(ts, "send-keys", "-t", screenTarget(ts), "-l", "--", strings.Join(args, " "))
}

// screenPatience is how long a screen has to become as it should be.
const screenPatience = 20 * time.Second

// screenUntil looks at the screen until it is as it should be.
func screenUntil(ts *testscript.TestScript, what string, is func(picture string) bool) {
	deadline := time.Now().Add(screenPatience)
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		picture, err := onScreens(ts, "capture-pane", "-p", "-t", screenTarget(ts))
		if err == nil && is(picture) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("the screen %q never %s (%v); at last it was:\n%s", screenName(ts), what, err, picture)
		}
		<-tick.C
	}
}

func screenShows(ts *testscript.TestScript, args []string) {
	pattern := regexp.MustCompile("(?m)" + strings.Join(args, " "))
	screenUntil(ts, "showed "+strconv.Quote(pattern.String()), pattern.MatchString)
}

func screenHides(ts *testscript.TestScript, args []string) {
	pattern := regexp.MustCompile("(?m)" + strings.Join(args, " "))
	screenUntil(ts, "hid "+strconv.Quote(pattern.String()), func(picture string) bool {
		return !pattern.MatchString(picture)
	})
}

// screenColours looks at every colour on the screen: there is none, or there are some and all are of the sixteen
// that a person can set.
func screenColours(ts *testscript.TestScript, args []string) {
	picture := mustScreens(ts, "capture-pane", "-e", "-p", "-t", screenTarget(ts))
	sixteen, seen := regexp.MustCompile(`^(3[0-7]|4[0-7]|9[0-7]|10[0-7])$`), 0
	for _, painted := range regexp.MustCompile(`\x1b\[([0-9;:]*)m`).FindAllStringSubmatch(picture, -1) {
		for code := range strings.SplitSeq(painted[1], ";") {
			switch number, _ := strconv.Atoi(code); {
			case sixteen.MatchString(code):
				seen++
			case number >= 30 && number != 39 && number != 49:
				ts.Fatalf("the screen has the colour %q, which is none of the sixteen:\n%q", painted[1], picture)
			}
		}
	}
	if none := strings.Join(args, " ") == "none"; none != (seen == 0) {
		ts.Fatalf("the screen has %d colours, want %v:\n%q", seen, args, picture)
	}
}

func screenSize(ts *testscript.TestScript, args []string) {
	width, height := sizeOf(ts, args)
	mustScreens(ts, "resize-window", "-t", screenTarget(ts), "-x", width, "-y", height)
}

func screenPidFile(ts *testscript.TestScript) string {
	return ts.MkAbs(ts.Getenv("WORK") + "/" + screenName(ts) + ".pid")
}

// screenProgram is the process that was started in the terminal.
func screenProgram(ts *testscript.TestScript) string {
	return strings.TrimSpace(ts.ReadFile(screenPidFile(ts)))
}

func screenSignal(ts *testscript.TestScript, args []string) {
	if out, err := exec.Command("kill", "-s", args[0], screenProgram(ts)).CombinedOutput(); err != nil {
		ts.Fatalf("kill: %v: %s", err, out)
	}
}

// screenLeft waits for the end of the program, and checks whether the terminal is as it was: its own screen, a
// cursor, no mouse, no raw mode.
func screenLeft(ts *testscript.TestScript, args []string) {
	screenShows(ts, []string{"^left with " + strings.Join(args, " ") + "$"})
	const wanted = "other screen 0, cursor 1, mouse 0"
	is := mustScreens(ts, "display-message", "-p", "-t", screenTarget(ts),
		"other screen #{alternate_on}, cursor #{cursor_flag}, mouse #{mouse_any_flag}")
	picture := mustScreens(ts, "capture-pane", "-p", "-t", screenTarget(ts))
	if strings.TrimSpace(is) != wanted || strings.Contains(picture, "the terminal ") {
		ts.Fatalf("the terminal was left as %q, want %q:\n%s", is, wanted, picture)
	}
}

// screenVanish closes the terminal beneath its program.
func screenVanish(ts *testscript.TestScript, _ []string) {
	pid, err := strconv.Atoi(screenProgram(ts))
	ts.Check(err)
	was, err := proc.Lookup(pid)
	ts.Check(err)
	mustScreens(ts, "kill-pane", "-t", screenTarget(ts))
	deadline := time.Now().Add(screenPatience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		alive, err := proc.Alive(was)
		ts.Check(err)
		if !alive {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("the program of the screen %q outlives its terminal", screenName(ts))
		}
		<-tick.C
	}
}
