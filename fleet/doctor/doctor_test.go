package doctor_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/fleet/doctor"
	"orange/fleet/host"
	"orange/fleet/members"
	"orange/fleet/setup"
	"orange/fleet/testkit"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

// machine is a host and a person of the fleet of tests, with a server that is not there.
func machine(t *testing.T) *doctor.Doctor {
	t.Helper()
	home := t.TempDir()
	a, err := members.Make(t.Context(), home, testkit.Fleet)
	testkit.Must(t, err)
	state, err := a.State()
	if err == nil {
		_, err = setup.KeepTrust(t.Context(), home, testkit.Fleet, state.Trust)
	}
	testkit.Must(t, err)
	testkit.Must(t, members.MakeKey(setup.HostKeyPath(home), "h1"))
	s := setup.Usual()
	s.Server, s.Namespace, s.Name, s.Person = "127.0.0.1:1", testkit.Fleet, "h1", "ada"
	s.SigningKey = setup.HostKeyPath(home)
	program := filepath.Join(home, "orange")
	const script = "#!/bin/sh\ncase $1 in harness) echo '{\"harnesses\":[{\"name\":\"claude\",\"path\":\"/c\"}]}';;\n" +
		"*) echo '{\"projects\":[]}';; esac\n"
	testkit.Must(t, os.WriteFile(program, []byte(script), 0o700))
	return &doctor.Doctor{Home: home, Setup: s, Orange: host.Orange{Path: program, Home: home}, Now: time.Now}
}

func look(t *testing.T, d *doctor.Doctor) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var b strings.Builder
	for _, f := range d.Look(ctx) {
		b.WriteString(string(f.Grade) + " " + f.About + ": " + f.Text + "\n")
	}
	return b.String()
}

func TestLook_namesWhatDoesNotWork(t *testing.T) {
	t.Parallel()
	got := look(t, machine(t))
	for _, want := range []string{
		"note connection: it is not encrypted",
		"note keys: the person \"ada\" and the host \"h1\" share an account",
		"has no passphrase",
		"bad server: cannot reach the server of the fleet \"home\" at \"127.0.0.1:1\"",
		"what it knows was not looked at",
		"ok lists: 0 people in the version 1, 0 hosts in the version 1",
		"bad host: the key of \"h1\"",
		"bad person: the key of \"ada\"",
		"bad lease: there never was one",
		"does not say where \"snapshots\" are pushed",
		"ok harnesses: claude",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
}

func TestLook_saysWhetherRequestsHaveToBeSigned(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		host   string
		signed bool
		says   string
	}{
		{"h1", true, "ok signed: requests for tasks of the fleet have to be signed"},
		{"h1", false, "note signed: it is off in fleet.yml: anyone who can log in here"},
		{"", false, "note signed: it is off in fleet.yml, and means nothing here"},
		{"", true, ""},
	} {
		d := machine(t)
		d.Setup.Name, d.Setup.Signed = tt.host, tt.signed
		if got := look(t, d); !strings.Contains(got, tt.says) || tt.says == "" && strings.Contains(got, " signed: ") {
			t.Errorf("%q, %v: %s", tt.host, tt.signed, got)
		}
	}
}

func TestLook_atAPlaceOfSnapshotsThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	d := machine(t)
	d.Setup.Snapshots = filepath.Join(d.Home, "nowhere.git")
	if got := look(t, d); !strings.Contains(got, "bad projects: no project is registered") {
		t.Error(got)
	}
	script := "#!/bin/sh\ncase $1 in harness) echo '{\"harnesses\":[]}';;\n*) echo '{\"projects\":[{\"name\":\"web\"," +
		"\"path\":\"" + d.Home + "\",\"default_branch\":\"main\"}]}';; esac\n"
	testkit.Must(t, os.WriteFile(d.Orange.Path, []byte(script), 0o700))
	got := look(t, d)
	if !strings.Contains(got, "bad snapshots: project \"web\"") || !strings.Contains(got, "bad harnesses: no agent") {
		t.Error(got)
	}
}

func TestLook_doesNotTrustAnEditedCopyOfTheLists(t *testing.T) {
	t.Parallel()
	d := machine(t)
	path := filepath.Join(setup.Dir(d.Home), "trust.json")
	text, err := os.ReadFile(path)
	if err == nil {
		edited := strings.Replace(string(text), signed.OfPeople+", version 1", signed.OfPeople+", version 9", 1)
		err = os.WriteFile(path, []byte(edited), task.PrivateFile)
	}
	testkit.Must(t, err)
	if got := look(t, d); !strings.Contains(got, "bad lists: ") || !strings.Contains(got, "was changed after") {
		t.Error(got)
	}
}

func TestLook_namesACertificateThatEnds(t *testing.T) {
	t.Parallel()
	d := machine(t)
	a, err := members.Open(d.Home)
	testkit.Must(t, err)
	if d.Setup.TLS, err = a.MakeCertificates(testkit.Fleet, []string{"localhost"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	for later, want := range map[time.Duration]string{0: "ok certificate: it holds until",
		350 * 24 * time.Hour: "note certificate: it ends on", 366 * 24 * time.Hour: "bad certificate: it ended on"} {
		d.Now = func() time.Time { return time.Now().Add(later) }
		if got := look(t, d); !strings.Contains(got, want) {
			t.Errorf("after %s it does not say %q:\n%s", later, want, got)
		}
	}
}
