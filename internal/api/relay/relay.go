// Package relay carries the commands of a confined agent out of its sandbox.
//
// An agent whose program confines what it runs can reach neither the record nor the terminal server, but it can write
// its task's folder. Its command puts a call there as a file, and its launcher, which runs outside of the sandbox,
// runs the same command with the agent's own seat and puts the reply next to it. So the request goes through the one
// door, with no right that the agent does not have anyway.
//
// The folder is no secret, and other agents of the same account can write there. Each file therefore carries a MAC
// over everything in it, keyed with the secret of the agent's seat, which lies in no file. A file is read once, has at
// most 64 KB, and is never a link.
package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"orange/internal/api"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// The longest files.
const (
	longestRequest = 64 << 10
	longestAnswer  = 64 << 20
)

// How the names of files end.
const (
	requestEnd = ".request"
	answerEnd  = ".answer"
)

// Call is one command that an agent asks for.
type Call struct {
	Task   string   `json:"task"`
	Number string   `json:"number"` // names its files, and is used once
	Dir    string   `json:"dir"`    // the agent's working folder
	Args   []string `json:"args"`
	Stdin  []byte   `json:"stdin,omitempty"`
	// Conversation is the agent's, as its program tells its commands; empty where it does not.
	Conversation string `json:"conversation,omitempty"`
}

// Reply is what the command said and how it ended.
type Reply struct {
	Number string `json:"number"`
	Code   int    `json:"code"`
	Stdout []byte `json:"stdout,omitempty"`
	Stderr []byte `json:"stderr,omitempty"`
}

// Carried reports whether a command line is one that a launcher runs for its agent. The command has to come first: the
// word behind a flag may be its value, and the command another one. One that goes on until it is stopped is not
// carried: its answer never comes.
func Carried(args []string) bool {
	if len(args) < 2 || args[0] != "task" {
		return false
	}
	_, offered := api.Offers(api.Confined, args[1])
	return offered && !slices.ContainsFunc(args, func(word string) bool { return strings.HasPrefix(word, "--watch") })
}

// sign makes the text of a file: the MAC in the first line, and what it is about below it.
func sign(kind, secret string, value any) ([]byte, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write the %s: %w", kind, err)
	}
	return append([]byte(mac(kind, secret, body)+"\n"), body...), nil
}

func mac(kind, secret string, body []byte) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(kind + "\n"))
	m.Write(body)
	return hex.EncodeToString(m.Sum(nil))
}

// errUnsigned says that a file was not written by who has the seat's secret.
var errUnsigned = errors.New("it is not signed with the secret of this agent's seat")

// check reads the text of a file into value, if its MAC is right.
func check(kind, secret string, text []byte, value any) error {
	signed, body, _ := strings.Cut(string(text), "\n")
	if !hmac.Equal([]byte(signed), []byte(mac(kind, secret, []byte(body)))) {
		return errUnsigned
	}
	if err := json.Unmarshal([]byte(body), value); err != nil {
		return fmt.Errorf("read the %s: %w", kind, err)
	}
	return nil
}

// readOnce reads a file of the folder that is no link and not too long, and takes it away.
func readOnce(folder *os.Root, name string, longest int64) (text []byte, err error) {
	seen, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if removed := folder.Remove(name); removed != nil && !errors.Is(removed, os.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	switch {
	case !seen.Mode().IsRegular():
		return nil, fmt.Errorf("it is no regular file, but %s", seen.Mode().Type())
	case seen.Size() > longest:
		return nil, fmt.Errorf("it has %d bytes, at most %d", seen.Size(), longest)
	}
	file, err := proc.OpenIn(folder, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if now, err := file.Stat(); err != nil || !os.SameFile(seen, now) {
		return nil, errors.Join(errors.New("it is another file by now"), err)
	}
	return io.ReadAll(io.LimitReader(file, longest))
}

// write makes a file of the folder in one step. It writes into no file that is there already.
func write(folder *os.Root, name string, text []byte) error {
	file, err := proc.OpenIn(folder, name+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, task.PrivateFile)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return folder.Rename(name+".new", name)
}
