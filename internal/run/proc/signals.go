package proc

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"orange/internal/rules/task"
)

// lastSecond is what this process gets to end what it has begun, once it was asked to end: with its own end that is
// less than a second.
const lastSecond = 800 * time.Millisecond

// askTime is how long a process gets to tell what it does, before it is ended.
const askTime = time.Second

// AskWhatItDoes has a process of this program tell what it does, if it still can, also one that was stopped.
func AskWhatItDoes(ctx context.Context, p task.Process) error {
	err := errors.Join(Signal(p, syscall.SIGQUIT), Signal(p, syscall.SIGCONT))
	if err == nil {
		Pause(ctx, askTime)
	}
	return err
}

// TellWhatThisDoes calls tell with the stacks of all goroutines of this process when another one asks, until stop is
// called.
func TellWhatThisDoes(tell func(stacks string)) (stop func()) {
	const most = 1 << 20
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGQUIT)
	go func() {
		for range asked {
			text := make([]byte, most)
			tell(string(text[:runtime.Stack(text, true)]))
		}
	}()
	return func() {
		signal.Stop(asked)
		close(asked)
	}
}

// UntilSignal is a context that ends with the first signal that asks this process to end. late is called where the
// process is still there 0.8 seconds after that; a second signal changes nothing, so that what this process started is
// ended in that time. stop gives the signals back.
func UntilSignal(late func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			cancel()
		}
		<-time.After(lastSecond)
		late()
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
	}
}
