package signed

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
)

const id = "4FzXk0aB3cD5eF7gH9iJ1"

var noon = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

// pair is a key of tests.
type pair struct {
	PublicKey
	private ed25519.PrivateKey
}

func newPair(seed byte) pair {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	public, _ := private.Public().(ed25519.PublicKey)
	return pair{PublicKey(appendWord(appendWord(nil, []byte(onDisk)), public)), private}
}

// words are the key as a list of signers has it.
func (p pair) words() string {
	return onDisk + " " + base64.StdEncoding.EncodeToString([]byte(p.PublicKey))
}

func (p pair) sign(use, text string) string {
	made := appendWord(appendWord(nil, []byte(onDisk)), ed25519.Sign(p.private, toSign(use, text)))
	b := append([]byte(magic), 0, 0, 0, sigVersion)
	for _, part := range [][]byte{[]byte(p.PublicKey), []byte(use), nil, []byte(hashName), made} {
		b = appendWord(b, part)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: armorType, Bytes: b}))
}

// text is that of a request of a person to move a task.
func text(person, key string, args ...string) string {
	fields := []string{"fleet", "home", "host", "h1", "epoch", "2", "task", id, "method", "move", "arguments",
		fmt.Sprint(len(args))}
	for _, arg := range args {
		fields = append(fields, "argument", arg)
	}
	fields = append(fields, "stdin", Digest("in"), "as", "", "person", person, "key", key, "expires", "1700000000",
		"file", "notes.md", "text", Digest("notes"))
	out := Title + "\n"
	for i := 0; i < len(fields); i += 2 {
		out += fmt.Sprintf("%s %d:%s\n", fields[i], len(fields[i+1]), fields[i+1])
	}
	return out
}

func people(t *testing.T, lines ...string) People {
	t.Helper()
	all, err := ParsePeople(strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCheck_isTheRequestThatItsPersonHasSigned(t *testing.T) {
	t.Parallel()
	ada, bob := newPair(1), newPair(2)
	all := people(t, "# orange fleet home: people, version 3", "ada "+ada.words(), "", "bob create=no "+bob.words())
	asked := text("ada", "k1", "--", id, "checking")
	r, err := all.Check(asked, ada.sign(ForRequest, asked), noon)
	if err != nil || r.Task != id || r.Person != "ada" || r.Key != "k1" || r.Epoch != 2 || r.Host != "h1" ||
		r.Fleet != "home" || !slices.Equal(r.Args, []string{"--", id, "checking"}) || r.Expires.Unix() != 1700000000 {
		t.Fatalf("%+v, %v", r, err)
	}
	eve := newPair(3)
	for what, tt := range map[string]struct{ text, signature string }{
		"no signature":         {asked, ""},
		"of a stranger":        {asked, eve.sign(ForRequest, asked)},
		"of another person":    {asked, bob.sign(ForRequest, asked)},
		"of another text":      {asked, ada.sign(ForRequest, asked+" ")},
		"for another use":      {asked, ada.sign("git", asked)},
		"behind something":     {asked, "x\n" + ada.sign(ForRequest, asked)},
		"and more":             {asked, ada.sign(ForRequest, asked) + "x"},
		"a text with more":     {asked + "more 1:x\n", ada.sign(ForRequest, asked+"more 1:x\n")},
		"another form of text": {"hello\n", ada.sign(ForRequest, "hello\n")},
	} {
		if r, err := all.Check(tt.text, tt.signature, noon); !errors.Is(err, ErrUnsigned) {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
}

func TestCheck_knowsWhenAndForWhatAKeyHolds(t *testing.T) {
	t.Parallel()
	ada := newPair(1)
	asked := text("ada", "k1", "--", id, "checking")
	for options, good := range map[string]bool{
		`valid-before="20260506Z"`: false, `valid-before="20260507Z"`: true, `valid-after="20260506120001Z"`: false,
		`valid-after="20260506120000Z"`: true, `namespaces="git"`: false, `namespaces="git,orange-request"`: true,
	} {
		all := people(t, "ada "+options+" "+ada.words())
		if _, err := all.Check(asked, ada.sign(ForRequest, asked), noon); (err == nil) != good {
			t.Errorf("%s: %v", options, err)
		}
	}
	for _, line := range []string{"ada", "ada ssh-rsa AAAA", "ada cert-authority " + ada.words(), "a*a " + ada.words(),
		"ada ssh-ed25519 AAAA", "ada create=no", `ada valid-before="soon" ` + ada.words()} {
		if all, err := ParsePeople(line); err == nil {
			t.Errorf("%s: it reads %+v", line, all)
		}
	}
}

// A text can be read in one way only: a length that is not the one of its value is none.
func TestRead_takesNothingThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	good := text("ada", "k1", "a", "b")
	if _, err := Read(good); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{
		"another title": {Title, "orange request 2"}, "a longer value": {"fleet 4:", "fleet 5:"},
		"a shorter value": {"fleet 4:", "fleet 3:"}, "a sign": {"fleet 4:", "fleet +4:"},
		"another number of arguments": {"arguments 1:2", "arguments 1:3"}, "no number": {"epoch 1:2", "epoch 1:x"},
		"another order": {"host 2:h1\n", ""}, "a very great length": {"fleet 4:", "fleet 99999999999999999999:"},
		"a number with a zero": {"epoch 1:2", "epoch 2:02"},
	} {
		changed := strings.Replace(good, change[0], change[1], 1)
		if r, err := Read(changed); !errors.Is(err, ErrUnsigned) {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
}

func TestFits_refusesAnotherCallThanTheOneThatWasSigned(t *testing.T) {
	t.Parallel()
	r, err := Read(text("ada", "k1", "--", id, "checking"))
	if err != nil {
		t.Fatal(err)
	}
	good := Asking{Method: "move", Key: "k1", Stdin: "in", Args: []string{"--", id, "checking"},
		Files: map[string]string{"notes.md": "notes"}}
	if err := r.Fits(good); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*Asking){
		"method": func(c *Asking) { c.Method = "next" }, "key": func(c *Asking) { c.Key = "k2" },
		"input": func(c *Asking) { c.Stdin = "" }, "arguments": func(c *Asking) { c.Args = []string{"--", id, "done"} },
		"more arguments": func(c *Asking) { c.Args = append([]string{"--override"}, c.Args...) },
		"role":           func(c *Asking) { c.Args = append([]string{"--as=worker"}, c.Args...) },
		"file":           func(c *Asking) { c.Files = map[string]string{"notes.md": "x"} },
		"no file":        func(c *Asking) { c.Files = nil },
		"another name":   func(c *Asking) { c.Files = map[string]string{"other.md": "notes"} },
	} {
		other := good
		change(&other)
		if err := r.Fits(other); !errors.Is(err, ErrUnsigned) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	r.As = "reviewer"
	good.Args = append([]string{"--as=reviewer"}, good.Args...)
	if err := r.Fits(good); err != nil {
		t.Errorf("in the name of a role: %v", err)
	}
}

func TestOpenPeople_takesNoListThatTheAuthorityDidNotSign(t *testing.T) {
	t.Parallel()
	ada, authority, eve := newPair(1), newPair(4), newPair(3)
	list := "# orange fleet home: people, version 3\nada " + ada.words() + "\n"
	good := authority.sign(forList, list)
	if all, err := OpenPeople(authority.words()+" a comment", "home", list, good); err != nil || len(all) != 1 ||
		all[0].Name != "ada" || all[0].Key != ada.PublicKey {
		t.Fatalf("%+v, %v", all, err)
	}
	hosts := strings.Replace(list, "people", "hosts", 1)
	for what, tt := range map[string]struct{ fleet, list, signature string }{
		"a line more":            {"home", list + "eve " + eve.words() + "\n", good},
		"signed by another key":  {"home", list, eve.sign(forList, list)},
		"of another fleet":       {"away", list, good},
		"signed for another use": {"home", list, authority.sign(ForRequest, list)},
		"the list of hosts":      {"home", hosts, authority.sign(forList, hosts)},
	} {
		if all, err := OpenPeople(authority.words(), tt.fleet, tt.list, tt.signature); !errors.Is(err, ErrUnsigned) {
			t.Errorf("%s: %+v, %v", what, all, err)
		}
	}
}

// signedEvent is an event that someone asked for, with what a person has signed.
func signedEvent(by task.Actor, p pair, asked string) history.Event {
	by.Signed, by.Signature = asked, p.sign(ForRequest, asked)
	return history.Sign(by, history.Event{Seq: 4, Time: noon, Type: history.StatusChanged})
}

func TestVerify_findsWhatNoPersonHasSignedForThisTask(t *testing.T) {
	t.Parallel()
	ada, bob := newPair(1), newPair(2)
	all := people(t, "ada "+ada.words(), "bob "+bob.words())
	human := task.Actor{Role: task.RoleHuman, Person: "ada", Key: "k1", Asked: "x"}
	asked := text("ada", "k1", "--", id, "checking")
	good := signedEvent(human, ada, asked)
	found := all.Verify(id, []history.Event{good, {Person: "Ada", Type: history.Updated},
		{Type: history.AgentSpawned}})
	if len(found) != 1 || found[0].Level != record.LevelOK ||
		!strings.Contains(found[0].Found, "1 events are signed by people of the list, 1 are of people and have no") {
		t.Errorf("as signed: %+v", found)
	}
	other := human
	other.Person = "bob"
	later := human
	later.Key = "k2"
	changed := signedEvent(human, ada, asked)
	changed.Data["signed"] = text("ada", "k1", "--", id, "done")
	for what, tt := range map[string]struct {
		id    string
		event history.Event
	}{
		"of another task":        {"another", good},
		"of another person":      {id, signedEvent(other, ada, asked)},
		"under another key":      {id, signedEvent(later, ada, asked)},
		"with a changed text":    {id, changed},
		"by one not in the list": {id, signedEvent(human, newPair(3), asked)},
	} {
		if found := all.Verify(tt.id, []history.Event{tt.event}); len(found) != 2 ||
			found[0].Level != record.LevelProblem || !strings.Contains(found[0].Found, "event 4") {
			t.Errorf("%s: %+v", what, found)
		}
	}
}
