package harness

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Note is what the launcher of an agent writes at its end.
type Note struct {
	Status    int    `json:"status"`
	Signal    int    `json:"signal"`
	Unstarted string `json:"unstarted,omitempty"` // why the program could not be started at all
	HungUp    bool   `json:"hung_up,omitempty"`   // someone asked it to end, as a terminal does that goes away
	At        string `json:"at"`
	// the public key of the seat's secret, and the signature of all the rest: only who has the secret can write it
	Key  []byte `json:"key,omitempty"`
	Seal []byte `json:"seal,omitempty"`
}

// SeatOf is the form in which Orange keeps a seat's secret: a digest of the public key that belongs to it. It tells
// nothing of the secret, and is enough to know both the agent that shows the secret and the note that it sealed.
func SeatOf(secret string) string { return digest(keyOf(secret).Public().(ed25519.PublicKey)) }

// IsSeat reports whether a text has that form.
func IsSeat(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == sha256.Size
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func keyOf(secret string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("how an agent of Orange ended\x00" + secret))
	return ed25519.NewKeyFromSeed(seed[:])
}

// Sealed is the note with the seal of who has a seat's secret.
func (n Note) Sealed(secret string) Note {
	key := keyOf(secret)
	n.Key = key.Public().(ed25519.PublicKey)
	n.Seal = ed25519.Sign(key, n.sealText())
	return n
}

// Of reports whether the launcher of the agent that has a seat wrote the note, and no one changed it since.
func (n Note) Of(seat string) bool {
	return len(n.Key) == ed25519.PublicKeySize && seat == digest(n.Key) &&
		ed25519.Verify(n.Key, n.sealText(), n.Seal)
}

// sealText is what the seal is of: all of the note but the seal itself.
func (n Note) sealText() []byte {
	n.Seal = nil
	text, _ := json.Marshal(n) // strings, numbers and bytes can always be written
	return text
}
