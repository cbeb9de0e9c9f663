package remote_test

import (
	"testing"
	"time"

	"orange/internal/api/remote"
)

// known is a fleet whose hosts have every reason not to take a task.
func known() remote.ServerView {
	at := time.Date(2024, 5, 6, 12, 3, 10, 0, time.UTC)
	host := func(name string) remote.ServerHost {
		return remote.ServerHost{Name: name, Here: true, Free: 1, Labels: []string{"any", "gpu"},
			Projects: []string{"web"}, Harness: []string{"claude", "pi"}}
	}
	k := remote.ServerView{At: at}
	for name, change := range map[string]func(*remote.ServerHost){
		"h1": func(h *remote.ServerHost) { h.Free = 0 },
		"h2": func(h *remote.ServerHost) { h.Harness = []string{"pi"} },
		"h3": func(h *remote.ServerHost) { h.Here, h.Since = false, at },
		"h4": func(h *remote.ServerHost) { h.Projects = nil },
		"h5": func(h *remote.ServerHost) { h.Labels = nil },
		"h6": func(h *remote.ServerHost) { h.Draining = true },
		"h7": func(*remote.ServerHost) {},
	} {
		h := host(name)
		change(&h)
		k.Hosts = append(k.Hosts, h)
	}
	return k
}

func waiting() remote.ServerTask {
	return remote.ServerTask{Found: remote.Found{ID: "a", Project: "web"}, Harness: []string{"claude"}, Label: "gpu",
		Unfit: map[string]string{"h7": "it has another workflow"}}
}

func TestWhy_saysHostByHostWhatATaskWaitsFor(t *testing.T) {
	t.Parallel()
	_, hosts := known().Why(waiting())
	for name, want := range map[string]string{"h1": "full", "h2": "has no claude", "h3": "lost since 12:03:10",
		"h4": "has no project web", "h5": "has not the label gpu", "h6": "takes no new task",
		"h7": "cannot: it has another workflow"} {
		if hosts[name] != want {
			t.Errorf("%s: %q, want %q", name, hosts[name], want)
		}
	}
	anywhere := waiting()
	anywhere.Label, anywhere.Unfit = remote.AnyLabel, nil
	if _, hosts = known().Why(anywhere); hosts["h5"] != "" || hosts["h7"] != "" || len(hosts) != 5 {
		t.Errorf("a task for any host waits for a label: %v", hosts)
	}
}

func TestWhy_saysInASentenceWhatATaskWaitsFor(t *testing.T) {
	t.Parallel()
	k := known()
	for i := range k.Hosts { // two of them, in their order
		switch k.Hosts[i].Name {
		case "h1":
			k.Hosts[0], k.Hosts[i] = k.Hosts[i], k.Hosts[0]
		}
	}
	k.Hosts = k.Hosts[:1]
	to := func(name string) remote.ServerTask {
		one := waiting()
		one.To, one.Label = name, ""
		return one
	}
	plain, free := waiting(), waiting()
	plain.Label = ""
	both := k
	both.Hosts = append(both.Hosts[:1:1], remote.ServerHost{Name: "h9", Here: true, Free: 1, Projects: []string{"web"},
		Harness: []string{"claude"}, Labels: []string{"gpu"}})
	for _, one := range []struct {
		k    remote.ServerView
		t    remote.ServerTask
		want string
	}{
		{k, plain, "no host with claude and a free place for web (h1 full)"},
		{k, waiting(), "no host with claude and a free place for web and the label gpu (h1 full)"},
		{remote.ServerView{Hosts: both.Hosts[1:]}, free,
			"no host with claude and a free place for web and the label gpu has taken it yet"},
		{both, to("h1"), "h1 full"}, {both, to("h9"), "h9 has not taken it yet"},
		{both, to("h8"), "the fleet has no host h8"},
	} {
		if got, hosts := one.k.Why(one.t); got != one.want || hosts == nil {
			t.Errorf("it says %q of %v, want %q", got, hosts, one.want)
		}
	}
}

func TestMissing_isWhatItsHostHasSaid(t *testing.T) {
	t.Parallel()
	for attention, missing := range map[string]bool{"": false, "crash 1": false, remote.NotOnRecord: true,
		remote.NotOnRecord + ": look": true} {
		one := remote.ServerTask{}
		one.Attention = attention
		if one.Missing() != missing {
			t.Errorf("%q: %t", attention, !missing)
		}
	}
}

func TestLastTold_saysHowOldARowIs(t *testing.T) {
	t.Parallel()
	told := remote.ServerTask{Told: time.Date(2024, 5, 6, 12, 2, 58, 0, time.UTC), Event: 31}
	if got := told.LastTold(time.UTC); got != "last told 12:02:58 (event 31)" {
		t.Error(got)
	}
	if got := (remote.ServerTask{}).LastTold(time.UTC); got != "not told of yet" {
		t.Error(got)
	}
}

// A host that is a part of a fleet with a server is one of the hosts that the server names.
func TestAll_hasThisHostOnlyWhereTheServerNamesIt(t *testing.T) {
	t.Parallel()
	hosts := []remote.Host{{Name: "h1"}, {Name: "h2"}}
	if all := (remote.Fleet{Name: "h1", Server: "x:1", Hosts: hosts}).All(); len(all) != 2 || all[0].Here {
		t.Errorf("with a server: %+v", all)
	}
	if all := (remote.Fleet{Name: "here", Hosts: hosts}).All(); len(all) != 3 || !all[0].Here {
		t.Errorf("without one: %+v", all)
	}
}
