package postgres_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orange/fleet/custody"
	"orange/fleet/wire"
)

// A copy of the database that was made while all programs ran brings the custodies back, and "doctor --tell" those
// that have begun since. Nothing that a host has done is lost.
func TestABackupOfTheDatabaseBringsTheCustodiesBack(t *testing.T) {
	needServer(t)
	l := newLab(t, false, "h1")
	ada := l.hosts["ada"]
	before := l.begun("Before", 1, wire.AnyLabel)[0].Task
	l.backs()
	l.does(ada.Program("fleet", "move", before, "b"))
	since := l.begun("Since", 1, wire.AnyLabel)[0].Task
	l.serverDoes("kill")
	l.restores()
	l.server = l.serverDoes("start")
	l.until("a server that answers", func() bool { return ada.Program("fleet", "list").Run() == nil })
	if c := l.custody(since); c.Phase != "" {
		t.Errorf("the backup has what came after it: %+v", c)
	}
	l.does(fleetProgram(l.hosts["h1"], "doctor", "--tell"))
	for _, id := range []string{before, since} {
		l.until("custody of "+id, func() bool {
			c := l.custody(id)
			return c.Phase == string(custody.Held) && c.Host == "h1"
		})
	}
	l.until("the status that the backup did not have", func() bool { return l.custody(before).Row.Status == "b" })
	l.does(ada.Program("fleet", "move", before, "a"))
	l.does(ada.Program("fleet", "move", since, "b"))
	l.until("both in the list", func() bool {
		said := l.does(ada.Program("fleet", "list", "--project", project, "--json"))
		return strings.Contains(said, before) && strings.Contains(said, since)
	})
}

// backs copies the database while it runs, as the manual does it.
func (l *lab) backs() {
	l.t.Helper()
	at := filepath.Join(l.dir, "server")
	port, err := os.ReadFile(filepath.Join(at, "orange-fleet-server"))
	must(l.t, err)
	word, err := os.ReadFile(filepath.Join(at, "password"))
	must(l.t, err)
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
	must(l.t, err)
	owner := is.Sys().(*syscall.Stat_t)
	l.does(exec.Command("chown", "-R", strconv.Itoa(int(owner.Uid))+":"+strconv.Itoa(int(owner.Gid)), backup))
	must(l.t, os.RemoveAll(now))
	must(l.t, os.Rename(backup, now))
}
