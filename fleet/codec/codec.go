// Package codec encrypts what the programs of a fleet say through its server, with a key that the server does not have.
//
// It owns the form of what is encrypted, and the key file. What a server searches by it does not encrypt: the ids of
// tasks, and the search attributes.
package codec

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	common "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"orange/internal/rules/task"
)

const (
	sizeOfKey    = 32 // bytes, for AES-256
	encodingKey  = "encoding"
	encodingName = "binary/orange-aes-gcm"
	nameKey      = "orange-key"
	sizeOfName   = 8 // bytes of the digest of a key, which names it
)

// Codec encrypts with the first key, and reads with every one.
type Codec struct{ keys []key }

type key struct {
	name string
	seal cipher.AEAD
}

// Read reads a key file: a key a line, as base64, the one that encrypts first. Lines that begin with # are comments.
func Read(path string) (*Codec, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the key file of the fleet: %w", err)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		return nil, task.Notef(task.ErrUsage, "cannot use the key file %q: others can read it (mode %04o): \"chmod "+
			"600\" it", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key file of the fleet: %w", err)
	}
	c, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("read the key file %q: %w", path, err)
	}
	return c, nil
}

// Parse reads the text of a key file.
func Parse(text string) (*Codec, error) {
	c := &Codec{}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(raw) != sizeOfKey {
			return nil, task.Notef(task.ErrUsage, "line %d is no key: expected %d random bytes as base64; \"head -c "+
				"%d /dev/urandom | base64\" makes one", i+1, sizeOfKey, sizeOfKey)
		}
		block, err := aes.NewCipher(raw)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		seal, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		c.keys = append(c.keys, key{Name(raw), seal})
	}
	if len(c.keys) == 0 {
		return nil, task.Notef(task.ErrUsage, "found no key; \"head -c %d /dev/urandom | base64\" makes one", sizeOfKey)
	}
	return c, nil
}

// Name names a key without giving anything of it away.
func Name(raw []byte) string {
	sum := sha256.Sum256(append([]byte("orange fleet key "), raw...))
	return hex.EncodeToString(sum[:sizeOfName])
}

var _ converter.PayloadCodec = (*Codec)(nil)

// Encode encrypts.
func (c *Codec) Encode(payloads []*common.Payload) ([]*common.Payload, error) {
	out := make([]*common.Payload, len(payloads))
	for i, p := range payloads {
		text, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encrypt what the fleet says: %w", err)
		}
		k := c.keys[0]
		out[i] = &common.Payload{Metadata: map[string][]byte{encodingKey: []byte(encodingName),
			nameKey: []byte(k.name)},
			Data: k.seal.Seal(nil, nil, text, []byte(k.name))}
	}
	return out, nil
}

// ErrKey says that no key here reads what was encrypted.
var ErrKey = errors.New("encrypted with another key")

// Decode reads what was encrypted with any of the keys. What was not encrypted is read as it is: it was said before the
// fleet had a key, and signatures show what counts.
func (c *Codec) Decode(payloads []*common.Payload) ([]*common.Payload, error) {
	out := make([]*common.Payload, len(payloads))
	for i, p := range payloads {
		if string(p.GetMetadata()[encodingKey]) != encodingName {
			out[i] = p
			continue
		}
		read, err := c.open(p)
		if err != nil {
			return nil, err
		}
		out[i] = read
	}
	return out, nil
}

func (c *Codec) open(p *common.Payload) (*common.Payload, error) {
	name := string(p.GetMetadata()[nameKey])
	for _, k := range c.keys {
		if k.name != name {
			continue
		}
		text, err := k.seal.Open(nil, nil, p.GetData(), []byte(name))
		if err != nil {
			return nil, fmt.Errorf("read what the fleet says: it was changed on its way: %w", err)
		}
		read := &common.Payload{}
		if err := proto.Unmarshal(text, read); err != nil {
			return nil, fmt.Errorf("read what the fleet says: %w", err)
		}
		return read, nil
	}
	return nil, task.Notef(ErrKey, "cannot read what the fleet says: it is encrypted with the key %q, and the key "+
		"file here does not have it: copy the key file of a machine that has it", name)
}
