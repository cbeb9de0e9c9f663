package core

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"

	"orange/fleet/codec"
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
	o := client.Options{HostPort: s.Server, Namespace: s.Namespace, Logger: quietLog{}}
	config, err := s.TLS.Config()
	if err != nil {
		return o, err
	}
	o.ConnectionOptions.TLS = config
	if s.CodecKeyFile == "" {
		return o, nil
	}
	keys, err := codec.Read(s.CodecKeyFile)
	if err != nil {
		return o, err
	}
	o.DataConverter = converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), keys)
	o.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: o.DataConverter, EncodeCommonAttributes: true})
	return o, nil
}

// quietLog leaves the words of the server's library out: what a person has to know comes as an error.
type quietLog struct{}

func (quietLog) Debug(string, ...any) {}
func (quietLog) Info(string, ...any)  {}
func (quietLog) Warn(string, ...any)  {}
func (quietLog) Error(string, ...any) {}

var _ log.Logger = quietLog{}
