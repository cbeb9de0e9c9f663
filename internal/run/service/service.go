// Package service writes the files with which the system's supervisor, systemd or launchd, keeps a monitor running, or
// another program of Orange.
package service

import (
	"encoding/xml"
	"path/filepath"
	"strings"

	"orange/internal/rules/task"
)

// Unit is a service that runs the monitor of one home.
type Unit struct {
	Home        string      // $ORANGE_HOME
	Program     string      // the path of orange
	Environment [][2]string // names and values; above all where the terminals of the agents are
	Purpose     Purpose     // empty for the monitor
}

// Purpose is what a service is for.
type Purpose struct {
	Name    string // of the service, such as orange-monitor
	Command string // the word behind the program
	About   string // the beginning of its description, before the home
}

func (u Unit) purpose() Purpose {
	if u.Purpose == (Purpose{}) {
		return Purpose{Name: "orange-monitor", Command: "monitor", About: "Orange watches the agents of"}
	}
	return u.Purpose
}

// label is the name as launchd has it.
func (p Purpose) label() string { return strings.ReplaceAll(p.Name, "-", ".") }

// Environment is what a monitor needs that no login shell has prepared.
func Environment(home string, getenv func(string) string) [][2]string {
	out := [][2]string{{"ORANGE_HOME", home}, {"PATH", getenv("PATH")}}
	if dir := getenv("TMUX_TMPDIR"); dir != "" {
		out = append(out, [2]string{"TMUX_TMPDIR", dir})
	}
	return out
}

// Text is the file of a kind of supervisor: systemd, launchd, or all of them with a comment each.
func (u Unit) Text(kind string) (string, error) {
	switch kind {
	case "systemd":
		return u.systemd(), nil
	case "launchd":
		return u.launchd(), nil
	case "all":
		name, label := u.purpose().Name, u.purpose().label()
		return "# systemd: ~/.config/systemd/user/" + name + ".service, then: systemctl --user enable --now " +
			name + "\n" + u.systemd() +
			"\n# launchd: ~/Library/LaunchAgents/" + label + ".plist, then: launchctl load " +
			"~/Library/LaunchAgents/" + label + ".plist\n" + u.launchd(), nil
	}
	return "", task.Notef(task.ErrUsage, "found %q as the kind of unit, expected systemd or launchd", kind)
}

// systemd ends the monitor alone when it stops the unit: the agents, whose terminal the monitor may have started,
// live on.
func (u Unit) systemd() string {
	quote := func(text string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(text) + `"`
	}
	setting := func(name, value string) string { // a dollar is literal here
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(name+"="+value) + `"`
	}
	var all []string
	for _, pair := range u.Environment {
		all = append(all, setting(pair[0], pair[1]))
	}
	settings := strings.Join(all, " ")
	return `# What agents need, keys above all, is not here: orange env set NAME
[Unit]
Description=` + u.purpose().About + ` ` + strings.ReplaceAll(u.Home, "%", "%%") + `
StartLimitIntervalSec=0

[Service]
ExecStart=` + quote(u.Program) + ` ` + u.purpose().Command + `
Environment=` + settings + `
Restart=on-failure
RestartSec=5
KillMode=process

[Install]
WantedBy=default.target
`
}

func (u Unit) launchd() string {
	text := func(s string) string {
		var out strings.Builder
		_ = xml.EscapeText(&out, []byte(s)) // a strings.Builder takes everything
		return "<string>" + out.String() + "</string>"
	}
	variables := ""
	for _, pair := range u.Environment {
		variables += "\t\t<key>" + pair[0] + "</key>\n\t\t" + text(pair[1]) + "\n"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- What agents need, keys above all, is not here: orange env set NAME -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + u.purpose().label() + `</string>
	<key>ProgramArguments</key>
	<array>
		` + text(u.Program) + `
		<string>` + u.purpose().Command + `</string>
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
	` + text(filepath.Join(u.Home, strings.TrimPrefix(u.purpose().Name, "orange-")+".err")) + `
</dict>
</plist>
`
}
