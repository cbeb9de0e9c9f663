package socket

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"orange/internal/rules/task"
)

const (
	name    = "server.sock"
	longest = 103 // bytes of a path that every system takes for a socket
)

// place is where the socket of a home is: in the home, or, where that has too long a path, in a folder of the user's
// own that is named by the home. No variable has a say in it.
func place(home string) string {
	if at := filepath.Join(home, name); len(at) <= longest {
		return at
	}
	digest := sha256.Sum256([]byte(home))
	const enough = 8
	return filepath.Join("/tmp", "orange-"+strconv.Itoa(os.Getuid())+"-"+hex.EncodeToString(digest[:enough]), name)
}

// checkFolder refuses a folder that is not the user's alone: who can write there could answer in the server's place.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the folder of the server's socket: %w", err)
	}
	const others = 0o022
	owner, known := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !known || int(owner.Uid) != os.Getuid() || info.Mode()&others != 0 {
		return fmt.Errorf("cannot use %q for the socket of the server: it is no folder that you alone can write; "+
			"correct that, or move it away", dir)
	}
	return nil
}

// makeFolder makes the folder of a socket that is not in the home.
func makeFolder(dir string) error {
	if err := os.Mkdir(dir, task.PrivateFolder); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make the folder of the server's socket: %w", err)
	}
	return checkFolder(dir)
}
