package service

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"orange/internal/rules/task"
)

func unit() Unit {
	return Unit{Home: `/home/a "b"/100%`, Program: `/opt/$x/or\ange & co`,
		Environment: Environment(`/home/a "b"/100%`, func(name string) string { return "<" + name + ">" })}
}

func TestTheSystemdUnitQuotesPathsAndSettings(t *testing.T) {
	t.Parallel()
	text, err := unit().Text("systemd")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`Description=Orange watches the agents of /home/a "b"/100%%` + "\n",
		`ExecStart="/opt/$$x/or\\ange & co" monitor` + "\n",
		`Environment="ORANGE_HOME=/home/a \"b\"/100%%" "PATH=<PATH>" "TMUX_TMPDIR=<TMUX_TMPDIR>"` + "\n",
		"KillMode=process\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("found no %q in\n%s", want, text)
		}
	}
}

func TestTheLaunchdPropertyListIsXMLWithTheSameValues(t *testing.T) {
	t.Parallel()
	u := unit()
	text, err := u.Text("launchd")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if data, ok := token.(xml.CharData); ok {
			found[string(data)] = true
		}
	}
	want := []string{u.Program, "monitor", u.Home + "/monitor.err"}
	for _, pair := range u.Environment {
		want = append(want, pair[0], pair[1])
	}
	for _, one := range want {
		if !found[one] {
			t.Errorf("found no %q in\n%s", one, text)
		}
	}
}

func TestAllHasBothAndAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	both, err := unit().Text("all")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"systemd", "launchd"} {
		one, err := unit().Text(kind)
		if err != nil || !strings.Contains(both, one) || !strings.Contains(both, "# "+kind+": ") {
			t.Errorf("all lacks %s: %v", kind, err)
		}
	}
	if _, err := unit().Text("cron"); !errors.Is(err, task.ErrUsage) {
		t.Errorf("cron: %v", err)
	}
}

func TestWithoutAFolderForTmuxNoneIsSet(t *testing.T) {
	t.Parallel()
	for _, pair := range Environment("/h", func(string) string { return "" }) {
		if pair[0] == "TMUX_TMPDIR" {
			t.Errorf("found %q", pair)
		}
	}
}
