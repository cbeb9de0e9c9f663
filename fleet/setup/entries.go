package setup

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/fleet/wire"
	"orange/internal/api/remote"
	"orange/internal/rules/yaml"
)

// entry is a key of fleet.yml: how it is read, and what the file says of it, which is nothing for what is as usual.
type entry struct {
	yaml.Key
	text string
}

// fields makes entries of the fields of a setup.
type fields struct{ *yaml.Reader }

// entries are the keys of fleet.yml, in the order in which it is written.
func (s *Setup) entries(r *yaml.Reader) []entry {
	f := fields{r}
	server, namespace := f.word("server", &s.Server), f.name("namespace", "fleet", &s.Namespace)
	server.Required, namespace.Required = true, true
	return []entry{server, namespace,
		{yaml.May("tls", func(n *yaml.Node) { s.TLS = f.files(n) }), s.TLS.text()},
		f.word("codec_key_file", &s.CodecKeyFile),
		f.name("person", "person", &s.Person),
		f.word("signing_key", &s.SigningKey),
		f.name("name", "host", &s.Name),
		f.list("labels", &s.Labels, func(n *yaml.Node) string { return f.checked(n, "label") }),
		f.list("projects", &s.Projects, func(n *yaml.Node) string { return f.Name(n, "project") }),
		{yaml.May("ssh", func(n *yaml.Node) { s.SSH = f.reachable(n) }), quote(s.SSH)},
		f.word("snapshots", &s.Snapshots),
		f.duration("snapshot_every", &s.SnapshotEvery, UsualSnapshotEvery, longestPause),
		{yaml.May("biggest_file", func(n *yaml.Node) { s.BiggestFile = f.size(n) }), sizeText(s.BiggestFile)},
		{yaml.May("signed", func(n *yaml.Node) { s.Signed = f.OneOf(n, "signed", "required", off) != off }),
			unusual(s.Signed, true, off)},
		f.duration("patience", &s.Patience, UsualPatience, longestPatience),
	}
}

// off is the word of the key signed for a host where the login is the proof.
const off = "off"

// unusual is a text, if a value is not the usual one.
func unusual[T comparable](value, usual T, text string) string {
	if value == usual {
		return ""
	}
	return text
}

func (f fields) word(key string, into *string) entry {
	return entry{yaml.May(key, func(n *yaml.Node) { *into = f.Name(n, key) }), quote(*into)}
}

func (f fields) name(key, what string, into *string) entry {
	return entry{yaml.May(key, func(n *yaml.Node) { *into = f.checked(n, what) }), quote(*into)}
}

func (f fields) duration(key string, into *time.Duration, usual, most time.Duration) entry {
	return entry{yaml.May(key, func(n *yaml.Node) { *into = f.Duration(n, key, most) }),
		unusual(*into, usual, into.String())}
}

// list is a list of names. The label that every host has is not written.
func (f fields) list(key string, into *[]string, read func(*yaml.Node) string) entry {
	var quotes []string
	for _, name := range *into {
		if name != wire.AnyLabel {
			quotes = append(quotes, quote(name))
		}
	}
	return entry{yaml.May(key, func(n *yaml.Node) {
		f.List(n, key, func(n *yaml.Node) {
			if name := read(n); name != "" && !slices.Contains(*into, name) {
				*into = append(*into, name)
			}
		})
	}), unusual(len(quotes), 0, "["+strings.Join(quotes, ", ")+"]")}
}

// checked is the name of a fleet, a host, a person or a label.
func (f fields) checked(n *yaml.Node, what string) string {
	name := f.Name(n, what)
	if err := wire.CheckName(what, name); name != "" && err != nil {
		f.Problem(yaml.PosOf(n), "value", "%v", err)
	}
	return name
}

// reachable is a host as ssh reaches it.
func (f fields) reachable(n *yaml.Node) string {
	way := f.Name(n, "ssh")
	if err := (remote.Host{Name: "host", SSH: way}).Check(); way != "" && err != nil {
		f.Problem(yaml.PosOf(n), "value", "%v", err)
	}
	return way
}

func (f fields) files(n *yaml.Node) (files Files) {
	f.Mapping(n, "tls", []yaml.Key{
		yaml.Must("ca", func(n *yaml.Node) { files.CA = f.Text(n, "ca") }),
		yaml.Must("cert", func(n *yaml.Node) { files.Certificate = f.Text(n, "cert") }),
		yaml.Must("key", func(n *yaml.Node) { files.Key = f.Text(n, "key") }),
	})
	return files
}

func (f Files) text() string {
	return unusual(f, Files{}, fmt.Sprintf("{ca: %s, cert: %s, key: %s}", quote(f.CA), quote(f.Certificate),
		quote(f.Key)))
}

// unit is one of sizes.
type unit struct {
	name  string
	bytes int64
}

// units are those of sizes, the greatest first.
func units() []unit { return []unit{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} }

// size reads a number of bytes such as 50MB.
func (f fields) size(n *yaml.Node) int64 {
	text := f.Text(n, "biggest_file")
	for _, unit := range units() {
		number, is := strings.CutSuffix(text, unit.name)
		if count, err := strconv.ParseInt(number, 10, 32); is && err == nil && count > 0 {
			return count * unit.bytes
		}
	}
	if text != "" {
		f.Problem(yaml.PosOf(n), "value", "found %q as biggest_file, expected a size such as %q", text, "50MB")
	}
	return UsualBiggestFile
}

func sizeText(bytes int64) string {
	for _, unit := range units() {
		if bytes%unit.bytes == 0 {
			return unusual(bytes, UsualBiggestFile, fmt.Sprint(bytes/unit.bytes, unit.name))
		}
	}
	return ""
}

// quote is a text as a YAML file has it; JSON is YAML. No text is no value.
func quote(text string) string {
	if text == "" {
		return ""
	}
	encoded, err := json.Marshal(text)
	if err != nil { // a text can always be encoded
		return ""
	}
	return string(encoded)
}
