package relay

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"orange/internal/proc"
)

// CarriedWord makes the program wait for a call on its standard input, and become that command.
const CarriedWord = "carried"

// SpareProgram runs requests as commands of a program, with an environment that is the agent's. To start a program
// takes longer than most commands do, so one that is started waits for the next request.
type SpareProgram struct {
	Path string
	Env  []string

	mu    sync.Mutex
	ready *proc.Held // waits for a call; nil where none does
}

// Prepare starts the program for the next request, if none waits already. Where that fails, the request tells why.
func (s *SpareProgram) Prepare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready == nil {
		s.ready, _ = s.start()
	}
}

// Close ends the program that waits.
func (s *SpareProgram) Close() {
	if h := s.take(); h != nil {
		h.Discard()
	}
}

// Run runs a command.
func (s *SpareProgram) Run(ctx context.Context, r Call) Reply {
	result, err := s.run(ctx, r)
	if ended := (*proc.Error)(nil); err != nil && !errors.As(err, &ended) {
		return Reply{Code: 1, Stderr: []byte("orange: " + err.Error() + "\n")}
	}
	return Reply{Code: result.Code, Stdout: result.Stdout, Stderr: result.Stderr}
}

func (s *SpareProgram) run(ctx context.Context, r Call) (proc.Result, error) {
	input := r.Stdin
	r.Stdin = nil
	body, err := json.Marshal(r)
	if err != nil {
		return proc.Result{}, fmt.Errorf("write the call: %w", err)
	}
	h := s.take()
	if h != nil && !h.Current() { // a newer program is there: the record may be that one's
		h.Discard()
		h = nil
	}
	text := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	text = append(text, input...)
	if h != nil {
		result, err := h.Finish(ctx, text)
		if !errors.Is(err, proc.ErrGone) {
			return result, err
		}
	}
	if h, err = s.start(); err != nil {
		return proc.Result{}, err
	}
	return h.Finish(ctx, text)
}

func (s *SpareProgram) take() *proc.Held {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.ready
	s.ready = nil
	return h
}

func (s *SpareProgram) start() (*proc.Held, error) {
	return proc.Hold(proc.Command{Name: s.Path, Args: []string{CarriedWord}, Base: s.Env, Most: longestAnswer / 4})
}

// ReadCall reads the call for which CarriedWord waits. What follows it is the command's own input. It is io.EOF where
// there is none.
func ReadCall(from io.Reader) (r Call, err error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return r, err
	}
	length := binary.BigEndian.Uint32(size[:])
	if length > longestRequest {
		return r, fmt.Errorf("the call has %d bytes, at most %d", length, longestRequest)
	}
	body := make([]byte, length)
	if _, err = io.ReadFull(from, body); err == nil {
		err = json.Unmarshal(body, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read the call: %w", err)
	}
	return r, nil
}
