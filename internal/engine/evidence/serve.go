package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"orange/internal/rules/workflow"
)

const (
	// jqMemory is what the process that runs the programs may use before it ends itself.
	jqMemory = 256 << 20
	// jqStack is far less: a program that calls itself without end ends there.
	jqStack = 64 << 20
	// jqWatch is how often the process looks at itself.
	jqWatch = 5 * time.Millisecond
	// jqLate is what a program gets beyond its time before its process ends: most are called off sooner, but no
	// step of one can be.
	jqLate = 500 * time.Millisecond
)

// ServeJQ is the process that runs the programs of one look: it reads them from in, and writes an answer for each
// to out, a line each. It is a process of its own because no program in this one could be stopped in the middle
// of a step, nor be kept from the memory. When a program takes too much of either, exit is called, behind the
// answer that says so.
func ServeJQ(in io.Reader, out io.Writer, exit func(status int)) error {
	debug.SetMaxStack(jqStack)
	debug.SetMemoryLimit(jqMemory * 3 / 4) // so that garbage does not count as use
	var request jqRequest
	if err := json.NewDecoder(in).Decode(&request); err != nil {
		return fmt.Errorf("read the jq programs: %w", err)
	}
	s := &server{out: out, limit: request.Time}
	go s.watch(exit)
	for i, p := range request.Programs {
		s.begin(i, time.Now())
		answer := run(p, request.Time)
		request.Programs[i] = jqProgram{}
		answer.Number = i
		if err := s.say(answer); err != nil {
			return err
		}
		runtime.GC() // what this one has left is not the next one's use
	}
	return nil
}

// server runs one program after another.
type server struct {
	limit time.Duration // of one program
	out   io.Writer

	mutex  sync.Mutex
	number int
	began  time.Time // zero between two programs
}

func (s *server) begin(number int, now time.Time) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.number, s.began = number, now
}

func (s *server) say(a jqAnswer) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.began = time.Time{}
	return s.write(a)
}

func (s *server) write(a jqAnswer) error {
	line, err := json.Marshal(a)
	if err == nil {
		_, err = s.out.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// watch ends the process when a program takes too much.
func (s *server) watch(exit func(status int)) {
	used := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	for now := range time.Tick(jqWatch) {
		metrics.Read(used)
		s.mutex.Lock() // for good when it comes to an end: nothing is said after that
		found := ""
		switch {
		case s.began.IsZero():
		case used[0].Value.Uint64()+used[1].Value.Uint64() > jqMemory:
			found = fmt.Sprintf("its program needs more than %d MiB of memory", jqMemory>>20)
		case now.Sub(s.began) > s.limit+jqLate:
			found = tooLong(s.limit)
		}
		if found != "" {
			_ = s.write(jqAnswer{Number: s.number, Found: found})
			exit(1)
		}
		s.mutex.Unlock()
	}
}

func tooLong(limit time.Duration) string { return fmt.Sprintf("its program takes more than %v", limit) }

// run runs one program. Its first answer counts.
func run(p jqProgram, limit time.Duration) jqAnswer {
	code, err := workflow.CompileJQ(p.Program, p.Names)
	if err != nil {
		return jqAnswer{Found: short(err.Error())}
	}
	input, err := value(p.Input)
	values := make([]any, len(p.Values))
	for i, text := range p.Values {
		var failed error
		values[i], failed = value(text)
		err = errors.Join(err, failed)
	}
	if err != nil {
		return jqAnswer{Found: short(err.Error())}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	first, there := code.RunWithContext(ctx, input, values...).Next()
	failed, isError := first.(error)
	switch {
	case ctx.Err() != nil:
		return jqAnswer{Found: tooLong(limit)}
	case !there:
		return jqAnswer{Found: "that its jq program answers nothing"}
	case isError:
		return jqAnswer{Found: "its program fails: " + short(failed.Error())}
	case first == nil:
		return jqAnswer{Found: "that its jq program answers null"}
	case first == false:
		return jqAnswer{Found: "that its jq program answers false"}
	}
	return jqAnswer{Holds: true}
}

// value reads JSON; numbers keep all of their digits.
func value(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return v, nil
}
