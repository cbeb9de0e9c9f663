// Package sign proves who said what in a fleet: signatures of people under requests, and of hosts under answers and
// reports.
//
// It owns which fields of a message are signed, how a key signs them, and what a message is refused for. The form of
// signatures, of such texts and of the lists of keys is package signed's. It reads no file and no clock, and never sees
// where a private key is: a key comes in as what can sign.
package sign

import (
	"fmt"

	"golang.org/x/crypto/ssh"

	"orange/internal/rules/signed"
)

// KeyOf is a public key as lists and signatures have it.
func KeyOf(key ssh.PublicKey) signed.PublicKey { return signed.PublicKey(key.Marshal()) }

// Sign is the signature of a text for a use. The key must be an ed25519 key, which needs no random numbers.
func Sign(key ssh.Signer, use signed.Use, text string) (string, error) {
	if kind := key.PublicKey().Type(); kind != ssh.KeyAlgoED25519 && kind != ssh.KeyAlgoSKED25519 {
		return "", fmt.Errorf("cannot sign with a key of the type %q: expected %q", kind, ssh.KeyAlgoED25519)
	}
	made, err := key.Sign(nil, signed.Message(use, text))
	if err != nil {
		return "", fmt.Errorf("sign the text: %w", err)
	}
	return signed.Armored(KeyOf(key.PublicKey()), use, ssh.Marshal(made)), nil
}
