package remote_test

import (
	"errors"
	"strings"
	"testing"

	"orange/internal/api/remote"
	"orange/internal/rules/task"
)

func TestCheck_takesHostsThatSSHTakes(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"big", "me@big.example", "big.example", "10.0.0.7", "ssh://me@big:2222", "::1",
		"me@fe80::1", "a_b", "ssh://[::1]:22"} {
		if err := (remote.Host{Name: "big", SSH: to}).Check(); err != nil {
			t.Errorf("%q: %v", to, err)
		}
	}
	for _, to := range []string{"", "-oProxyCommand=x", "-v", "me@-x", "a b", "a;b", "$(x)", "a`x`", "a\nb", "big:22",
		"me@", "@big", "ssh://", "a'b", "me@@big", "../x", strings.Repeat("x", 300), "a\x00"} {
		if err := (remote.Host{Name: "big", SSH: to}).Check(); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%q is taken: %v", to, err)
		}
	}
}

func TestCheck_takesNamesAndCommandsWithNothingForAShell(t *testing.T) {
	t.Parallel()
	for _, h := range []remote.Host{{Name: "a", SSH: "a", Command: "/opt/orange-1.2/bin/orange"},
		{Name: "A.b_c-9", SSH: "a", Command: "~/bin/orange"}, {Name: "9", SSH: "a"}} {
		if err := h.Check(); err != nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
	for _, h := range []remote.Host{{Name: "", SSH: "a"}, {Name: "-a", SSH: "a"}, {Name: "a b", SSH: "a"},
		{Name: "a", SSH: "a", Command: "orange;x"}, {Name: "a", SSH: "a", Command: "-x"},
		{Name: "a", SSH: "a", Command: "/a b"}, {Name: "a", SSH: "a", Command: "~root/x"},
		{Name: strings.Repeat("a", 64), SSH: "a"}, {Name: "a/b", SSH: "a"}} {
		if err := h.Check(); !errors.Is(err, task.ErrUsage) {
			t.Errorf("%+v is taken: %v", h, err)
		}
	}
	for _, role := range []string{"", "worker", "code-reviewer2"} {
		if err := remote.CheckRole(role); err != nil {
			t.Errorf("the role %q: %v", role, err)
		}
	}
	for _, role := range []string{"-x", "a b", "a;b", "A"} {
		if remote.CheckRole(role) == nil {
			t.Errorf("the role %q is taken", role)
		}
	}
}

func TestHost_isFoundByItsName(t *testing.T) {
	t.Parallel()
	f := remote.Fleet{Name: "here", Hosts: []remote.Host{{Name: "big", SSH: "b"}}}
	if h, err := f.Host("big"); err != nil || h.SSH != "b" || h.Here {
		t.Errorf("found %+v, %v", h, err)
	}
	if h, err := f.Host("here"); err != nil || !h.Here {
		t.Errorf("found %+v, %v", h, err)
	}
	for _, name := range []string{"", "other"} {
		if h, err := f.Host(name); !errors.Is(err, task.ErrNotFound) {
			t.Errorf("%q: found %+v, %v", name, h, err)
		}
	}
	if names := f.Names(); names != "here, big" {
		t.Errorf("found %q", names)
	}
	if names := (remote.Fleet{}).Names(); names != "none" {
		t.Errorf("found %q", names)
	}
	if (remote.Host{}).Program() != "orange" || (remote.Host{Command: "/o"}).Program() != "/o" {
		t.Error("the program is another one")
	}
}

func TestCompare_refusesAnotherRepositoryUnderAName(t *testing.T) {
	t.Parallel()
	web := remote.HostProject{Name: "web", Origin: "example.com/web", Root: "aaaaaaaa"}
	of := func(origin, root string) remote.HostProject {
		return remote.HostProject{Name: "web", Origin: origin, Root: root}
	}
	for name, tt := range map[string]struct {
		here, there  remote.HostProject
		wrong, notes int
	}{
		"the same":              {web, web, 0, 0},
		"another way to origin": {web, of("git@example.com:web.git", "aaaaaaaa"), 0, 0},
		"another beginning":     {web, of("example.com/web", "bbbbbbbb"), 1, 0},
		"a fork":                {web, of("example.com/fork", "aaaaaaaa"), 1, 0},
		"no origin":             {web, of("", "aaaaaaaa"), 0, 1},
		"a shallow one":         {web, remote.HostProject{Name: "web", Origin: "example.com/web"}, 0, 0},
		"trouble":               {web, remote.HostProject{Name: "web", Trouble: "gone", Root: "bbbbbbbb"}, 0, 1},
		"none in common":        {web, remote.HostProject{Name: "shop", Root: "bbbbbbbb"}, 0, 1},
	} {
		wrong, notes := remote.Compare([]remote.HostProject{tt.here}, []remote.HostProject{tt.there})
		if len(wrong) != tt.wrong || len(notes) != tt.notes {
			t.Errorf("%s: wrong %q, notes %q", name, wrong, notes)
		}
	}
}

func TestPlace_isTheSameHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"https://example.com/me/web.git", "git@example.com:me/web.git",
		"example.com/me/web", "ssh://git@Example.com:22/me/web", "https://me:secret@example.com/me/web/"} {
		if got := remote.Place(address); got != "example.com/me/web" {
			t.Errorf("%q is %q", address, got)
		}
	}
	if remote.Place("/srv/web.git") != "/srv/web" || remote.Place("/srv/web") == remote.Place("/srv/shop") {
		t.Errorf("a path is %q", remote.Place("/srv/web.git"))
	}
	if remote.Place("/srv/a:b") != "/srv/a:b" || remote.Place("example.com") != "example.com" {
		t.Errorf("a path is %q, a host %q", remote.Place("/srv/a:b"), remote.Place("example.com"))
	}
}
