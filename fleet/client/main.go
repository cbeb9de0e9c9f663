package client

import (
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/setup"
	"orange/internal/api/fleet"
	"orange/internal/app"
	"orange/internal/run/proc"
)

// awaitPause is how long the client waits between two looks of what a person waits for.
const awaitPause = 250 * time.Millisecond

// Run runs a command of "orange fleet", and answers its exit status.
func Run(home string, args []string) int {
	s, err := setup.Read(home)
	server := &Remote{Home: home, Setup: s}
	defer server.Close()
	return RunWith(home, s, server, err, args)
}

// RunWith is Run with another server. Unread is why there is no setup: the command says it in its own way.
func RunWith(home string, s setup.Setup, server Server, unread error, args []string) int {
	c := Of(home, s, server)
	c.Unread = unread
	call := proc.ThisCall()
	call.Args = append([]string{"fleet"}, args...)
	return app.Run(call, c)
}

// Of is the client of a home. The ssh-agent of the person signs, and no program that is started from here on gets it.
func Of(home string, s setup.Setup, server Server) *Client {
	socket := os.Getenv(AgentVariable)
	_ = os.Unsetenv(AgentVariable) // it fails for no such name
	return &Client{Hosts: fleet.Hosts{Home: home}, Setup: s, Server: server,
		Now:   time.Now,
		Key:   sync.OnceValues(func() (ssh.Signer, error) { return SigningKey(s.SigningKey, socket) }),
		Every: func() <-chan time.Time { return time.After(awaitPause) }}
}
