package core

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"orange/fleet/setup"
)

// Dial connects to the server of a fleet, as fleet.yml says.
func Dial(ctx context.Context, s setup.Setup) (client.Client, error) {
	options, err := Options(s)
	if err != nil {
		return nil, err
	}
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the server of the fleet %q at %q: %w", s.Namespace, s.Server, err)
	}
	return c, nil
}

// Options are how the server of a fleet is reached, as fleet.yml says.
func Options(s setup.Setup) (client.Options, error) {
	config, err := s.TLS.Config()
	return client.Options{HostPort: s.Server, Namespace: s.Namespace, Logger: quiet{},
		ConnectionOptions: client.ConnectionOptions{TLS: config}}, err
}

// quiet leaves the words of the server's library out: what a person has to know comes as an error.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

var _ log.Logger = quiet{}
