package tmux

import (
	"bytes"
	"fmt"
	"strings"

	"orange/internal/run/proc"
)

// Keys of the private server that work without a prefix. They are all that a person has to know.
const (
	KeyBack = "F12" // leaves the session: back to where the person came from
	keyNext = "F11" // shows the next window of the task
)

// essential comes after the user's own configuration, because Orange's sight depends on it:
// without remain-on-exit a crash looks like a kill, and a window that renames itself is not found by its name.
// A prefix is not bound at all, so inside the user's own tmux theirs stays the only one.
// screen-256color and not tmux-256color: the latter is missing on many machines, and programs refuse to start then.
// update-environment is empty, so that who attaches does not change what later agents get.
// destroy-unattached and its kin would end the agents when a person leaves.
// The middle button pastes nothing: tmux would take the newest buffer, and that may be a text that is kept (see Keep).
// The hooks are what AwaitDeath waits for.
const essential = `set-option -g remain-on-exit on
set-option -g automatic-rename off
set-option -g allow-rename off
set-option -g set-titles off
set-option -g prefix None
set-option -g prefix2 None
set-option -g destroy-unattached off
set-option -g detach-on-destroy on
set-option -g default-terminal screen-256color
set-option -g update-environment ""
set-option -s exit-unattached off
set-option -s exit-empty on
bind-key -n ` + KeyBack + ` detach-client
bind-key -n ` + keyNext + ` next-window
bind-key -n MouseDown2Pane select-pane -t =
set-hook -g pane-died[` + hookPlace + `] ` + announceDeath + `
set-hook -g pane-exited[` + hookPlace + `] ` + announceDeath + `
set-hook -g window-unlinked[` + hookPlace + `] ` + announceDeath + `
set-hook -g session-closed[` + hookPlace + `] ` + announceDeath + `
`

// pleasant comes before the user's own configuration, which may think otherwise.
const pleasant = `set-option -g history-limit 50000
set-option -g default-size 120x40
set-option -g mouse on
set-option -s escape-time 10
set-option -g status on
set-option -g status-left-length 90
set-option -g status-left "#{session_name}  "
set-option -g status-right-length 40
set-option -g status-right " ` + keyNext + ` next window  ` + KeyBack + ` back "
`

// Configuration is the text of the server's configuration file.
// A user's file, when one is named by its absolute path, is read too, and may change all but what Orange depends on.
// A file that is missing is passed over.
func Configuration(userConfig string) string {
	if userConfig == "" {
		return pleasant + essential
	}
	return pleasant + "source-file -q " + quote(userConfig) + "\n" + essential
}

// Configure writes the server's configuration file, unless it has the text already.
func (s *Server) Configure(userConfig string) error {
	want := []byte(Configuration(userConfig))
	have, err := proc.ReadFile(s.Config)
	if err == nil && bytes.Equal(have, want) {
		return nil
	}
	if err := proc.ReplaceFile(s.Config, want); err != nil {
		return fmt.Errorf("write the configuration of tmux: %w", err)
	}
	return nil
}

// quote writes a path for two readers: tmux's parser, and the glob to which source-file hands it.
func quote(path string) string {
	glob := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	parser := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "\n", `\n`)
	return `"` + parser.Replace(glob.Replace(path)) + `"`
}
