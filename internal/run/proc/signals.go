package proc

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"orange/internal/rules/task"
)

// lastSecond is what this process gets to end what it has begun, once it was asked to end: with its own end that is
// less than a second.
const lastSecond = 800 * time.Millisecond

// yieldSignal asks a process to give up what it does only as long as no other one wants to.
const yieldSignal = syscall.SIGUSR1

// UntilAskedToYield is a context that ends with ctx, or when AskToYield asks this process.
func UntilAskedToYield(ctx context.Context) (of context.Context, stop func()) {
	return signal.NotifyContext(ctx, yieldSignal)
}

// AskToYield asks a process to yield. One that has ended is no error.
func AskToYield(p task.Process) error {
	if err := Signal(p, yieldSignal); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
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
