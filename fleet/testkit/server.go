package testkit

import (
	"os"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"

	"orange/fleet/core"
)

// Silence is a log that no one reads.
type Silence struct{}

// Debug says nothing.
func (Silence) Debug(string, ...any) {}

// Info says nothing.
func (Silence) Info(string, ...any) {}

// Warn says nothing.
func (Silence) Warn(string, ...any) {}

// Error says nothing.
func (Silence) Error(string, ...any) {}

// Server is the address of a server of its own, of the program that ORANGE_FLEET_TEMPORAL names. Without one the test
// is skipped.
func Server(t testing.TB) string {
	t.Helper()
	program := os.Getenv("ORANGE_FLEET_TEMPORAL")
	if program == "" {
		t.Skip("this needs a server: set ORANGE_FLEET_TEMPORAL to the path of the program \"temporal\"")
	}
	dev, err := testsuite.StartDevServer(t.Context(), testsuite.DevServerOptions{ExistingPath: program,
		ClientOptions: &client.Options{Logger: Silence{}}, LogLevel: "error"})
	Must(t, err)
	t.Cleanup(func() {
		if err := dev.Stop(); err != nil {
			t.Log(err)
		}
	})
	return dev.FrontendHostPort()
}

// Dial is a connection of the fleet of tests to a server at an address.
func Dial(t testing.TB, address string) client.Client {
	t.Helper()
	c, err := client.Dial(client.Options{HostPort: address, Namespace: Fleet, Logger: Silence{}})
	Must(t, err)
	t.Cleanup(c.Close)
	return c
}

// Connection is one to a server of its own, which has what a fleet needs.
func Connection(t testing.TB) client.Client {
	t.Helper()
	options := client.Options{HostPort: Server(t), Namespace: Fleet, Logger: Silence{}}
	for range 2 { // a second time changes nothing
		Must(t, core.Init(t.Context(), options))
	}
	return Dial(t, options.HostPort)
}
