package main_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// desk is a tmux server of a test's own to which it talks over one connection, so that keys come quickly and each change
// of a pane has a time.
type desk struct {
	t       testing.TB
	input   io.WriteCloser
	replies chan []string

	mu      sync.Mutex
	changed map[string]time.Time // by pane: when it last changed
	news    chan struct{}        // has something after a change
}

// newDesk opens a server with one pane, so that the server lasts.
func (w *world) newDesk(width, height int) *desk {
	w.t.Helper()
	w.write("desk.conf", terminals)
	words := []string{"-L", "desk", "-f", filepath.Join(w.dir, "desk.conf"), "-C", "new-session", "-x",
		fmt.Sprint(width), "-y", fmt.Sprint(height), "cat"}
	cmd := exec.Command("tmux", words...)
	cmd.Dir, cmd.Env = w.repo, append(w.env, "TERM=xterm-256color")
	d := &desk{t: w.t, replies: make(chan []string, 16), changed: map[string]time.Time{}, news: make(chan struct{}, 1)}
	out, err := cmd.StdoutPipe()
	if err == nil {
		d.input, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { d.read(out) })
	w.t.Cleanup(func() {
		_, _ = io.WriteString(d.input, "kill-server\n")
		_ = d.input.Close()
		reading.Wait()
		_ = cmd.Wait()
	})
	<-d.replies // the answer to new-session
	d.ask("resize-window -x %d -y %d", width, height)
	return d
}

// read takes what the server says: answers to commands, and that panes changed.
func (d *desk) read(out io.Reader) {
	lines := bufio.NewReader(out)
	var reply []string
	inside := false
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			close(d.replies)
			return
		}
		line = strings.TrimRight(line, "\r\n")
		switch words := strings.SplitN(line, " ", 3); {
		case words[0] == "%begin" && !inside:
			inside, reply = true, nil
		case inside && (words[0] == "%end" || words[0] == "%error"):
			inside = false
			d.replies <- reply
		case inside:
			reply = append(reply, line)
		case words[0] == "%output" && len(words) == 3:
			d.mu.Lock()
			d.changed[words[1]] = time.Now()
			d.mu.Unlock()
			select {
			case d.news <- struct{}{}:
			default:
			}
		}
	}
}

// ask sends a command to the server and waits for its answer.
func (d *desk) ask(format string, args ...any) []string {
	d.t.Helper()
	if _, err := fmt.Fprintf(d.input, format+"\n", args...); err != nil {
		d.t.Fatal(err)
	}
	select {
	case reply, open := <-d.replies:
		if !open {
			d.t.Fatal("the tmux server of the test has ended")
		}
		return reply
	case <-time.After(20 * time.Second):
		d.t.Fatalf("tmux did not answer "+format, args...)
		return nil
	}
}

// open starts a program in a pane of its own and answers the pane.
func (d *desk) open(program string) string {
	d.t.Helper()
	reply := d.ask("new-window -P -F '#{pane_id}' %q", program)
	if len(reply) == 0 {
		d.t.Fatal("tmux opened no window")
	}
	return reply[0]
}

// changedAfter waits until a pane changed after a moment, at most so long, and answers when it did.
func (d *desk) changedAfter(pane string, moment time.Time, most time.Duration) (time.Time, bool) {
	end := time.NewTimer(most)
	defer end.Stop()
	for {
		d.mu.Lock()
		at := d.changed[pane]
		d.mu.Unlock()
		if at.After(moment) {
			return at, true
		}
		select {
		case <-d.news:
		case <-end.C:
			return time.Time{}, false
		}
	}
}

// key presses a key, as tmux names it, and answers how long the pane took to change; false where it did not in that
// time.
func (d *desk) key(pane, name string, most time.Duration) (time.Duration, bool) {
	d.t.Helper()
	began := time.Now()
	if strings.HasPrefix(name, "literal ") {
		d.ask("send-keys -t %s -H %x", pane, strings.TrimPrefix(name, "literal "))
	} else {
		d.ask("send-keys -t %s %s", pane, name)
	}
	at, is := d.changedAfter(pane, began, most)
	return at.Sub(began), is
}

// picture is what a pane shows, line by line.
func (d *desk) picture(pane string) []string { return d.ask("capture-pane -p -t %s", pane) }

// entries are the lines of a log that may not be there yet.
func entries(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}
