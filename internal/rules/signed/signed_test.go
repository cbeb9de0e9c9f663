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
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
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

func (p pair) sign(use Use, text string) string {
	made := appendWord(appendWord(nil, []byte(onDisk)), ed25519.Sign(p.private, Message(use, text)))
	return Armor(p.PublicKey, use, made)
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
	out := requestTitle + "\n"
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
	all := people(t, "# orange fleet home: people, version 3", "ada "+ada.Words(), "", "bob create=no "+bob.Words())
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
		`namespaces="orange-request,git"`: true, `create=no,namespaces="a,orange-request"`: true,
	} {
		all := people(t, "ada "+options+" "+ada.Words())
		if _, err := all.Check(asked, ada.sign(ForRequest, asked), noon); (err == nil) != good {
			t.Errorf("%s: %v", options, err)
		}
	}
	for _, line := range []string{"ada", "ada ssh-rsa AAAA", "ada cert-authority " + ada.Words(), "a*a " + ada.Words(),
		"ada,bob " + ada.Words(), "ada create=never " + ada.Words(), `ada valid-before="20300101" ` + ada.Words(),
		"ada ssh-ed25519 AAAA", "ada ssh-ed25519 ????", "ada create=no ssh-ed25519", "ada create=no",
		`ada valid-before="soon" ` + ada.Words()} {
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
		"nothing of a title": {requestTitle + "\n", ""}, "another title": {requestTitle, "orange request 2"},
		"no name": {"fleet 4:", "4:"}, "no end": {Digest("notes") + "\n", Digest("notes")},
		"a longer value":  {"fleet 4:", "fleet 5:"},
		"a shorter value": {"fleet 4:", "fleet 3:"}, "a sign": {"fleet 4:", "fleet +4:"},
		"another number of arguments": {"arguments 1:2", "arguments 1:3"}, "no number": {"epoch 1:2", "epoch 1:x"},
		"another order": {"host 2:h1\n", ""}, "a very great length": {"fleet 4:", "fleet 99999999999999999999:"},
		"a number with a zero": {"epoch 1:2", "epoch 2:02"}, "another end of a line": {"home\n", "homex"},
		"a file twice": {"file 8:", "file 8:notes.md\ntext 1:x\nfile 8:"},
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
	good := AskedCommand{Method: "move", Key: "k1", Stdin: "in", Args: []string{"--", id, "checking"},
		Files: map[string]string{"notes.md": "notes"}}
	if err := r.Fits(good); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*AskedCommand){
		"method": func(c *AskedCommand) { c.Method = "next" }, "key": func(c *AskedCommand) { c.Key = "k2" },
		"input":          func(c *AskedCommand) { c.Stdin = "" },
		"arguments":      func(c *AskedCommand) { c.Args = []string{"--", id, "done"} },
		"more arguments": func(c *AskedCommand) { c.Args = append([]string{"--override"}, c.Args...) },
		"role":           func(c *AskedCommand) { c.Args = append([]string{"--as=worker"}, c.Args...) },
		"file":           func(c *AskedCommand) { c.Files = map[string]string{"notes.md": "x"} },
		"no file":        func(c *AskedCommand) { c.Files = nil },
		"another name":   func(c *AskedCommand) { c.Files = map[string]string{"other.md": "notes"} },
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

// What a person signs has every field, and is read again as it was.
func TestText_isReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := text("ada", "k1", "--", id, "checking")
	r, err := Read(want)
	if err != nil || r.Text() != want {
		t.Errorf("%v: it is written as\n%s\nand was\n%s", err, r.Text(), want)
	}
	all := Statement{Fleet: "f", Host: "h", Epoch: 3, Task: "t", Method: "m", Args: []string{"a 1:b\n", ""}, Stdin: "s",
		As: "w", Person: "p", Key: "k", Expires: time.Unix(9, 0), Files: map[string]string{"x": "1", "a": "2"}}
	text := all.Text()
	if again, err := Read(text); err != nil || !reflect.DeepEqual(again, all) {
		t.Errorf("%+v, %v", again, err)
	}
	if !strings.HasSuffix(text, "file 1:a\ntext 1:2\nfile 1:x\ntext 1:1\n") {
		t.Errorf("files are not in the order of their names:\n%s", text)
	}
}

// A signature counts for one text, one use and one key, and only as it was made.
func TestSigner_refusesWhatIsDamaged(t *testing.T) {
	t.Parallel()
	ada := newPair(1)
	good := ada.sign(ForReply, "text")
	if key, err := Signer(ForReply, "text", good); err != nil || key != ada.PublicKey {
		t.Fatalf("%q, %v", key, err)
	}
	block, _ := pem.Decode([]byte(good))
	for i := range block.Bytes {
		bad := &pem.Block{Type: block.Type, Bytes: bytes.Clone(block.Bytes)}
		bad.Bytes[i] ^= 1
		if key, err := Signer(ForReply, "text", string(pem.EncodeToMemory(bad))); err == nil && key == ada.PublicKey {
			t.Errorf("with another bit in byte %d it is still a signature of the key", i)
		}
		short := &pem.Block{Type: block.Type, Bytes: block.Bytes[:i]}
		if _, err := Signer(ForReply, "text", string(pem.EncodeToMemory(short))); !errors.Is(err, ErrUnsigned) {
			t.Errorf("of the first %d bytes: %v", i, err)
		}
	}
	if lines := strings.Split(good, "\n"); len(lines[1]) != 70 {
		t.Errorf("a line of the signature has %d columns, ssh-keygen writes 70", len(lines[1]))
	}
	if key, err := Signer(ForRequest, "text", good); !errors.Is(err, ErrUnsigned) {
		t.Errorf("for another use it is of %q, %v", key, err)
	}
	longer := &pem.Block{Type: block.Type, Bytes: append(bytes.Clone(block.Bytes), 0)}
	for what, armor := range map[string]string{"none": "", "two": good + good, "more": good + "text",
		"a byte more": string(pem.EncodeToMemory(longer)), "something before it": "x\n" + good,
		"another form": strings.ReplaceAll(good, "SSH SIGNATURE", "PGP SIGNATURE")} {
		if _, err := Signer(ForReply, "text", armor); !errors.Is(err, ErrUnsigned) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What a key signs is laid down by ssh, byte by byte.
func TestMessage_isThatOfSSH(t *testing.T) {
	t.Parallel()
	sum := sha512.Sum512([]byte("text"))
	want := "SSHSIG\x00\x00\x00\x0corange-reply\x00\x00\x00\x00\x00\x00\x00\x06sha512\x00\x00\x00\x40" + string(sum[:])
	if got := string(Message("orange-reply", "text")); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestSigner_refusesASignatureOfAnotherForm(t *testing.T) {
	t.Parallel()
	ada := newPair(1)
	made := appendWord(appendWord(nil, []byte(onDisk)), ed25519.Sign(ada.private, Message(ForReply, "text")))
	rsa := PublicKey(appendWord(appendWord(nil, []byte("ssh-rsa")), []byte("x")))
	blob := binary.BigEndian.AppendUint32([]byte(magic), sigVersion)
	for _, part := range []string{string(ada.PublicKey), string(ForReply), "r", hashName, string(made)} {
		blob = appendWord(blob, []byte(part))
	}
	for what, armor := range map[string]string{
		"of a key that Orange does not know": Armor(rsa, ForReply, made),
		"with a byte more":                   Armor(ada.PublicKey, ForReply, append(made, 0)),
		"with something reserved":            string(pem.EncodeToMemory(&pem.Block{Type: armorType, Bytes: blob})),
	} {
		if key, err := Signer(ForReply, "text", armor); !errors.Is(err, ErrUnsigned) {
			t.Errorf("%s: %q, %v", what, key, err)
		}
	}
}

func TestReadKey_takesKeysOfTheTwoTypesOnly(t *testing.T) {
	t.Parallel()
	key := func(words ...string) string {
		var b []byte
		for _, word := range words {
			b = appendWord(b, []byte(word))
		}
		return words[0] + " " + base64.StdEncoding.EncodeToString(b)
	}
	public := strings.Repeat("k", ed25519.PublicKeySize)
	for _, line := range []string{key(onDisk, public), key(inHardware, public, "ssh:"), key(inHardware, public, "")} {
		if got, err := ReadKey(line); err != nil || got.Words() != line ||
			!strings.HasPrefix(got.Fingerprint(), "SHA256:") || len(got.Fingerprint()) != len("SHA256:")+43 {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	for _, line := range []string{"", onDisk, key(onDisk, public[1:]), key(onDisk, public, "more"),
		key(inHardware, public), key("ssh-other", public), key(onDisk),
		onDisk + " " + base64.StdEncoding.EncodeToString(append([]byte(newPair(1).PublicKey), 0))} {
		if got, err := ReadKey(line); err == nil {
			t.Errorf("%s is read as %q", line, got)
		}
	}
}

// A key in hardware signs with flags and a counter, for its application.
func TestSigner_knowsKeysInHardware(t *testing.T) {
	t.Parallel()
	inside := newPair(5)
	public, _ := inside.private.Public().(ed25519.PublicKey)
	of := func(application string) PublicKey {
		b := appendWord(appendWord(nil, []byte(inHardware)), public)
		return PublicKey(appendWord(b, []byte(application)))
	}
	made := func(application, use string, flags string) []byte {
		first, last := sha256.Sum256([]byte(application)), sha256.Sum256(Message(Use(use), "text"))
		b := append(append(first[:], flags...), last[:]...)
		return append(appendWord(appendWord(nil, []byte(inHardware)), ed25519.Sign(inside.private, b)), flags...)
	}
	const touched = "\x01\x00\x00\x00\x07"
	key := of("ssh:own")
	good := Armor(key, ForRequest, made("ssh:own", "orange-request", touched))
	if by, err := Signer(ForRequest, "text", good); err != nil || by != key {
		t.Fatalf("%q, %v", by, err)
	}
	counted := made("ssh:own", "orange-request", touched)
	counted[len(counted)-1]++
	for what, signature := range map[string][]byte{
		"of another application": made("web:", "orange-request", touched),
		"for another use":        made("ssh:own", "git", touched),
		"without a counter":      made("ssh:own", "orange-request", "\x01"),
		"with another counter":   counted,
		"of a key on a disk": appendWord(appendWord(nil, []byte(onDisk)),
			ed25519.Sign(inside.private, Message(ForRequest, "text"))),
	} {
		if _, err := Signer(ForRequest, "text", Armor(key, ForRequest, signature)); !errors.Is(err, ErrUnsigned) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if again, err := ReadKey(key.Words() + " a comment"); err != nil || again != key {
		t.Errorf("its words: %q, %v", again, err)
	}
	_, encoded, _ := strings.Cut(key.Words(), " ")
	if other, err := ReadKey(onDisk + " " + encoded); err == nil {
		t.Errorf("it is read as one on a disk, %q", other)
	}
}

// Attackers cannot (docs/proof.md): add a signer, at the registry, a custody or a host.
func TestOpen_takesNoListThatTheAuthorityDidNotSign(t *testing.T) {
	t.Parallel()
	ada, authority, eve := newPair(1), newPair(4), newPair(3)
	list := TitleOf("home", OfPeople, 3) + "\nada " + ada.Words() + "\n"
	good := authority.sign(ForList, list)
	l, err := Open(authority.PublicKey, "home", OfPeople, list, good)
	if err != nil || l.Version != 3 || len(l.Members) != 1 || l.Members[0].Name != "ada" ||
		l.Members[0].Key != ada.PublicKey || !l.Members[0].Create {
		t.Fatalf("%+v, %v", l, err)
	}
	if _, err := l.Find(ada.PublicKey, ForRequest, noon); err != nil {
		t.Error(err)
	}
	if _, err := l.Find(eve.PublicKey, ForRequest, noon); !errors.Is(err, ErrUnsigned) ||
		!strings.Contains(err.Error(), "version 3") {
		t.Errorf("one who is not in it: %v", err)
	}
	hosts := strings.Replace(list, "people", "hosts", 1)
	for what, tt := range map[string]struct{ fleet, list, signature string }{
		"a line more":            {"home", list + "eve " + eve.Words() + "\n", good},
		"signed by another key":  {"home", list, eve.sign(ForList, list)},
		"of another fleet":       {"away", list, good},
		"signed for another use": {"home", list, authority.sign(ForRequest, list)},
		"the list of hosts":      {"home", hosts, authority.sign(ForList, hosts)},
	} {
		l, err := Open(authority.PublicKey, tt.fleet, OfPeople, tt.list, tt.signature)
		if !errors.Is(err, ErrUnsigned) {
			t.Errorf("%s: %+v, %v", what, l, err)
		}
	}
}

func TestALineOfAListIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	one := Person{Name: "ada", Key: newPair(1).PublicKey, From: noon, Until: noon.Add(time.Hour)}
	all := people(t, one.Line(), Person{Name: "bob", Key: newPair(2).PublicKey, Create: true}.Line(),
		Person{Name: "eve", Key: newPair(3).PublicKey}.Line())
	if len(all) != 3 || !reflect.DeepEqual(all[0], one) || !all[1].Create || all[2].Create {
		t.Errorf("read %+v, wrote %q", all, one.Line())
	}
	if want := "bob " + newPair(2).Words(); all[1].Line() != want {
		t.Errorf("a line without options is %q, want %q", all[1].Line(), want)
	}
	list, err := ParseList(TitleOf("home", OfPeople, 1) + "\n" + all[1].Line() + "\n")
	if err != nil || list.Version != 1 || len(list.Members) != 1 {
		t.Errorf("the first list is %+v, %v", list, err)
	}
}

func TestAListThatCannotBeReadCompletelyIsRefused(t *testing.T) {
	t.Parallel()
	line := Person{Name: "ada", Key: newPair(1).PublicKey, Create: true}.Line()
	for what, text := range map[string]string{
		"no title":         line,
		"another title":    strings.TrimPrefix(TitleOf("home", OfPeople, 1), "# ") + "\n" + line,
		"no version":       "# orange fleet home: people\n" + line,
		"version 0":        TitleOf("home", OfPeople, 0) + "\n" + line,
		"a list of others": TitleOf("home", "robots", 1) + "\n" + line,
		"no key":           TitleOf("home", OfHosts, 4) + "\nada\n",
	} {
		if l, err := ParseList(text); err == nil {
			t.Errorf("%s: it reads %+v", what, l)
		}
	}
	if _, err := ParseList(TitleOf("home", OfHosts, 4) + "\n\nada\n"); err == nil ||
		!strings.Contains(err.Error(), "line 3 of") {
		t.Errorf("it names no line: %v", err)
	}
	if _, err := ParsePeople("\nada\n"); err == nil || !strings.Contains(err.Error(), "line 2 of") {
		t.Errorf("it names no line: %v", err)
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
	all := people(t, "ada "+ada.Words(), "bob "+bob.Words())
	human := task.Actor{Role: task.RoleHuman, Person: "ada", Key: "k1", Asked: "x"}
	asked := text("ada", "k1", "--", id, "checking")
	good := signedEvent(human, ada, asked)
	found := all.Verify(id, []history.Event{good, {Person: "Ada", Type: history.Updated},
		{Type: history.AgentSpawned}, {Type: history.AgentSpawned}})
	if len(found) != 1 || found[0].Level != record.LevelOK ||
		!strings.Contains(found[0].Found, "1 events are signed by people of the list, 1 are of people and have no") {
		t.Errorf("as signed: %+v", found)
	}
	elsewhere := signedEvent(human, ada, text("ada", "k1", "--", "checking"))
	if found := all.Verify(id, []history.Event{elsewhere}); len(found) != 1 || found[0].Level != record.LevelOK {
		t.Errorf("one whose arguments do not name the task again: %+v", found)
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
