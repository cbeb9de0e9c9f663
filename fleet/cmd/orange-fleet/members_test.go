package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"orange/fleet/members"
	"orange/fleet/setup"
	"orange/fleet/testkit"
)

// runAt runs the program for a home. The home is in the environment: tests that use it run one after the other.
func runAt(t *testing.T, home string, args ...string) (code int, out, errs string) {
	t.Helper()
	t.Setenv("ORANGE_HOME", home)
	var said, wrong bytes.Buffer
	code = run(t.Context(), args, &said, &wrong)
	return code, said.String(), wrong.String()
}

// office is the home of a fleet's authority, with a server that is not there.
func office(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	s := setup.Usual()
	s.Server, s.Namespace = "127.0.0.1:1", testkit.Fleet
	testkit.Must(t, setup.Write(home, s))
	if _, err := members.Make(t.Context(), home, testkit.Fleet); err != nil {
		t.Fatal(err)
	}
	return home
}

func TestCalls_thatAreWrongSayWhatIsExpected(t *testing.T) {
	home := office(t)
	for call, want := range map[string]string{
		"invite":                                "a NAME",
		"invite x":                              "expected one of --host and --person",
		"invite x --host --person":              "expected one of --host and --person",
		"invite x --person --create=maybe":      "expected yes or no",
		"join":                                  "a LINE",
		"join nonsense":                         "orange-fleet-join-",
		"remove":                                "a NAME",
		"serve --tls x":                         "without --init",
		"serve --init --namespace other":        "change them there",
		"serve --init --tls a/b":                "names or addresses",
		"serve --metrics":                       "metrics",
		"doctor --tell":                         `has no "name"`,
		"serve --init --server x --namespace y": "change them there",
	} {
		if code, out, errs := runAt(t, home, strings.Fields(call)...); code != exitUsage || !strings.Contains(errs,
			want) {
			t.Errorf("%s: %d, %q, %q, expected %q", call, code, out, errs, want)
		}
	}
}

func TestMembers_atTheAuthorityNeedNoServer(t *testing.T) {
	home := office(t)
	if code, out, errs := runAt(t, home, "members"); code != exitDone || !strings.HasPrefix(out, "NAME") {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	if code, _, errs := runAt(t, home, "remove", "eve"); code != exitFailed || !strings.Contains(errs, "has no "+
		"person") {
		t.Errorf("%d, %q", code, errs)
	}
	if code, out, errs := runAt(t, home, "invite", "ada", "--person"); code != exitFailed || out != "" ||
		!strings.Contains(errs, "127.0.0.1:1") {
		t.Errorf("an invitation that the fleet does not know: %d, %q, %q", code, out, errs)
	}
}

func TestDoctor_failsWhereSomethingDoesNotWork(t *testing.T) {
	code, out, errs := runAt(t, office(t), "doctor", "--json")
	var said struct {
		Findings []struct{ Grade, About, Text string }
	}
	if err := json.Unmarshal([]byte(out), &said); code != exitFailed || err != nil || errs != "" {
		t.Fatalf("%d, %q, %q, %v", code, out, errs, err)
	}
	bad := map[string]bool{}
	for _, f := range said.Findings {
		bad[f.About] = bad[f.About] || f.Grade == "bad"
	}
	if !bad["server"] || !bad["lists"] || bad["connection"] { // the lists were never brought here from the server
		t.Errorf("%+v", said)
	}
}

func TestServe_printsItsUnit(t *testing.T) {
	home := office(t)
	if code, out, errs := runAt(t, home, "serve", "--unit=systemd"); code != exitDone || errs != "" ||
		!strings.Contains(out, " serve\n") || !strings.Contains(out, home) {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
}
