package main_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// fleetHosts are the hosts that a story can reach by ssh.
func fleetHosts() []string { return []string{"big", "lab", "odd"} }

// The stories of a fleet. A program takes the place of ssh, and runs each command as a login at the host would.
func TestFleetStories(t *testing.T) {
	t.Parallel()
	tellOfFleets(t, standIn)
}

// The same stories and commands over a real ssh and a real sshd on loopback.
func TestFleetOverSSH(t *testing.T) {
	t.Parallel()
	needSSHD(t)
	t.Run("stories", func(t *testing.T) {
		t.Parallel()
		tellOfFleets(t, func(dir string) (func(), error) { return overSSHD(dir, fleetHosts()) })
	})
	t.Run("commands", func(t *testing.T) {
		t.Parallel()
		compareBothWays(t, func(dir string) (func(), error) { return overSSHD(dir, []string{"big"}) })
	})
}

// needSSHD skips what needs the server of ssh.
func needSSHD(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it logs in two hundred times")
	}
	for _, program := range []string{"/usr/bin/ssh", "/usr/bin/ssh-keygen", "/usr/sbin/sshd"} {
		if _, err := os.Stat(program); err != nil {
			t.Skipf("%s is not installed (Debian: apt-get install openssh-server)", program)
		}
	}
	const confined = "/run/sshd" // where a server of root confines itself before someone has logged in
	if os.Getuid() == 0 && os.Mkdir(confined, 0o755) == nil {
		t.Cleanup(func() { _ = os.Remove(confined) })
	}
}

// tellOfFleets tells the stories. Connect puts a program ssh into the folder bin of a story.
func tellOfFleets(t *testing.T, connect func(dir string) (func(), error)) {
	t.Helper()
	if testing.Short() {
		t.Skip("the fleet's stories are not in a short run")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/fleet", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			if err := setUp(env, ""); err != nil {
				return err
			}
			for _, name := range fleetHosts() {
				home := filepath.Join(env.WorkDir, "hosts", name, "orange")
				sockets := env.Getenv("TMUX_TMPDIR")
				env.Defer(func() { endServers(sockets, home) })
			}
			env.Setenv("PATH", filepath.Join(env.WorkDir, "bin")+string(os.PathListSeparator)+env.Getenv("PATH"))
			if err := writeLogin(env.WorkDir, env.Vars); err != nil {
				return err
			}
			stop, err := connect(env.WorkDir)
			env.Defer(stop)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "keep": keep, "await": await, "repo": makeRepo, "harness": makeHarness,
		},
	})
}

// writeLogin writes the program that runs a command as a login at a host does: with the host's home, in its folder. A
// host that is down is refused, and the answer of one that is cut off gets lost, so often as its file "cut" has lines.
func writeLogin(dir string, environment []string) error {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# usage: login HOST COMMAND\n")
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		if name != "ORANGE_SEAT" && !strings.ContainsAny(name, "/${}:") {
			fmt.Fprintf(&b, "export %s='%s'\n", name, value)
		}
	}
	fmt.Fprintf(&b, `dir='%s/hosts/'$1
if [ ! -d "$dir" ] || [ -e "$dir/down" ]; then
	echo "ssh: connect to host $1 port 22: Connection refused" >&2
	exit 255
fi
cd "$dir"
export HOME="$dir" ORANGE_HOME="$dir/orange"
if [ -e "$dir/cut" ]; then
	cat >"$dir/call"
	if grep -q '"argv"' "$dir/call"; then
		sed -i 1d "$dir/cut"
		test -s "$dir/cut" || rm "$dir/cut"
		sh -c "$2" <"$dir/call" >/dev/null 2>&1
		exit 255
	fi
	exec sh -c "$2" <"$dir/call"
fi
exec sh -c "$2"
`, dir)
	return os.WriteFile(filepath.Join(dir, "login"), []byte(b.String()), 0o755)
}

// standIn is a program ssh that runs the command on this machine.
func standIn(dir string) (stop func(), err error) {
	text := `#!/bin/sh
while [ "$1" != -- ]; do shift; done
host=$2
shift 2
exec '` + dir + `/login' "$host" "$*"
`
	return func() {}, writeProgram(dir, "ssh", text)
}

func writeProgram(dir, name, text string) error {
	path := filepath.Join(dir, "bin", name)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755))
}

// overSSHD is a program ssh that goes by loopback to a real server, one for each host, with keys of their own.
func overSSHD(dir string, hosts []string) (stop func(), err error) {
	keys := filepath.Join(dir, "keys")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return func() {}, err
	}
	for _, key := range []string{"host", "person"} {
		made := exec.Command("/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(keys, key))
		if out, err := made.CombinedOutput(); err != nil {
			return func() {}, fmt.Errorf("make a key: %w: %s", err, out)
		}
	}
	config := fmt.Sprintf("IdentityFile %s/person\nIdentitiesOnly yes\nUserKnownHostsFile %s/known\n"+
		"StrictHostKeyChecking accept-new\nLogLevel ERROR\nHostName 127.0.0.1\n"+
		"KexAlgorithms curve25519-sha256\n", keys, keys)
	var stops []func()
	stop = func() {
		for _, one := range stops {
			one()
		}
	}
	for _, host := range hosts {
		port, end, err := serveSSH(dir, keys, host)
		if err != nil {
			return stop, err
		}
		stops = append(stops, end)
		config += fmt.Sprintf("Host %s\nPort %d\n", host, port)
	}
	config += "Host nowhere\nPort 1\n"
	path := filepath.Join(dir, "ssh_config")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return stop, err
	}
	return stop, writeProgram(dir, "ssh", "#!/bin/sh\nexec /usr/bin/ssh -F '"+path+"' \"$@\"\n")
}

// serveSSH has sshd answer each connection to a port of loopback, until it is stopped.
func serveSSH(dir, keys, host string) (port int, stop func(), err error) {
	path := filepath.Join(keys, "sshd_"+host)
	config := fmt.Sprintf("HostKey %s/host\nAuthorizedKeysFile %s/person.pub\nStrictModes no\nUsePAM no\n"+
		"PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nPidFile none\n"+
		"LogLevel ERROR\nForceCommand %s/login %s \"$SSH_ORIGINAL_COMMAND\"\n", keys, keys, dir, host)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return 0, nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() { serveOne(connection, path) })
		}
	})
	_, text, err := net.SplitHostPort(listener.Addr().String())
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	return port, func() { _ = listener.Close(); served.Wait() }, err
}

// serveOne has sshd answer one connection.
func serveOne(connection net.Conn, config string) {
	defer connection.Close()
	file, err := connection.(*net.TCPConn).File()
	if err != nil {
		return
	}
	defer file.Close()
	server := exec.Command("/usr/sbin/sshd", "-i", "-f", config)
	server.Stdin, server.Stdout = file, file
	_ = server.Run()
}
