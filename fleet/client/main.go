package client

import (
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/setup"
	"orange/internal/app"
	"orange/internal/fleet"
	"orange/internal/mirror"
)

// between is how long the client waits between two looks of what a person waits for.
const between = 250 * time.Millisecond

// Run runs a command of "orange fleet", and answers its exit status.
func Run(home string, args []string) int {
	s, err := setup.Read(home)
	server := &Remote{Home: home, Setup: s}
	defer server.Close()
	return RunWith(home, s, server, err, args)
}

// RunWith is Run with another server. Unread is why there is no setup: the command says it in its own way.
func RunWith(home string, s setup.Setup, server Server, unread error, args []string) int {
	return app.Run(append([]string{"fleet"}, args...), New(home, s, server, unread))
}

// New is the client of a home.
func New(home string, s setup.Setup, server Server, unread error) *Client {
	socket := os.Getenv(AgentVariable)
	_ = os.Unsetenv(AgentVariable) // no program that is started here gets it; it fails for no such name
	return &Client{Hosts: fleet.Hosts{Home: home, Locks: mirror.Files{Home: home}}, Setup: s, Server: server,
		Unread: unread, Now: time.Now,
		Key:   sync.OnceValues(func() (ssh.Signer, error) { return SigningKey(s.SigningKey, socket) }),
		Every: func() <-chan time.Time { return time.After(between) }}
}
