package setup

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orange/fleet/wire"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// Check refuses a setup that fleet.yml could not say.
func (s Setup) Check() error {
	_, err := Parse("fleet.yml", s.text("/"))
	return err
}

// Write replaces fleet.yml below a home. Paths below the folder of the file are written without it.
func Write(home string, s Setup) error {
	text := s.text(Dir(home))
	if _, err := Parse(Path(home), text); err != nil { // it could not be read any more
		return err
	}
	if err := os.MkdirAll(Dir(home), task.PrivateFolder); err != nil {
		return fmt.Errorf("write the setup of the fleet: %w", err)
	}
	return proc.ReplaceFile(Path(home), text)
}

func (s Setup) text(dir string) []byte {
	for _, file := range s.paths() {
		if below, err := filepath.Rel(dir, *file); err == nil && filepath.IsAbs(*file) && filepath.IsLocal(below) {
			*file = below
		}
	}
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	b.WriteString("# \"orange-fleet join\" and \"serve --init\" write this file; comments are not kept.\n")
	line("server", quoted(s.Server))
	line("namespace", quoted(s.Namespace))
	if s.TLS != (Files{}) {
		line("tls", fmt.Sprintf("{ca: %s, cert: %s, key: %s}", quoted(s.TLS.CA), quoted(s.TLS.Certificate),
			quoted(s.TLS.Key)))
	}
	line("codec_key_file", quoted(s.CodecKeyFile))
	line("person", quoted(s.Person))
	line("signing_key", quoted(s.SigningKey))
	line("name", quoted(s.Name))
	var labels []string
	for _, label := range s.Labels {
		if label != wire.AnyLabel {
			labels = append(labels, label)
		}
	}
	line("labels", list(labels))
	line("projects", list(s.Projects))
	line("ssh", quoted(s.SSH))
	line("snapshots", quoted(s.Snapshots))
	s.lessUsual(line)
	return []byte(b.String())
}

// lessUsual are the lines of what is as usual in most files, which then do not say it.
func (s Setup) lessUsual(line func(key, value string)) {
	if s.SnapshotEvery != UsualSnapshotEvery {
		line("snapshot_every", s.SnapshotEvery.String())
	}
	if s.BiggestFile != UsualBiggestFile {
		for _, unit := range units() {
			if s.BiggestFile%unit.bytes == 0 {
				line("biggest_file", fmt.Sprint(s.BiggestFile/unit.bytes, unit.name))
				break
			}
		}
	}
	if !s.Signed {
		line("signed", off)
	}
	if s.Patience != UsualPatience {
		line("patience", s.Patience.String())
	}
}

func list(names []string) string {
	var quotes []string
	for _, name := range names {
		quotes = append(quotes, quoted(name))
	}
	if quotes == nil {
		return ""
	}
	return "[" + strings.Join(quotes, ", ") + "]"
}

// quoted is a text as a YAML file has it; JSON is YAML. No text is no value.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	encoded, err := json.Marshal(text)
	if err != nil { // a text can always be encoded
		return ""
	}
	return string(encoded)
}
