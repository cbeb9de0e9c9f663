package client

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"orange/internal/rules/task"
)

// AgentVariable names the socket of the person's ssh-agent.
const AgentVariable = "SSH_AUTH_SOCK"

// SigningKey is the key at a path: the private one itself, or one that the ssh-agent at a socket has, if the path is
// that of a public key, or the private one has a passphrase.
func SigningKey(path, socket string) (ssh.Signer, error) {
	if path == "" {
		return nil, task.Notef(task.ErrUsage, "cannot sign a request: fleet.yml has no \"signing_key\": name the "+
			"path of an ssh key of the type ed25519")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the key that signs requests: %w", err)
	}
	if public, _, _, _, err := ssh.ParseAuthorizedKey(text); err == nil {
		return fromAgent(path, socket, public)
	}
	key, err := ssh.ParsePrivateKey(text)
	if locked, is := errors.AsType[*ssh.PassphraseMissingError](err); is {
		if locked.PublicKey == nil {
			return nil, task.Notef(task.ErrUsage, "cannot sign with %q: it has a passphrase: add it to your "+
				"ssh-agent with ssh-add, and name its .pub file as \"signing_key\"", path)
		}
		return fromAgent(path, socket, locked.PublicKey)
	}
	if err != nil {
		return nil, task.Notef(task.ErrUsage, "cannot sign with %q: found no ssh key in it: %v", path, err)
	}
	return key, nil
}

// fromAgent is the key that an ssh-agent has for a public one.
func fromAgent(path, socket string, public ssh.PublicKey) (ssh.Signer, error) {
	hint := "add it with: ssh-add " + strings.TrimSuffix(path, ".pub")
	if socket == "" {
		return nil, task.Notef(task.ErrUsage, "cannot sign with %q: no ssh-agent runs here (%s is empty): start one, "+
			"and %s", path, AgentVariable, hint)
	}
	connection, err := net.Dial("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("cannot sign with %q: reach your ssh-agent: %w", path, err)
	}
	held, err := agent.NewClient(connection).Signers() // the connection lives as long as the program
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot sign with %q: ask your ssh-agent for its keys: %w", path, err),
			connection.Close())
	}
	for _, key := range held {
		if bytes.Equal(key.PublicKey().Marshal(), public.Marshal()) {
			return key, nil
		}
	}
	return nil, errors.Join(task.Notef(task.ErrUsage, "cannot sign with %q: your ssh-agent has no such key, only %d "+
		"others: %s", path, len(held), hint), connection.Close())
}
