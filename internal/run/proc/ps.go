package proc

import (
	"context"
	"os/exec"
)

// psCommand asks ps, in one language and one time zone: by the words in which ps says when a process began, every other
// process knows it again.
func psCommand(args ...string) *exec.Cmd {
	ps := Command{Name: "/bin/ps", Args: args, Env: []string{"LC_ALL=C", "TZ=UTC"}}
	return ps.prepared(context.Background())
}
