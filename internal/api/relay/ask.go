package relay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"orange/internal/run/proc"
)

const (
	// pickedUp is how long a launcher may take to see a request.
	pickedUp = 10 * time.Second
	// Between two looks for the answer: most commands take milliseconds, and a wait takes minutes.
	often, seldom = time.Millisecond, 25 * time.Millisecond
	soon          = time.Second // how long it looks often
)

// Client asks for commands on behalf of one agent. Every field is required.
type Client struct {
	Folder string // as harness.RequestsVariable says
	Secret string // of the agent's seat
}

// Ask has the launcher of this agent run a command of orange outside of the sandbox, and waits for its answer.
func (c Client) Ask(ctx context.Context, r Call) (Reply, error) {
	r.Number = rand.Text()
	text, err := sign("request", c.Secret, r)
	if err != nil {
		return Reply{}, err
	}
	if len(text) > longestRequest {
		return Reply{}, fmt.Errorf("cannot ask from inside of the sandbox: the request has %d bytes, at most %d",
			len(text), longestRequest)
	}
	folder, err := proc.OpenRoot(c.Folder)
	if err != nil {
		return Reply{}, fmt.Errorf("cannot ask from inside of the sandbox: %w", err)
	}
	defer folder.Close()
	if err := write(folder, r.Number+requestEnd, text); err != nil {
		return Reply{}, fmt.Errorf("cannot ask from inside of the sandbox: %w; it has to let the agent write its "+
			"task's folder", err)
	}
	answer, err := c.await(ctx, folder, r.Number)
	if err != nil {
		return Reply{}, fmt.Errorf("cannot ask from inside of the sandbox: %w", err)
	}
	return answer, nil
}

// await looks for the answer. What someone else put there is none.
func (c Client) await(ctx context.Context, folder *os.Root, number string) (a Reply, err error) {
	began := time.Now()
	for {
		text, err := readOnce(folder, number+answerEnd, longestAnswer)
		if err == nil && check("answer", c.Secret, text, &a) == nil && a.Number == number {
			return a, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return a, err
		}
		if _, err := folder.Lstat(number + requestEnd); err == nil && time.Since(began) > pickedUp {
			_ = folder.Remove(number + requestEnd) // no one reads it
			return a, fmt.Errorf("the launcher of this agent did not take the request within %s", pickedUp)
		}
		pause := often
		if time.Since(began) > soon {
			pause = seldom
		}
		if proc.Pause(ctx, pause); ctx.Err() != nil {
			return a, ctx.Err()
		}
	}
}
