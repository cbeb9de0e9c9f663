package sign_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/rules/signed"
)

var now = time.Unix(1_700_000_000, 0).UTC()

// key is the same key for the same name.
func key(t *testing.T, name string) ssh.Signer {
	t.Helper()
	seed := bytes.Repeat([]byte(name+"\n"), ed25519.SeedSize)[:ed25519.SeedSize]
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed))
	testkit.Must(t, err)
	return s
}

func member(t *testing.T, name string) signed.Person {
	t.Helper()
	return signed.Person{Name: name, Key: sign.KeyOf(key(t, name).PublicKey()), Create: true}
}

// list is the text of a list.
func list(of string, members ...signed.Person) string {
	text := signed.TitleOf("home", of, 4) + "\n\n# a comment\n"
	for _, m := range members {
		text += m.Line() + "\n"
	}
	return text
}

func members(t *testing.T, of string, members ...signed.Person) signed.List {
	t.Helper()
	made, err := sign.List(key(t, "authority"), list(of, members...))
	testkit.Must(t, err)
	r, err := made.Open(sign.KeyOf(key(t, "authority").PublicKey()), "home", of)
	testkit.Must(t, err)
	return r
}

func people(t *testing.T) signed.List {
	t.Helper()
	limited, old := member(t, "bob"), member(t, "eve")
	limited.Create, old.Until = false, now.Add(-time.Hour)
	return members(t, signed.OfPeople, member(t, "ada"), limited, old)
}

func hosts(t *testing.T) signed.List {
	t.Helper()
	return members(t, signed.OfHosts, member(t, "h1"), member(t, "h2"))
}

func request() wire.Request {
	return wire.Request{Fleet: "home", Host: "h1", Epoch: 3, Task: "abc", Method: "next", Args: []string{"a", "b"},
		Stdin: "text", As: "worker", Person: "ada", Key: "k1", Expires: now.Add(5 * time.Minute).Unix()}
}

func here() sign.Here {
	return sign.Here{Fleet: "home", Host: "h1", Task: "abc", Epoch: 3, Now: now}
}

func askedBy(t *testing.T, by string, r wire.Request) wire.Ask {
	t.Helper()
	ask, err := sign.Ask(key(t, by), r)
	testkit.Must(t, err)
	return ask
}

// wants compares the code of a refusal; empty for none.
func wants(t *testing.T, what string, err error, code wire.Code) {
	t.Helper()
	var r *wire.Refusal
	switch is := errors.As(err, &r); {
	case code == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case code != "" && (!is || r.Code != code):
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestCheckRequest_takesWhatItsPersonSigned(t *testing.T) {
	t.Parallel()
	ask := askedBy(t, "ada", request())
	wants(t, "good", sign.CheckRequest(people(t), ask, here(), ""), "")
	wants(t, "repeated", sign.CheckRequest(people(t), ask, here(), sign.Digest(ask.Request)), "")
	later := request()
	later.Expires, later.Host, later.Epoch = later.Expires+60, "h2", 4
	if sign.Digest(later) != sign.Digest(ask.Request) {
		t.Error("a repeat is another request because it is made later, or of the host that the task is at now")
	}
	waited := here()
	waited.Waited, waited.Now = true, now.Add(24*time.Hour)
	wants(t, "waited", sign.CheckRequest(people(t), ask, waited, ""), "")
}

// Each field of a request is signed: with another value the signature is none.
// Attackers cannot (docs/proof.md): have an unsigned request done.
func TestCheckRequest_refusesAnotherValueOfEveryField(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*wire.Request){
		"fleet": func(r *wire.Request) { r.Fleet = "away" }, "host": func(r *wire.Request) { r.Host = "h2" },
		"epoch": func(r *wire.Request) { r.Epoch++ }, "task": func(r *wire.Request) { r.Task = "abd" },
		"method": func(r *wire.Request) { r.Method = "merge" }, "argument": func(r *wire.Request) { r.Args[1] = "c" },
		"arguments joined": func(r *wire.Request) { r.Args = []string{"ab"} },
		"one more":         func(r *wire.Request) { r.Args = append(r.Args, "") },
		"stdin":            func(r *wire.Request) { r.Stdin += "\n" }, "as": func(r *wire.Request) { r.As = "" },
		"person": func(r *wire.Request) { r.Person = "bob" }, "key": func(r *wire.Request) { r.Key = "k2" },
		"expiry": func(r *wire.Request) { r.Expires++ },
	} {
		ask := askedBy(t, "ada", request())
		ask.Request.Args = []string{"a", "b"}
		change(&ask.Request)
		at := here() // as the changed request would have it
		at.Fleet, at.Host, at.Epoch, at.Task = ask.Request.Fleet, ask.Request.Host, ask.Request.Epoch, ask.Request.Task
		wants(t, what, sign.CheckRequest(people(t), ask, at, ""), wire.CodeUnsigned)
	}
}

func TestCheckRequest_refusesWhatIsNotMeantForHereAndNow(t *testing.T) {
	t.Parallel()
	for what, one := range map[string]struct {
		change func(*wire.Request, *sign.Here)
		code   wire.Code
	}{
		"another fleet":    {func(_ *wire.Request, h *sign.Here) { h.Fleet = "away" }, wire.CodeElsewhere},
		"another host":     {func(_ *wire.Request, h *sign.Here) { h.Host = "h2" }, wire.CodeElsewhere},
		"another task":     {func(_ *wire.Request, h *sign.Here) { h.Task = "abd" }, wire.CodeElsewhere},
		"an earlier epoch": {func(_ *wire.Request, h *sign.Here) { h.Epoch++ }, wire.CodeStaleEpoch},
		"a later epoch":    {func(_ *wire.Request, h *sign.Here) { h.Epoch-- }, wire.CodeStaleEpoch},
		"expired": {func(_ *wire.Request, h *sign.Here) { h.Now = now.Add(5 * time.Minute) },
			wire.CodeExpired},
		"holds for too long": {func(r *wire.Request, _ *sign.Here) { r.Expires += 600 }, wire.CodeExpired},
		"may not create": {func(r *wire.Request, _ *sign.Here) {
			r.Method, r.Person = "create", "bob"
		}, wire.CodeCreateDenied},
		"of another person": {func(r *wire.Request, _ *sign.Here) { r.Person = "bob" }, wire.CodeStranger},
		"no longer one":     {func(r *wire.Request, _ *sign.Here) { r.Person = "eve" }, wire.CodeStranger},
		"never one":         {func(r *wire.Request, _ *sign.Here) { r.Person = "mallory" }, wire.CodeStranger},
	} {
		r, at := request(), here()
		one.change(&r, &at)
		by := r.Person
		if what == "of another person" {
			by = "ada"
		}
		wants(t, what, sign.CheckRequest(people(t), askedBy(t, by, r), at, ""), one.code)
	}
}

func TestCheckRequest_refusesAKeyThatStandsForAnotherRequest(t *testing.T) {
	t.Parallel()
	first, second := request(), request()
	second.Args = []string{"c"}
	wants(t, "reused", sign.CheckRequest(people(t), askedBy(t, "ada", second), here(), sign.Digest(first)),
		wire.CodeKeyReused)
}

func TestASignatureIsForOneUse(t *testing.T) {
	t.Parallel()
	text := sign.RequestText(request())
	made, err := sign.Sign(key(t, "ada"), signed.ForReply, text)
	testkit.Must(t, err)
	wants(t, "of a reply", sign.CheckRequest(people(t), wire.Ask{Request: request(), Signature: made}, here(), ""),
		wire.CodeUnsigned)
	limited := signed.TitleOf("home", signed.OfPeople, 1) + "\nada namespaces=\"git\" " +
		sign.KeyOf(key(t, "ada").PublicKey()).Words() + "\n"
	list, err := sign.List(key(t, "authority"), limited)
	testkit.Must(t, err)
	some, err := list.Open(sign.KeyOf(key(t, "authority").PublicKey()), "home", signed.OfPeople)
	testkit.Must(t, err)
	wants(t, "a key for git", sign.CheckRequest(some, askedBy(t, "ada", request()), here(), ""), wire.CodeStranger)
}

// pseudo are random bytes for a test.
type pseudo struct{ *rand.Rand }

func (p pseudo) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(p.Uint32())
	}
	return len(b), nil
}

func TestSign_takesOneKindOfKey(t *testing.T) {
	t.Parallel()
	made, err := rsa.GenerateKey(pseudo{rand.New(rand.NewPCG(1, 2))}, 2048)
	testkit.Must(t, err)
	s, err := ssh.NewSignerFromKey(made)
	testkit.Must(t, err)
	if _, err := sign.Sign(s, signed.ForReply, "text"); err == nil {
		t.Error("an RSA key signs")
	}
}

func keygen(t *testing.T, dir, stdin string, args ...string) {
	t.Helper()
	program, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("there is no ssh-keygen here")
	}
	run := exec.CommandContext(t.Context(), program, args...)
	run.Dir, run.Stdin = dir, strings.NewReader(stdin)
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen %q: %v\n%s", args, err, said)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func TestSshKeygenVerifiesWhatIsSignedHere(t *testing.T) {
	t.Parallel()
	dir, ask := t.TempDir(), askedBy(t, "ada", request())
	write(t, dir, "people", list(signed.OfPeople, member(t, "ada"), member(t, "bob")))
	write(t, dir, "sig", ask.Signature)
	keygen(t, dir, sign.RequestText(ask.Request), "-Y", "verify", "-f", "people", "-I", "ada", "-n",
		string(signed.ForRequest), "-s", "sig")
}

func TestWhatSshKeygenSignsIsVerifiedHere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keygen(t, dir, "", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "key")
	write(t, dir, "text", sign.RequestText(request()))
	keygen(t, dir, "", "-q", "-Y", "sign", "-f", "key", "-n", string(signed.ForRequest), "text")
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		testkit.Must(t, err)
		return text
	}
	public, err := signed.ReadKey(string(read("key.pub")))
	testkit.Must(t, err)
	some := members(t, signed.OfPeople, signed.Person{Name: "ada", Key: public, Create: true})
	ask := wire.Ask{Request: request(), Signature: string(read("text.sig"))}
	wants(t, "ssh-keygen's", sign.CheckRequest(some, ask, here(), ""), "")
}
