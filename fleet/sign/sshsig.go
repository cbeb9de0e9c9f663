// Package sign proves who said what in a fleet: signatures of people under requests, and of hosts under answers,
// reports and snapshots.
//
// It owns the bytes that are signed, the form of a signature, which is that of ssh-keygen -Y, the lists of the keys of
// people and hosts, and what a request is refused for. It reads no file and no clock, and never sees where a private
// key is: a key comes in as what can sign.
package sign

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Use is what a signature is for: one that was made for a use is none for another.
type Use string

// The uses of signatures, which ssh-keygen knows as namespaces.
const (
	ForRequest  Use = "orange-request"
	ForReport   Use = "orange-report"
	ForReply    Use = "orange-reply"
	ForRoster   Use = "orange-roster"
	ForSnapshot Use = "git" // git signs the commits of snapshots by itself
)

// ErrUnsigned says that there is no signature, or none that belongs to the text.
var ErrUnsigned = errors.New("not signed")

const (
	magic       = "SSHSIG"
	armorType   = "SSH SIGNATURE"
	sigVersion  = 1
	armorColumn = 70
	hashName    = "sha512"
)

// signature is the form of what is between the lines of the armor, behind the magic word.
type signature struct {
	Version   uint32
	PublicKey []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// digested is the form of what the key signs, behind the magic word.
type digested struct {
	Namespace string
	Reserved  string
	Hash      string
	Sum       []byte
}

func toSign(use Use, text []byte) []byte {
	sum := sha512.Sum512(text)
	return append([]byte(magic), ssh.Marshal(digested{Namespace: string(use), Hash: hashName, Sum: sum[:]})...)
}

// Sign is the signature of a text for a use. The key must be an ed25519 key, which needs no random numbers.
func Sign(key ssh.Signer, use Use, text []byte) (string, error) {
	if kind := key.PublicKey().Type(); kind != ssh.KeyAlgoED25519 && kind != ssh.KeyAlgoSKED25519 {
		return "", fmt.Errorf("cannot sign with a key of the type %q: expected %q", kind, ssh.KeyAlgoED25519)
	}
	made, err := key.Sign(nil, toSign(use, text))
	if err != nil {
		return "", fmt.Errorf("sign the text: %w", err)
	}
	blob := append([]byte(magic), ssh.Marshal(signature{Version: sigVersion, PublicKey: key.PublicKey().Marshal(),
		Namespace: string(use), Hash: hashName, Signature: ssh.Marshal(made)})...)
	return armored(blob), nil
}

func armored(blob []byte) string {
	var b strings.Builder
	b.WriteString("-----BEGIN " + armorType + "-----\n")
	for text := base64.StdEncoding.EncodeToString(blob); text != ""; {
		n := min(armorColumn, len(text))
		b.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	b.WriteString("-----END " + armorType + "-----\n")
	return b.String()
}

// Signer is the key that signed a text for a use.
func Signer(use Use, text []byte, armor string) (ssh.PublicKey, error) {
	block, rest := pem.Decode([]byte(armor))
	begins := strings.HasPrefix(armor, "-----BEGIN "+armorType+"-----\n") // nothing is before it
	if !begins || block == nil || len(bytes.TrimSpace(rest)) > 0 {
		return nil, fmt.Errorf("%w: found no signature of the form %q", ErrUnsigned, armorType)
	}
	blob, is := bytes.CutPrefix(block.Bytes, []byte(magic))
	var s signature
	if !is || ssh.Unmarshal(blob, &s) != nil || s.Version != sigVersion {
		return nil, fmt.Errorf("%w: the signature is damaged", ErrUnsigned)
	}
	if s.Namespace != string(use) || s.Reserved != "" || s.Hash != hashName {
		return nil, fmt.Errorf("%w: the signature is for %q with the hash %q, expected %q with %q", ErrUnsigned,
			s.Namespace, s.Hash, use, hashName)
	}
	key, err := ssh.ParsePublicKey(s.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("%w: the key of the signature cannot be read: %w", ErrUnsigned, err)
	}
	if kind := key.Type(); kind != ssh.KeyAlgoED25519 && kind != ssh.KeyAlgoSKED25519 {
		return nil, fmt.Errorf("%w: the key is of the type %q, expected %q", ErrUnsigned, kind, ssh.KeyAlgoED25519)
	}
	var made ssh.Signature
	if err := ssh.Unmarshal(s.Signature, &made); err != nil {
		return nil, fmt.Errorf("%w: the signature is damaged: %w", ErrUnsigned, err)
	}
	if err := key.Verify(toSign(use, text), &made); err != nil {
		return nil, fmt.Errorf("%w: the text is not the one that was signed: %w", ErrUnsigned, err)
	}
	return key, nil
}
