package registry_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"orange/fleet/custody"
	"orange/fleet/registry"
	"orange/fleet/sign"
	"orange/fleet/testkit"
	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

var now = time.Unix(1_700_000_000, 0).UTC()

const soon = 5 * time.Minute

func fleet(t *testing.T) registry.State {
	t.Helper()
	trust := custody.Trust{Authority: testkit.Public(t, testkit.Authority),
		People: testkit.List(t, signed.OfPeople, 4, "ada"), Hosts: testkit.List(t, signed.OfHosts, 7, "h1")}
	s, err := registry.New(testkit.Fleet, trust)
	testkit.Must(t, err)
	return s
}

func inviteTo(t *testing.T, s registry.State, of, name string) registry.State {
	t.Helper()
	s, err := s.Invited(testkit.Order(t, testkit.Invite(t, of, name, now), testkit.Key(t, testkit.Authority)), now)
	testkit.Must(t, err)
	return s
}

func join(t *testing.T, of, name string) registry.Join {
	t.Helper()
	return registry.Join{Fleet: testkit.Fleet, Of: of, Name: name, Key: testkit.Public(t, name)}
}

func admit(t *testing.T, s registry.State, j registry.Join) registry.State {
	t.Helper()
	s, _, err := s.Admit(testkit.Order(t, j, testkit.Once(t, j.Name)), now.Add(soon), testkit.Key(t,
		testkit.Authority), "cert")
	testkit.Must(t, err)
	return s
}

// wants checks that an error is of a kind, and that it says what to do.
func wants(t *testing.T, what string, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: %v, expected %v", what, err, kind)
	}
}

func TestAnInvitationIsGoodForOneMemberOfItsNameAndKind(t *testing.T) {
	t.Parallel()
	s := admit(t, inviteTo(t, fleet(t), signed.OfPeople, "bob"), join(t, signed.OfPeople, "bob"))
	want := signed.TitleOf(testkit.Fleet, signed.OfPeople, 5) + "\nada " + testkit.Public(t, "ada") + "\nbob " +
		testkit.Public(t, "bob") + "\n"
	if s.Trust.People.Text != want {
		t.Errorf("people:\n%s\nexpected:\n%s", s.Trust.People.Text, want)
	}
	if s.Trust.Hosts != fleet(t).Trust.Hosts {
		t.Error("the list of hosts changed too")
	}
	if _, err := s.Trust.Lists(testkit.Fleet); err != nil {
		t.Errorf("the new lists are not signed: %v", err)
	}
}

func TestAnInvitationMayLeaveOutTheRightToCreate(t *testing.T) {
	t.Parallel()
	i := testkit.Invite(t, signed.OfPeople, "bob", now)
	i.Create = false
	s, err := fleet(t).Invited(testkit.Order(t, i, testkit.Key(t, testkit.Authority)), now)
	testkit.Must(t, err)
	s = admit(t, s, join(t, signed.OfPeople, "bob"))
	if !strings.Contains(s.Trust.People.Text, "\nbob create=no ssh-") {
		t.Errorf("people:\n%s", s.Trust.People.Text)
	}
}

// Attackers cannot (docs/proof.md): join with an invitation that is void, or change a join that passes by.
func TestATokenWorksOnce(t *testing.T) {
	t.Parallel()
	s := inviteTo(t, fleet(t), signed.OfPeople, "bob")
	first := testkit.Order(t, join(t, signed.OfPeople, "bob"), testkit.Once(t, "bob"))
	s, _, err := s.Admit(first, now, testkit.Key(t, testkit.Authority), "")
	testkit.Must(t, err)
	_, err = s.Judge(first, now)
	wants(t, "replayed", err, registry.ErrUsed)
	other := join(t, signed.OfPeople, "bob")
	other.Key = testkit.Public(t, "eve")
	_, err = s.Judge(testkit.Order(t, other, testkit.Once(t, "bob")), now)
	wants(t, "with another key", err, registry.ErrUsed)
	if s, err = s.Invited(testkit.Order(t, testkit.Invite(t, signed.OfPeople, "bob", now), testkit.Key(t,
		testkit.Authority)), now); err != nil {
		t.Fatal(err)
	}
	_, err = s.Judge(testkit.Order(t, other, testkit.Once(t, "bob")), now)
	wants(t, "after the order of the invitation came again", err, registry.ErrUsed)
	if len(s.Invitations) != 1 {
		t.Errorf("%d invitations", len(s.Invitations))
	}
	later := testkit.Invite(t, signed.OfPeople, "bob", now)
	if later.Key, err = registry.OnceOf(testkit.OnceSeed("later")); err == nil {
		s, err = s.Invited(testkit.Order(t, later, testkit.Key(t, testkit.Authority)), now)
	}
	testkit.Must(t, err)
	_, err = s.Judge(first, now)
	wants(t, "replayed after another invitation", err, registry.ErrUsed)
	_, _, err = s.Admit(first, now, testkit.Key(t, testkit.Authority), "")
	wants(t, "admitted without a look", err, registry.ErrUsed)
}

func TestARepeatOfAnAdmittedJoinIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	s := inviteTo(t, fleet(t), signed.OfHosts, "h2")
	o := testkit.Order(t, join(t, signed.OfHosts, "h2"), testkit.Once(t, "h2"))
	if _, was := s.Answered(o); was {
		t.Error("it was not answered yet")
	}
	s, admitted, err := s.Admit(o, now, testkit.Key(t, testkit.Authority), "cert")
	testkit.Must(t, err)
	again, was := s.Answered(o)
	if !was || again.Trust != admitted.Trust || again.Certificate != "cert" {
		t.Errorf("%+v, %t", again, was)
	}
	other := join(t, signed.OfHosts, "h2")
	other.Key = testkit.Public(t, "eve")
	if _, was := s.Answered(testkit.Order(t, other, testkit.Once(t, "h2"))); was {
		t.Error("another join is answered too")
	}
}

// Attackers cannot (docs/proof.md): join with an invitation that is void, or change a join that passes by.
func TestWhatIsForgedOrExpiredOrMeantForAnotherIsRefused(t *testing.T) {
	t.Parallel()
	s := inviteTo(t, fleet(t), signed.OfPeople, "bob")
	bob := join(t, signed.OfPeople, "bob")
	judged := func(o registry.Order, at time.Time) error {
		_, err := s.Judge(o, at)
		return err
	}
	changed := testkit.Order(t, bob, testkit.Once(t, "bob"))
	changed.Text = strings.Replace(changed.Text, "bob", "eve", 1)
	wants(t, "changed", judged(changed, now), registry.ErrForged)
	wants(t, "with a key that no invitation has", judged(testkit.Order(t, bob, testkit.Once(t, "eve")), now),
		registry.ErrUnknown)
	wants(t, "expired", judged(testkit.Order(t, bob, testkit.Once(t, "bob")), now.Add(registry.InviteFor)),
		registry.ErrExpired)
	for what, change := range map[string]func(*registry.Join){
		"another name":  func(j *registry.Join) { j.Name = "eve" },
		"another list":  func(j *registry.Join) { j.Of = signed.OfHosts },
		"another fleet": func(j *registry.Join) { j.Fleet = "office" },
		"no key":        func(j *registry.Join) { j.Key = "none" },
		"two keys":      func(j *registry.Join) { j.Key += "\n" + testkit.Public(t, "eve") },
	} {
		j := bob
		change(&j)
		wants(t, what, judged(testkit.Order(t, j, testkit.Once(t, "bob")), now), registry.ErrForged)
	}
	if err := judged(testkit.Order(t, bob, testkit.Once(t, "bob")),
		now.Add(registry.InviteFor-time.Second)); err != nil {
		t.Errorf("in time: %v", err)
	}
}

func TestOnlyTheAuthorityInvites(t *testing.T) {
	t.Parallel()
	s := fleet(t)
	bob := testkit.Invite(t, signed.OfPeople, "bob", now)
	tried := func(o registry.Order, at time.Time) error {
		_, err := s.Invited(o, at)
		return err
	}
	wants(t, "signed by another", tried(testkit.Order(t, bob, testkit.Key(t, "ada")), now), registry.ErrForged)
	wants(t, "not signed", tried(registry.Order{Text: testkit.Order(t, bob, testkit.Key(t, "ada")).Text}, now),
		registry.ErrForged)
	asJoin := testkit.Order(t, join(t, signed.OfPeople, "bob"), testkit.Key(t, testkit.Authority))
	wants(t, "signed for another use", tried(asJoin, now), registry.ErrForged)
	wants(t, "later", tried(testkit.Order(t, bob, testkit.Key(t, testkit.Authority)), now.Add(registry.InviteFor)),
		registry.ErrExpired)
	wants(t, "much earlier", tried(testkit.Order(t, bob, testkit.Key(t, testkit.Authority)),
		now.Add(-2*time.Minute)), registry.ErrExpired)
	for what, change := range map[string]func(*registry.Invite){
		"another fleet": func(i *registry.Invite) { i.Fleet = "office" },
		"another list":  func(i *registry.Invite) { i.Of = "cats" },
		"no key":        func(i *registry.Invite) { i.Key = "" },
	} {
		i := bob
		change(&i)
		wants(t, what, tried(testkit.Order(t, i, testkit.Key(t, testkit.Authority)), now), registry.ErrForged)
	}
	i := bob
	i.Name = "*"
	wants(t, "a pattern as the name", tried(testkit.Order(t, i, testkit.Key(t, testkit.Authority)), now), task.ErrUsage)
}

func TestALaterInvitationMakesTheOneBeforeVoid(t *testing.T) {
	t.Parallel()
	s := inviteTo(t, fleet(t), signed.OfPeople, "bob")
	later := testkit.Invite(t, signed.OfPeople, "bob", now)
	var err error
	if later.Key, err = registry.OnceOf(testkit.OnceSeed("later")); err != nil {
		t.Fatal(err)
	}
	if s, err = s.Invited(testkit.Order(t, later, testkit.Key(t, testkit.Authority)), now); err != nil {
		t.Fatal(err)
	}
	bob := join(t, signed.OfPeople, "bob")
	_, err = s.Judge(testkit.Order(t, bob, testkit.Once(t, "bob")), now)
	wants(t, "the earlier one", err, registry.ErrUnknown)
	if _, err = s.Judge(testkit.Order(t, bob, testkit.Once(t, "later")), now); err != nil {
		t.Errorf("the later one: %v", err)
	}
}

func TestInvitationsThatAreLongOverAreForgottenAndManyAreRefused(t *testing.T) {
	t.Parallel()
	s := inviteTo(t, fleet(t), signed.OfPeople, "bob")
	s.Invitations = slices.Repeat(s.Invitations, 500)
	eve := testkit.Order(t, testkit.Invite(t, signed.OfPeople, "eve", now), testkit.Key(t, testkit.Authority))
	_, err := s.Invited(eve, now)
	wants(t, "too many", err, registry.ErrRefused)
	for i := range s.Invitations {
		s.Invitations[i].Expires = now.Add(-25 * time.Hour).Unix()
	}
	if s, err = s.Invited(eve, now); err != nil || len(s.Invitations) != 1 {
		t.Errorf("%d invitations, %v", len(s.Invitations), err)
	}
}

func TestANameIsThatOfAPersonOrOfAHost(t *testing.T) {
	t.Parallel()
	s := fleet(t)
	_, err := s.Invited(testkit.Order(t, testkit.Invite(t, signed.OfHosts, "ada", now), testkit.Key(t,
		testkit.Authority)), now)
	wants(t, "a host as a person", err, registry.ErrTaken)
	_, err = s.Invited(testkit.Order(t, testkit.Invite(t, signed.OfPeople, "h1", now), testkit.Key(t,
		testkit.Authority)), now)
	wants(t, "a person as a host", err, registry.ErrTaken)
	s = inviteTo(t, inviteTo(t, s, signed.OfPeople, "eve"), signed.OfHosts, "eve") // the last one counts
	if len(s.Invitations) != 1 {
		t.Errorf("%d invitations", len(s.Invitations))
	}
}

func TestEveryMemberHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, of := range []string{signed.OfPeople, signed.OfHosts} {
		s := inviteTo(t, fleet(t), of, "new")
		for _, has := range []string{"ada", "h1"} {
			j := join(t, of, "new")
			j.Key = testkit.Public(t, has)
			_, err := s.Judge(testkit.Order(t, j, testkit.Once(t, "new")), now)
			wants(t, has+"'s key in "+of, err, registry.ErrTaken)
		}
	}
}

func TestAHostHasOneKeyAndAPersonSeveral(t *testing.T) {
	t.Parallel()
	again := func(of, name, key string) registry.State {
		j := join(t, of, name)
		j.Key = testkit.Public(t, key)
		return admit(t, inviteTo(t, fleet(t), of, name), j)
	}
	if s := again(signed.OfHosts, "h1", "new"); strings.Count(s.Trust.Hosts.Text, "\nh1 ") != 1 ||
		!strings.Contains(s.Trust.Hosts.Text, testkit.Public(t, "new")) {
		t.Errorf("hosts:\n%s", s.Trust.Hosts.Text)
	}
	if s := again(signed.OfHosts, "h2", "new"); strings.Count(s.Trust.Hosts.Text, "\nh1 ") != 1 {
		t.Errorf("another host is gone:\n%s", s.Trust.Hosts.Text)
	}
	if s := again(signed.OfPeople, "ada", "new"); strings.Count(s.Trust.People.Text, "\nada ") != 2 {
		t.Errorf("people:\n%s", s.Trust.People.Text)
	}
	two := fleet(t)
	two.Trust.People = testkit.List(t, signed.OfPeople, 5, "ada", "bob")
	if s := admit(t, inviteTo(t, two, signed.OfPeople, "ada"), join(t, signed.OfPeople, "ada")); s.Trust != two.Trust {
		t.Errorf("the same key again changes the list:\n%s", s.Trust.People.Text)
	}
	if s := again(signed.OfPeople, "ada", "ada"); s.Trust != fleet(t).Trust {
		t.Errorf("the same key again:\n%s", s.Trust.People.Text)
	}
}

// security is a key that needs a finger at it for every signature.
func security(t *testing.T) string {
	t.Helper()
	raw := ssh.Marshal(struct{ Type, Key, App string }{ssh.KeyAlgoSKED25519, strings.Repeat("k", 32), "ssh:"})
	key, err := ssh.ParsePublicKey(raw)
	testkit.Must(t, err)
	return sign.KeyOf(key).Words()
}

func TestAHostSignsWithoutAPerson(t *testing.T) {
	t.Parallel()
	for of, kind := range map[string]error{signed.OfPeople: nil, signed.OfHosts: registry.ErrRefused} {
		s := inviteTo(t, fleet(t), of, "new")
		j := join(t, of, "new")
		j.Key = security(t)
		_, err := s.Judge(testkit.Order(t, j, testkit.Once(t, "new")), now)
		if !errors.Is(err, kind) {
			t.Errorf("%s: %v", of, err)
		}
	}
}

func TestAHostWhoseProjectsAreOtherRepositoriesIsRefused(t *testing.T) {
	t.Parallel()
	web := func(root string) []remote.HostProject { return []remote.HostProject{{Name: "web", Root: root}} }
	first := join(t, signed.OfHosts, "h1")
	first.Projects = web("aaaa")
	s := admit(t, inviteTo(t, fleet(t), signed.OfHosts, "h1"), first)
	second := join(t, signed.OfHosts, "h2")
	second.Projects = web("bbbb")
	s = inviteTo(t, s, signed.OfHosts, "h2")
	_, err := s.Judge(testkit.Order(t, second, testkit.Once(t, "h2")), now)
	wants(t, "another first commit", err, registry.ErrRefused)
	if err == nil || !strings.Contains(err.Error(), `the host h1: project "web"`) {
		t.Error(err)
	}
	second.Projects = []remote.HostProject{{Name: "api"}}
	_, admitted, err := s.Admit(testkit.Order(t, second, testkit.Once(t, "h2")), now, testkit.Key(t,
		testkit.Authority), "")
	if err != nil || len(admitted.Notes) != 1 {
		t.Errorf("no common project: %q, %v", admitted.Notes, err)
	}
	if s, err = s.Removed("h1", testkit.Key(t, testkit.Authority)); err != nil {
		t.Fatal(err)
	}
	second.Projects = web("bbbb")
	if _, err = s.Judge(testkit.Order(t, second, testkit.Once(t, "h2")), now); err != nil {
		t.Errorf("after the other host is removed: %v", err)
	}
	s = admit(t, s, second)
	again := testkit.Invite(t, signed.OfHosts, "h2", now)
	if again.Key, err = registry.OnceOf(testkit.OnceSeed("again")); err == nil {
		s, err = s.Invited(testkit.Order(t, again, testkit.Key(t, testkit.Authority)), now)
	}
	testkit.Must(t, err)
	second.Projects = web("cccc")
	if _, err = s.Judge(testkit.Order(t, second, testkit.Once(t, "again")), now); err != nil {
		t.Errorf("the same host with another repository: %v", err)
	}
	o := testkit.Order(t, second, testkit.Once(t, "again"))
	if s, _, err = s.Admit(o, now, testkit.Key(t, testkit.Authority), ""); err != nil || len(s.Projects) != 1 {
		t.Fatalf("the projects of the host: %+v, %v", s.Projects, err)
	}
	third := join(t, signed.OfHosts, "h3")
	third.Projects = web("cccc")
	if s = admit(t, inviteTo(t, s, signed.OfHosts, "h3"), third); len(s.Projects) != 2 {
		t.Errorf("the projects of two hosts: %+v", s.Projects)
	}
}

func TestRemovedTakesAMemberAndItsInvitationsOffTheFleet(t *testing.T) {
	t.Parallel()
	authority := testkit.Key(t, testkit.Authority)
	s := inviteTo(t, inviteTo(t, fleet(t), signed.OfPeople, "ada"), signed.OfPeople, "bob")
	s, err := s.Removed("ada", authority)
	testkit.Must(t, err)
	if want := signed.TitleOf(testkit.Fleet, signed.OfPeople, 5) + "\n"; s.Trust.People.Text != want {
		t.Errorf("people:\n%s", s.Trust.People.Text)
	}
	if len(s.Invitations) != 1 || s.Invitations[0].Name != "bob" || s.Trust.Hosts != fleet(t).Trust.Hosts {
		t.Errorf("%+v", s)
	}
	if s, err = s.Removed("bob", authority); err != nil || len(s.Invitations) != 0 {
		t.Errorf("one who was only invited: %+v, %v", s.Invitations, err)
	}
	if s, err = s.Removed("h1", authority); err != nil || strings.Contains(s.Trust.Hosts.Text, "h1") {
		t.Errorf("a host: %q, %v", s.Trust.Hosts.Text, err)
	}
	_, err = s.Removed("eve", authority)
	wants(t, "no one", err, task.ErrNotFound)
}

func TestRetiredEndsTheKeysOfAMemberAndKeepsWhatTheySigned(t *testing.T) {
	t.Parallel()
	authority := testkit.Key(t, testkit.Authority)
	born := testkit.Birth(t, "ada", "abc", "any", now.Add(-time.Hour))
	s, err := inviteTo(t, fleet(t), signed.OfPeople, "ada").Retired("ada", authority, now)
	testkit.Must(t, err)
	lists, err := s.Trust.Lists(testkit.Fleet)
	if err != nil || len(lists.People.Members) != 1 || !lists.People.Members[0].Until.Equal(now) ||
		len(s.Invitations) != 0 || s.Trust.Hosts != fleet(t).Trust.Hosts {
		t.Fatalf("%+v, %v", s, err)
	}
	here := sign.Here{Fleet: testkit.Fleet, Task: "abc", Now: now, Waited: true}
	if err := sign.CheckBirth(lists.People, born, here); err != nil {
		t.Errorf("a task that was created before: %v", err)
	}
	here.Waited = false
	if err := sign.CheckBirth(lists.People, testkit.Birth(t, "ada", "abc", "any", now), here); err == nil {
		t.Error("a task that is created now counts")
	}
	if again, err := s.Retired("ada", authority, now.Add(time.Hour)); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("a second time the end moves: %q, %v", again.Trust.People.Text, err)
	}
	if s, err = s.Removed("ada", authority); err != nil || strings.Contains(s.Trust.People.Text, "ada") {
		t.Errorf("removed after it: %q, %v", s.Trust.People.Text, err)
	}
	several := join(t, signed.OfPeople, "ada")
	several.Key = testkit.Public(t, "new")
	both, err := admit(t, inviteTo(t, fleet(t), signed.OfPeople, "ada"), several).Retired("ada", authority, now)
	if err != nil || !strings.Contains(both.Trust.People.Text, testkit.Public(t, "ada")) ||
		!strings.Contains(both.Trust.People.Text, testkit.Public(t, "new")) ||
		strings.Count(both.Trust.People.Text, "valid-before=") != 2 {
		t.Errorf("one with two keys: %q, %v", both.Trust.People.Text, err)
	}
	if s, err = s.Retired("h1", authority, now); err != nil || !strings.Contains(s.Trust.Hosts.Text,
		`h1 valid-before="20231114221320Z" ssh-ed25519`) {
		t.Errorf("a host: %q, %v", s.Trust.Hosts.Text, err)
	}
}

func TestReadTicket_takesTheLineAsItWasPrinted(t *testing.T) {
	t.Parallel()
	want := registry.Ticket{Server: "x:7233", Fleet: "home", Of: signed.OfHosts, Name: "h2", Authority: "key",
		Seed: testkit.OnceSeed("h2"), CA: "ca"}
	line, err := want.Line()
	if err != nil || strings.ContainsAny(line, "\n '\"$") {
		t.Fatalf("%q, %v", line, err)
	}
	got, err := registry.ReadTicket(" " + line[:70] + " \n  " + line[70:] + "\n")
	if err != nil || got.Name != "h2" || !bytes.Equal(got.Seed, want.Seed) || got.CA != "ca" {
		t.Errorf("%+v, %v", got, err)
	}
	made := func(t registry.Ticket) string {
		text, err := json.Marshal(t)
		if err != nil {
			panic(err)
		}
		return "orange-fleet-join-" + base64.RawURLEncoding.EncodeToString(text)
	}
	if _, err := registry.ReadTicket(made(registry.Ticket{V: 1, Seed: testkit.OnceSeed("h2")})); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "home", line[1:], line[:len(line)-9],
		strings.TrimPrefix(line, "orange-fleet-join-"),
		made(registry.Ticket{V: 2, Seed: testkit.OnceSeed("h2")}), made(registry.Ticket{V: 1,
			Seed: testkit.OnceSeed("h2")[1:]})} {
		_, err := registry.ReadTicket(bad)
		wants(t, bad, err, task.ErrUsage)
	}
}

func TestAnOrderThatIsTooLargeIsNotSent(t *testing.T) {
	t.Parallel()
	o := registry.Order{Text: strings.Repeat("x", 128<<10-9), Signature: "signature"}
	if err := o.Check(); err != nil {
		t.Error(err)
	}
	o.Text += "x"
	wants(t, "a byte more", o.Check(), task.ErrUsage)
}

func TestAJoinOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	s := inviteTo(t, fleet(t), signed.OfPeople, "bob")
	text := strings.Replace(testkit.Order(t, join(t, signed.OfPeople, "bob"), testkit.Once(t, "bob")).Text, `"v":1`,
		`"v":2`, 1)
	made, err := sign.Sign(testkit.Once(t, "bob"), "orange-join", text)
	testkit.Must(t, err)
	_, err = s.Judge(registry.Order{Text: text, Signature: made}, now)
	wants(t, "a later version", err, registry.ErrRefused)
}

func TestARegistryNeedsListsThatTheAuthoritySigned(t *testing.T) {
	t.Parallel()
	trust := fleet(t).Trust
	trust.Hosts.Text += "h9 " + testkit.Public(t, "eve") + "\n"
	_, err := registry.New(testkit.Fleet, trust)
	wants(t, "with a line more", err, sign.ErrNotTheList)
}

func TestANameThatTheOtherListHasGotSinceIsTaken(t *testing.T) {
	t.Parallel()
	s := inviteTo(t, fleet(t), signed.OfHosts, "bob")
	s.Trust.People = testkit.List(t, signed.OfPeople, 5, "ada", "bob")
	j := join(t, signed.OfHosts, "bob")
	j.Key = testkit.Public(t, "new")
	_, err := s.Judge(testkit.Order(t, j, testkit.Once(t, "bob")), now)
	wants(t, "a host with the name of a person", err, registry.ErrTaken)
}

func TestReadCountsOnlyWhatTheAuthoritySigned(t *testing.T) {
	t.Parallel()
	if _, err := registry.Read(fleet(t), testkit.Public(t, testkit.Authority)); err != nil {
		t.Error(err)
	}
	_, err := registry.Read(fleet(t), testkit.Public(t, "eve"))
	wants(t, "another authority", err, sign.ErrNotTheList)
}

func TestEmptyListsAreSignedAndTrustedListsNeverGoBack(t *testing.T) {
	t.Parallel()
	empty, err := registry.Empty(testkit.Fleet, testkit.Key(t, testkit.Authority))
	testkit.Must(t, err)
	s, err := registry.New(testkit.Fleet, empty)
	testkit.Must(t, err)
	if lists, err := empty.Lists(testkit.Fleet); err != nil || lists.People.Version != 1 || lists.Hosts.Version != 1 {
		t.Errorf("they have the versions %d and %d, %v", lists.People.Version, lists.Hosts.Version, err)
	}
	first := admit(t, inviteTo(t, s, signed.OfPeople, "bob"), join(t, signed.OfPeople, "bob")).Trust.People.Text
	if want := signed.TitleOf(testkit.Fleet, signed.OfPeople, 2) + "\nbob " + testkit.Public(t, "bob") + "\n"; first !=
		want {
		t.Errorf("with the first person:\n%s", first)
	}
	if s, err = s.Trusted(fleet(t).Trust); err != nil {
		t.Fatal(err)
	}
	_, err = s.Trusted(empty)
	wants(t, "older lists", err, wire.CodeStaleEpoch)
}
