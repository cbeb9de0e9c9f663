package storm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// personRequest is a request of a person, with the last answer to it.
type personRequest struct {
	person, task, method, key string
	words                     []string
	exit                      int
	code                      string
	output                    string
	unknown                   bool // an earlier answer was that it is not known, or none came
	moved                     bool
	at                        time.Duration // when the last answer came, since the machine's start
	ended                     bool          // the task waited for a host, and was cancelled
	answered                  bool
}

// granted reports whether the answer was that it is done.
func (a personRequest) granted() bool { return a.exit == 0 }

// crowd is what all people know together.
type crowd struct {
	lock     sync.Mutex
	requests []*personRequest
	tasks    []string
	number   int
}

const mostTasks = 6

// listedTask is a task of the list of a fleet.
type listedTask struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Host   string `json:"host"`
	Live   bool   `json:"live"`
}

// ask has a person run a command of "orange fleet", and answers the exit status and what was printed.
func (w *world) ask(ctx context.Context, d *desk, words ...string) (exit int, out string) {
	return w.ran(ctx, d, append([]string{"orange", "fleet"}, words...)...)
}

// fleetProgram has the first person run a command of orange-fleet.
func (w *world) fleetProgram(ctx context.Context, words ...string) (exit int, out string) {
	return w.ran(ctx, w.desks[0], append([]string{"orange-fleet"}, words...)...)
}

func (w *world) ran(ctx context.Context, d *desk, words ...string) (exit int, out string) {
	line := w.in("hub", append([]string{filepath.Join(w.bin, words[0])}, words[1:]...)...)
	ctx, off := context.WithTimeout(ctx, 75*time.Second)
	defer off()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = d.env, d.dir, time.Second
	var said, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &talk
	_ = cmd.Run()
	exit = cmd.ProcessState.ExitCode()
	if said.Len() == 0 || !strings.HasPrefix(said.String(), "{") {
		said.WriteString(talk.String())
	}
	return exit, said.String()
}

// list are the tasks of the fleet, if there is a list. They are those that could be had: a lost host makes the command
// fail.
func (w *world) list(ctx context.Context, d *desk) (tasks []listedTask, is bool) {
	_, out := w.ask(ctx, d, "list", "--project", "web", "--json")
	var all struct{ Tasks []listedTask }
	if json.Unmarshal([]byte(out), &all) != nil {
		w.count("lists that were no list")
		return nil, false
	}
	w.count("lists")
	return all.Tasks, true
}

// requests asks for something under a key, and notes the answer.
func (w *world) requests(ctx context.Context, c *crowd, d *desk, id string, words ...string) *personRequest {
	c.lock.Lock()
	c.number++
	a := &personRequest{person: d.person, task: id, method: words[0], key: fmt.Sprintf("k%d-%d", w.seed, c.number)}
	c.requests = append(c.requests, a)
	c.lock.Unlock()
	a.words = append(slices.Clone(words[:1]), append([]string{"--json", "--project", "web"}, words[1:]...)...)
	if words[0] == "create" {
		a.key = id
	} else {
		a.words = append(a.words, "--key", a.key)
	}
	exit, out := w.ask(ctx, d, a.words...)
	c.answered(w, a, exit, out)
	w.count("asked: " + words[0])
	return a
}

// answered notes the answer to a request.
func (c *crowd) answered(w *world, a *personRequest, exit int, out string) {
	var said struct {
		Code, Error string
		Moved       bool
		Ended       bool
	}
	_ = json.Unmarshal([]byte(out), &said) // what is no JSON says nothing
	_, up, _ := proc.SinceBoot()
	c.lock.Lock()
	a.exit, a.code, a.output, a.moved, a.at, a.ended = exit, said.Code, out, said.Moved, up, said.Ended
	a.answered = true
	if exit < 0 || said.Code == "not_known" {
		a.unknown = true
	}
	c.lock.Unlock()
	w.note("%s %s %s under %s: %d %s %.500q", a.person, a.method, a.task, a.key, exit, said.Code, said.Error)
}

// open reports whether it is not known what became of a request.
func (a *personRequest) open() bool { return a.exit < 0 || a.code == "not_known" }

// again asks once more for what is not known, under the same key.
func (w *world) again(ctx context.Context, c *crowd, d *desk, a *personRequest) {
	words := []string{"result", a.key, "--json"}
	if a.exit < 0 { // the program was ended, and has kept nothing
		words = a.words
	}
	exit, out := w.ask(ctx, d, words...)
	w.count("asked again")
	c.answered(w, a, exit, out)
}

// granted is how many requests of tasks were answered as done.
func (c *crowd) granted() (n int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, a := range c.requests {
		if a.answered && a.granted() && a.method != "create" {
			n++
		}
	}
	return n
}

// person does what people do, at random, until ctx ends.
func (w *world) person(ctx context.Context, c *crowd, d *desk, number uint64) {
	dice := w.random(number)
	for ctx.Err() == nil {
		if dice.IntN(6) == 0 {
			if a := c.unknownOf(d.person); a != nil {
				w.again(ctx, c, d, a)
			}
		}
		tasks, is := w.list(ctx, d)
		live := slices.DeleteFunc(slices.Clone(tasks), func(t listedTask) bool { return !t.Live })
		switch {
		case !is:
		case len(live) < mostTasks/2 || len(live) < mostTasks && dice.IntN(4) == 0:
			w.create(ctx, c, d, dice)
		case len(tasks) > 0:
			w.act(ctx, c, d, tasks, dice)
		}
		rest(ctx, time.Duration(dice.Int64N(int64(700*time.Millisecond))))
	}
}

// unknownOf is a request of a person of which it is not known what became of it.
func (c *crowd) unknownOf(person string) *personRequest {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, a := range c.requests {
		if a.person == person && a.answered && a.open() {
			return a
		}
	}
	return nil
}

func (w *world) create(ctx context.Context, c *crowd, d *desk, dice *rand.Rand) {
	random := make([]byte, 64)
	for i := range random {
		random[i] = byte(dice.Uint32())
	}
	id, err := task.NewID(random)
	if err != nil {
		w.t.Error(err)
		return
	}
	c.lock.Lock()
	c.tasks = append(c.tasks, id)
	c.lock.Unlock()
	words := []string{"create", "--id", id, "--workflow", "storm", "--harness", "storm"}
	if dice.IntN(5) == 0 {
		words = append(words, "--on", w.hosts[dice.IntN(len(w.hosts))].name)
	}
	w.requests(ctx, c, d, id, append(words, "storm/"+id, "Thing "+id[:5])...)
}

// act asks for something that fits a task, or does not.
func (w *world) act(ctx context.Context, c *crowd, d *desk, tasks []listedTask, dice *rand.Rand) {
	t := tasks[dice.IntN(len(tasks))]
	word := fmt.Sprintf("word %d", dice.Uint64())
	switch t.Status {
	case "pending":
		w.requests(ctx, c, d, t.ID, "spawn", t.ID)
		return
	case "done":
		if dice.IntN(8) == 0 {
			w.requests(ctx, c, d, t.ID, "redo", t.ID, "working", "--reason", word)
		}
		return
	case "cancelled":
		return
	case "review", "checked":
		if dice.IntN(3) == 0 {
			w.requests(ctx, c, d, t.ID, "merge", t.ID)
			return
		}
	}
	choices := [][]string{
		{"say", t.ID, word}, {"update", t.ID, "--summary", word}, {"next", t.ID, "--reason", word},
		{"request-changes", t.ID, word}, {"move", t.ID, "review", "--reason", word},
		{"move", t.ID, "working", "--reason", word}, {"update", t.ID, "--status", "checked", "--reason", word},
		{"respawn", t.ID}, {"retry", t.ID}, {"redo", t.ID, "working", "--reason", word},
		{"move", t.ID, "checked", "--reason", word}, {"cancel", t.ID, "--yes"}, {"request-changes", t.ID, word},
	}
	w.requests(ctx, c, d, t.ID, choices[dice.IntN(len(choices))]...)
}

// stranger asks in the name of another person, and signs with a key that is in no list.
func (w *world) stranger(ctx context.Context, c *crowd, d *desk) {
	dice := w.random(99)
	for ; ctx.Err() == nil; rest(ctx, time.Second) {
		if tasks, _ := w.list(ctx, w.desks[0]); len(tasks) > 0 {
			t := tasks[dice.IntN(len(tasks))]
			w.requests(ctx, c, d, t.ID, "update", t.ID, "--summary", strings.Repeat("mine ", 1+dice.IntN(3)))
		}
	}
}
