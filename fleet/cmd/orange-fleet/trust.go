package main

import (
	"context"

	"go.temporal.io/sdk/client"

	"orange/fleet/core"
	"orange/fleet/setup"
	"orange/internal/rules/signed"
)

// people is the list of people of the fleet as this machine saw it last.
func people(home string, s setup.Setup) func() (signed.List, error) {
	return func() (signed.List, error) {
		t, err := setup.Trust(home, s.Namespace)
		if err != nil {
			return signed.List{}, err
		}
		lists, err := t.Lists(s.Namespace)
		return lists.People, err
	}
}

// learn brings the lists of keys of this machine up to date, and tells orange of the hosts whose snapshots count.
func learn(home string, s setup.Setup) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		t, err := core.Trust(ctx, c, home, s)
		if err != nil {
			return err
		}
		lists, err := t.Lists(s.Namespace)
		if err != nil {
			return err
		}
		return setup.WriteSigners(home, lists.Hosts)
	}
}
