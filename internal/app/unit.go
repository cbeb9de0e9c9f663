package app

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"

	"orange/internal/task"
)

// Unit is the text with which the system's own supervisor keeps a monitor running.
func (h *house) Unit(kind string) (string, error) {
	switch kind {
	case "systemd":
		return h.systemd(), nil
	case "launchd":
		return h.launchd(), nil
	case "all":
		return "# systemd: ~/.config/systemd/user/orange-monitor.service, then: systemctl --user enable --now " +
			"orange-monitor\n" + h.systemd() +
			"\n# launchd: ~/Library/LaunchAgents/orange.monitor.plist, then: launchctl load " +
			"~/Library/LaunchAgents/orange.monitor.plist\n" + h.launchd(), nil
	}
	return "", task.Notef(task.ErrUsage, "found %q as the kind of unit, expected systemd or launchd", kind)
}

// systemd ends the monitor alone when it stops the unit: the agents, whose terminal the monitor may have started,
// live on.
func (h *house) systemd() string {
	quote := func(text string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(text) + `"`
	}
	setting := func(name, value string) string { // a dollar stands for itself here
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(name+"="+value) + `"`
	}
	var all []string
	for _, pair := range h.unitEnvironment() {
		all = append(all, setting(pair[0], pair[1]))
	}
	settings := strings.Join(all, " ")
	return `[Unit]
Description=Orange watches the agents of ` + strings.ReplaceAll(h.dir, "%", "%%") + `
StartLimitIntervalSec=0

[Service]
ExecStart=` + quote(h.self) + ` monitor
Environment=` + settings + `
Restart=on-failure
RestartSec=5
KillMode=process

[Install]
WantedBy=default.target
`
}

// unitEnvironment is what a monitor needs that no login shell has prepared: above all where the terminals of the
// agents are.
func (h *house) unitEnvironment() [][2]string {
	out := [][2]string{{"ORANGE_HOME", h.dir}, {"PATH", os.Getenv("PATH")}}
	if where := os.Getenv("TMUX_TMPDIR"); where != "" {
		out = append(out, [2]string{"TMUX_TMPDIR", where})
	}
	return out
}

func (h *house) launchd() string {
	text := func(s string) string {
		var out strings.Builder
		_ = xml.EscapeText(&out, []byte(s)) // a strings.Builder takes everything
		return "<string>" + out.String() + "</string>"
	}
	variables := ""
	for _, pair := range h.unitEnvironment() {
		variables += "\t\t<key>" + pair[0] + "</key>\n\t\t" + text(pair[1]) + "\n"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>orange.monitor</string>
	<key>ProgramArguments</key>
	<array>
		` + text(h.self) + `
		<string>monitor</string>
	</array>
	<key>EnvironmentVariables</key>
	<dict>
` + variables + `	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>AbandonProcessGroup</key>
	<true/>
	<key>StandardErrorPath</key>
	` + text(filepath.Join(h.dir, "monitor.err")) + `
</dict>
</plist>
`
}
