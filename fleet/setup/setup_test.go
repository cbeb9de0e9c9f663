package setup_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"orange/fleet/setup"
	"orange/fleet/testkit"
	"orange/internal/rules/task"
)

func TestParse_namesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"server: x\n":                                   `namespace`,
		"server: x\nnamespace: Home\n":                  `"Home"`,
		"server: x\nnamespace: home\nname: -oProxy=x\n": `-oProxy`,
		"server: x\nnamespace: home\nmore: 1\n":         `more`,
		"server: x\nnamespace: home\ntls: {ca: a}\n":    `cert`,
		"server: x\nnamespace: home\nlabels: [A]\n":     `"A"`,
		"server: x\nnamespace: home\nssh: -oProxy=x\n":  `-oProxy`,
		"server: x\nnamespace: home\nsigned: no\n":      `"required"`,
		"server: x\nnamespace: home\nbiggest_file: 5\n": `"50MB"`,
	} {
		if _, err := setup.Parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRead_saysWhatToWriteWhereThereIsNoFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if _, err := setup.Read(home); !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), "server:") {
		t.Errorf("none: %v", err)
	}
	testkit.Must(t, os.Mkdir(setup.Dir(home), 0o700))
	text := []byte("server: x\nnamespace: home\n")
	testkit.Must(t, os.WriteFile(filepath.Join(setup.Dir(home), "fleet.yml"), text, 0o600))
	if got, err := setup.Read(home); err != nil || got.Server != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestConfig_ofNoFilesIsNoEncryption(t *testing.T) {
	t.Parallel()
	if c, err := (setup.Files{}).Config(); c != nil || err != nil {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := (setup.Files{CA: "a", Certificate: "b", Key: "c"}).Config(); err == nil {
		t.Error("files that are not there are no error")
	}
}

func TestParse_readsWhatAHostAndAPersonSetUp(t *testing.T) {
	t.Parallel()
	s := setup.Setup{Server: "x:7233", Namespace: "home", Name: "h1", Labels: []string{"any", "gpu"},
		Projects: []string{"web"}, SSH: "me@h1", Snapshots: "origin", SnapshotEvery: 30 * time.Second,
		BiggestFile: 2 << 30, CodecKeyFile: "codec.keys", Person: "ada", SigningKey: "~/.ssh/fleet",
		Patience: 9 * time.Second, TLS: setup.Files{CA: "a", Certificate: "b", Key: "c"}}
	got, err := setup.Parse("f", []byte("server: \"x:7233\"\nnamespace: home\nname: h1\nlabels: [gpu]\n"+
		"tls: {ca: a, cert: b, key: c}\n"+
		"projects: [web]\nssh: me@h1\nsnapshots: origin\nsnapshot_every: 30s\nbiggest_file: 2GB\nsigned: off\n"+
		"codec_key_file: codec.keys\nperson: ada\nsigning_key: ~/.ssh/fleet\npatience: 9s\n"))
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWrite_isReadAgainAsItWas(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	below := func(name string) string { return filepath.Join(setup.Dir(home), name) }
	usual := setup.Usual()
	usual.Server, usual.Namespace = "x:7233", "home"
	whole := setup.Setup{Server: "x:7233", Namespace: "home", Name: "h1", Labels: []string{"any", "gpu"},
		Projects: []string{"web: 1"}, SSH: "me@h1", Snapshots: "origin", SnapshotEvery: 30 * time.Second,
		BiggestFile: 7 << 10, CodecKeyFile: below("codec.keys"), Person: "ada", SigningKey: "/keys/\"fleet",
		Patience: 9 * time.Second, TLS: setup.Files{CA: below("tls/ca.pem"), Certificate: below("tls/this.pem"),
			Key: "/elsewhere/this.key"}}
	for _, want := range []setup.Setup{usual, whole} {
		testkit.Must(t, setup.Write(home, want))
		if got, err := setup.Read(home); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v, expected %+v", got, err, want)
		}
	}
}

func TestForHost_namesWhatAHostLacks(t *testing.T) {
	t.Parallel()
	s := setup.Usual()
	if err := s.ForHost("/h"); err == nil || !strings.Contains(err.Error(), `"name"`) {
		t.Error(err)
	}
	s.Name = "h1"
	if err := s.ForHost("/h"); err == nil || !strings.Contains(err.Error(), `"snapshots"`) {
		t.Error(err)
	}
	if s.Snapshots = "origin"; s.ForHost("/h") != nil {
		t.Error(s.ForHost("/h"))
	}
}
