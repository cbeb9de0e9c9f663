package sign

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Snapshot is what the commit of a snapshot says, as its host signed it with git.
type Snapshot struct {
	Host    string
	Epoch   int
	Event   int
	Tree    string
	Parents []string
}

const signatureField = "gpgsig "

// CheckSnapshot reads the commit of a snapshot, as git stores it, and refuses one that no host of the fleet has signed.
// The signature covers files, parents and message.
func CheckSnapshot(hosts Roster, commit []byte, now time.Time) (Snapshot, error) {
	unsigned, armor := split(commit)
	key, err := Signer(ForSnapshot, unsigned, armor)
	if err != nil {
		return Snapshot{}, refuse(Unsigned, "cannot use a snapshot: it is %v", err)
	}
	who, err := hosts.find(key, ForSnapshot, now)
	if err != nil {
		return Snapshot{}, refuse(Stranger, "cannot use a snapshot: %v", err)
	}
	s := Snapshot{Host: who.Name}
	head, message, _ := strings.Cut(string(unsigned), "\n\n")
	for _, line := range strings.Split(head, "\n") {
		switch name, value, _ := strings.Cut(line, " "); name {
		case "tree":
			s.Tree = value
		case "parent":
			s.Parents = append(s.Parents, value)
		}
	}
	if n, err := fmt.Sscanf(message, "epoch %d, event %d\n", &s.Epoch, &s.Event); n != 2 || err != nil {
		return s, refuse(Elsewhere, "cannot use a commit of the host %q as a snapshot: its message begins with %.60q, "+
			"expected \"epoch N, event M\"", s.Host, message)
	}
	return s, nil
}

// split takes the signature out of a commit.
func split(commit []byte) (unsigned []byte, armor string) {
	var rest, signature bytes.Buffer
	inHead, within := true, false
	for _, line := range bytes.SplitAfter(commit, []byte("\n")) {
		text, begins := bytes.CutPrefix(line, []byte(signatureField))
		switch more, goes := bytes.CutPrefix(line, []byte(" ")); {
		case inHead && begins:
			signature.Write(text)
			within = true
			continue
		case within && goes:
			signature.Write(more)
			continue
		}
		within, inHead = false, inHead && len(bytes.TrimSpace(line)) > 0
		rest.Write(line)
	}
	return rest.Bytes(), signature.String()
}
