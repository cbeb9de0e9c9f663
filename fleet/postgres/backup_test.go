package postgres_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orange/fleet/setup"
	"orange/fleet/testkit"
	"orange/fleet/wire"
)

// A copy of the database that was made while all programs ran brings the custodies back, and "doctor --tell" those
// that have begun since. A task that was rescued since is named, and a rescue to the host that has it gives it back.
// Nothing that a host has done is lost.
func TestABackupOfTheDatabaseBringsTheCustodiesBack(t *testing.T) {
	needServer(t)
	l := newLab(t, false, "h1", "h2")
	ada := l.hosts["ada"]
	before := l.begun("Before", 1, wire.HostPlace+"h1")[0].Task
	rescued := l.createdFromAfar("h2", "feat/rescued")
	l.until("a snapshot", func() bool { return l.custody(rescued).Row.Shipped > 0 })
	l.backs()
	l.does(ada.Program("fleet", "move", before, "b"))
	since := l.begun("Since", 1, wire.HostPlace+"h1")[0].Task
	l.does(ada.Program("fleet", "rescue", rescued, "--to", "h1", "--now", "h2 gets another disk"))
	last := l.held(rescued, "h1")
	l.serverDoes("kill")
	l.restores()
	l.server = l.serverDoes("start")
	l.until("a server that answers", func() bool { return ada.Program("fleet", "list").Run() == nil })
	if c := l.custody(since); c.Phase != "" {
		t.Errorf("the backup has what came after it: %+v", c)
	}
	said, err := fleetProgram(l.hosts["h1"], "doctor", "--tell").CombinedOutput()
	if c := l.custody(rescued); err == nil || !strings.Contains(string(said), rescued) || c.Host != "h2" {
		t.Errorf("the task that was rescued since is not named: %v: %s: %+v", err, said, c)
	}
	l.does(ada.Program("fleet", "rescue", rescued, "--to", "h1", "--now", "h1 has it since before the restore"))
	for _, id := range []string{before, since, rescued} {
		l.held(id, "h1")
	}
	l.until("the statuses that the backup did not have", func() bool {
		c := l.custody(rescued)
		return l.custody(before).Row.Status == "b" && c.Row.Head.Event >= last.Row.Head.Event
	})
	l.does(ada.Program("fleet", "move", before, "a"))
	l.does(ada.Program("fleet", "move", since, "b"))
	l.elsewhere(before)
}

// elsewhere loses the repository with the snapshots, and has a host push to a new one at another address.
func (l *lab) elsewhere(id string) {
	l.t.Helper()
	testkit.Must(l.t, os.RemoveAll(filepath.Join(l.dir, "vault.git")))
	vault := filepath.Join(l.dir, "new.git")
	l.does(exec.Command("git", "init", "-q", "--bare", vault))
	home := filepath.Join(l.hosts["h1"].Dir, "orange")
	s, err := setup.Read(home)
	testkit.Must(l.t, err)
	s.Snapshots = vault
	l.daemons["h1"].ends(syscall.SIGTERM)
	testkit.Must(l.t, setup.Write(home, s))
	l.daemons["h1"] = l.starts(fleetProgram(l.hosts["h1"], "host"))
	l.until("a snapshot in the new repository", func() bool {
		refs := l.does(exec.Command("git", "-C", vault, "for-each-ref", "--format=%(refname)"))
		return strings.Contains(refs, "refs/orange/fleet/"+id+"/record")
	})
}

// backs copies the database while it runs, as the manual does it.
func (l *lab) backs() {
	l.t.Helper()
	at := filepath.Join(l.dir, "server")
	port, err := os.ReadFile(filepath.Join(at, "orange-fleet-server"))
	testkit.Must(l.t, err)
	word, err := os.ReadFile(filepath.Join(at, "password"))
	testkit.Must(l.t, err)
	cmd := exec.Command("pg_basebackup", "-h", "127.0.0.1", "-p", strings.TrimSpace(string(port)), "-U", "temporal",
		"-D", filepath.Join(l.dir, "backup"), "-X", "stream", "-c", "fast")
	cmd.Env = append(os.Environ(), "PGPASSWORD="+strings.TrimSpace(string(word)))
	l.does(cmd)
}

// restores puts the copy in the place of the database.
func (l *lab) restores() {
	l.t.Helper()
	now, backup := filepath.Join(l.dir, "server", "postgres"), filepath.Join(l.dir, "backup")
	is, err := os.Stat(now)
	testkit.Must(l.t, err)
	owner := is.Sys().(*syscall.Stat_t)
	l.does(exec.Command("chown", "-R", strconv.Itoa(int(owner.Uid))+":"+strconv.Itoa(int(owner.Gid)), backup))
	testkit.Must(l.t, os.RemoveAll(now))
	testkit.Must(l.t, os.Rename(backup, now))
}
