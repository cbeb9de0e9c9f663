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
		return "# systemd: ~/.config/systemd/user/orange-monitor.service, then: systemctl --user enable --now orange-monitor\n" + h.systemd() +
			"\n# launchd: ~/Library/LaunchAgents/orange.monitor.plist, then: launchctl load ~/Library/LaunchAgents/orange.monitor.plist\n" + h.launchd(), nil
	}
	return "", task.Notef(task.ErrUsage, "found %q as the kind of unit, expected systemd or launchd", kind)
}

// systemd ends the monitor alone when it stops the unit: the agents, whose terminal the monitor may have started, live on.
func (h *house) systemd() string {
	quote := func(text string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(text) + `"`
	}
	setting := func(name, value string) string { // a dollar stands for itself here
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(name+"="+value) + `"`
	}
	return `[Unit]
Description=Orange watches the agents of ` + strings.ReplaceAll(h.dir, "%", "%%") + `

[Service]
ExecStart=` + quote(h.self) + ` monitor
Environment=` + setting("ORANGE_HOME", h.dir) + ` ` + setting("PATH", os.Getenv("PATH")) + `
Restart=on-failure
KillMode=process

[Install]
WantedBy=default.target
`
}

func (h *house) launchd() string {
	text := func(s string) string {
		var out strings.Builder
		_ = xml.EscapeText(&out, []byte(s)) // a strings.Builder takes everything
		return "<string>" + out.String() + "</string>"
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
		<key>ORANGE_HOME</key>
		` + text(h.dir) + `
		<key>PATH</key>
		` + text(os.Getenv("PATH")) + `
	</dict>
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
