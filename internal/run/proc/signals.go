package proc

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// lastSecond is what this process gets to end what it has begun, once it was asked to end: with its own end that is
// less than a second.
const lastSecond = 800 * time.Millisecond

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
