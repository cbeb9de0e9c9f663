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
	if key.kind() != kind {
		return "", fmt.Errorf("read a key: it says %q and is of the type %q", kind, key.kind())
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
	return k.kind() + " " + base64.StdEncoding.EncodeToString([]byte(k))
}

func (k PublicKey) kind() string { return string((&words{rest: []byte(k)}).next()) }

// Fingerprint names a key as ssh-keygen -l does.
func (k PublicKey) Fingerprint() string {
	sum := sha256.Sum256([]byte(k))
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// parts are the public key itself, and the application of one in hardware.
func (k PublicKey) parts() (public ed25519.PublicKey, application []byte, err error) {
	w := &words{rest: []byte(k)}
	kind, key := string(w.next()), w.next()
	if kind == inHardware {
		application = w.next()
	}
	if !w.ended() || kind != onDisk && kind != inHardware || len(key) != ed25519.PublicKeySize {
		return nil, nil, fmt.Errorf("cannot use a key of the type %.40q: expected %q or %q", kind, onDisk, inHardware)
	}
	return key, application, nil
}

// words takes texts with their lengths off the beginning of what ssh has on the wire.
type words struct {
	rest   []byte
	broken bool
}

func (w *words) next() []byte {
	const length = 4
	if w.broken || len(w.rest) < length ||
		uint64(binary.BigEndian.Uint32(w.rest)) > uint64(len(w.rest)-length) {
		w.broken = true
		return nil
	}
	end := length + int(binary.BigEndian.Uint32(w.rest))
	text := w.rest[length:end]
	w.rest = w.rest[end:]
	return text
}

func (w *words) ended() bool { return !w.broken && len(w.rest) == 0 }

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
	w := &words{rest: blob[4:]}
	key, found, reserved, hash, made := PublicKey(w.next()), w.next(), w.next(), w.next(), w.next()
	switch {
	case !w.ended():
		return "", fmt.Errorf("%w: the signature is damaged", ErrUnsigned)
	case Use(found) != use || len(reserved) > 0 || string(hash) != hashName:
		return "", fmt.Errorf("%w: the signature is for %.40q with the hash %.20q, expected %q with %q", ErrUnsigned,
			found, hash, use, hashName)
	}
	if err := key.verify(Message(use, text), made); err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnsigned, err)
	}
	return key, nil
}

// Armor is the form in which the signature of a key is handed on. What the key made of the message comes as ssh has
// it on the wire.
func Armor(key PublicKey, use Use, made []byte) string {
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
	w := &words{rest: made}
	kind, signature := string(w.next()), w.next()
	if w.broken || kind != k.kind() || len(signature) != ed25519.SignatureSize {
		return errors.New("the signature is damaged")
	}
	if kind == inHardware { // the device adds flags and a counter
		const more = 5
		if len(w.rest) != more {
			return errors.New("the signature is damaged")
		}
		of, digest := sha256.Sum256(application), sha256.Sum256(message)
		message = append(append(of[:], w.rest...), digest[:]...)
		w.rest = nil
	}
	if len(w.rest) > 0 || !ed25519.Verify(public, message, signature) {
		return errors.New("the text is not the one that was signed")
	}
	return nil
}
