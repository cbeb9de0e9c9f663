// Package signed owns the formats of what is signed in a fleet: requests of people, what hosts say, and the lists of
// the keys that count.
//
// It owns the form of a signature, which is that of ssh-keygen -Y, the text of a request, the form of all such texts,
// the list of people or hosts, and how a request is compared with what is asked for. It makes no signature, reads no
// file and no clock. It needs no library for ssh: the only keys that count are of the type ed25519, on a disk or in
// hardware.
package signed

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// ErrUnsigned says that there is no signature, or none that counts.
var ErrUnsigned = errors.New("not signed")

// Use is what a signature is for: one that was made for a use is none for another.
type Use string

// The uses of signatures, which ssh-keygen knows as namespaces.
const (
	ForRequest  Use = "orange-request"
	ForReport   Use = "orange-report"
	ForReply    Use = "orange-reply"
	ForList     Use = "orange-roster"
	ForSnapshot Use = "git" // git signs the commits of snapshots by itself
)

const (
	armorType   = "SSH SIGNATURE"
	armorColumn = 70
	magic       = "SSHSIG"
	sigVersion  = 1
	hashName    = "sha512"

	onDisk     = "ssh-ed25519"
	inHardware = "sk-ssh-ed25519@openssh.com"
)

// PublicKey is a public key, as ssh has it on the wire.
type PublicKey string

// ParseKey reads a key from the two words of an authorized_keys file.
func ParseKey(kind, encoded string) (PublicKey, error) {
	blob, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("read a key: %w", err)
	}
	key := PublicKey(blob)
	if _, _, err := key.parts(); err != nil {
		return "", err
	}
	if found, _, _ := word(blob); string(found) != kind {
		return "", fmt.Errorf("read a key: it says %q and is of the type %q", kind, found)
	}
	return key, nil
}

// ReadKey reads a key from a line of an authorized_keys file without options.
func ReadKey(line string) (PublicKey, error) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return "", fmt.Errorf("found no key: expected the two words of an authorized_keys file")
	}
	return ParseKey(words[0], words[1])
}

// Words are the key as an authorized_keys file has it.
func (k PublicKey) Words() string {
	kind, _, _ := word([]byte(k))
	return string(kind) + " " + base64.StdEncoding.EncodeToString([]byte(k))
}

// Fingerprint names a key as ssh-keygen -l does.
func (k PublicKey) Fingerprint() string {
	sum := sha256.Sum256([]byte(k))
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// parts are the public key itself, and the application of one in hardware.
func (k PublicKey) parts() (public ed25519.PublicKey, application []byte, err error) {
	kind, rest, whole := word([]byte(k))
	var key []byte
	if whole {
		key, rest, whole = word(rest)
	}
	if whole && string(kind) == inHardware {
		application, rest, whole = word(rest)
	}
	known := string(kind) == onDisk || string(kind) == inHardware
	if !whole || !known || len(key) != ed25519.PublicKeySize || len(rest) > 0 {
		return nil, nil, fmt.Errorf("cannot use a key of the type %.40q: expected %q or %q", kind, onDisk, inHardware)
	}
	return key, application, nil
}

// word takes a text with its length off the beginning.
func word(b []byte) (text, rest []byte, whole bool) {
	const length = 4
	if len(b) < length {
		return nil, nil, false
	}
	n := uint64(binary.BigEndian.Uint32(b))
	if n > uint64(len(b)-length) {
		return nil, nil, false
	}
	return b[length : length+n], b[length+n:], true
}

func appendWord(b, text []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}

// Signer is the key that signed a text for a use. The error is an ErrUnsigned where there is none.
func Signer(use Use, text, armor string) (PublicKey, error) {
	block, rest := pem.Decode([]byte(armor))
	begins := strings.HasPrefix(armor, "-----BEGIN "+armorType+"-----\n")
	if !begins || block == nil || block.Type != armorType || len(bytes.TrimSpace(rest)) > 0 {
		return "", fmt.Errorf("%w: found no signature of the form %q", ErrUnsigned, armorType)
	}
	blob, is := bytes.CutPrefix(block.Bytes, []byte(magic))
	if !is || len(blob) < 4 || binary.BigEndian.Uint32(blob) != sigVersion {
		return "", fmt.Errorf("%w: the signature is damaged", ErrUnsigned)
	}
	var words [5][]byte // key, use, reserved, hash, signature
	blob, whole := blob[4:], true
	for i := range words {
		if whole {
			words[i], blob, whole = word(blob)
		}
	}
	if !whole || len(blob) > 0 {
		return "", fmt.Errorf("%w: the signature is damaged", ErrUnsigned)
	}
	if Use(words[1]) != use || len(words[2]) > 0 || string(words[3]) != hashName {
		return "", fmt.Errorf("%w: the signature is for %.40q with the hash %.20q, expected %q with %q", ErrUnsigned,
			words[1], words[3], use, hashName)
	}
	key := PublicKey(words[0])
	if err := key.verify(Message(use, text), words[4]); err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnsigned, err)
	}
	return key, nil
}

// Armored is the form in which the signature of a key is handed on. What the key made of the message comes as ssh has
// it on the wire.
func Armored(key PublicKey, use Use, made []byte) string {
	blob := binary.BigEndian.AppendUint32([]byte(magic), sigVersion)
	for _, part := range [][]byte{[]byte(key), []byte(use), nil, []byte(hashName), made} {
		blob = appendWord(blob, part)
	}
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

// Message is what a key signs of a text.
func Message(use Use, text string) []byte {
	sum := sha512.Sum512([]byte(text))
	b := appendWord([]byte(magic), []byte(use))
	b = appendWord(b, nil)
	b = appendWord(b, []byte(hashName))
	return appendWord(b, sum[:])
}

// verify refuses a signature that the key did not make.
func (k PublicKey) verify(message, made []byte) error {
	public, application, err := k.parts()
	if err != nil {
		return err
	}
	kind, rest, whole := word(made)
	var signature []byte
	if whole {
		signature, rest, whole = word(rest)
	}
	if own, _, _ := word([]byte(k)); !whole || !bytes.Equal(kind, own) || len(signature) != ed25519.SignatureSize {
		return errors.New("the signature is damaged")
	}
	if string(kind) == inHardware { // the device adds flags and a counter
		const more = 5
		if len(rest) != more {
			return errors.New("the signature is damaged")
		}
		of, digest := sha256.Sum256(application), sha256.Sum256(message)
		message = append(append(of[:], rest...), digest[:]...)
		rest = nil
	}
	if len(rest) > 0 || !ed25519.Verify(public, message, signature) {
		return errors.New("the text is not the one that was signed")
	}
	return nil
}
