package setup_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"orange/fleet/setup"
	"orange/internal/task"
)

func TestParse_readsWhatAPersonSetUp(t *testing.T) {
	t.Parallel()
	got, err := setup.Parse("f", []byte("server: \"x:7233\"\nnamespace: home\ntls: {ca: a, cert: b, key: c}\n"+
		"name: h1\n"))
	want := setup.Setup{Server: "x:7233", Namespace: "home", TLS: setup.Files{CA: "a", Certificate: "b", Key: "c"},
		Name: "h1"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParse_namesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"server: x\n":                                   `namespace`,
		"server: x\nnamespace: Home\n":                  `"Home"`,
		"server: x\nnamespace: home\nname: -oProxy=x\n": `-oProxy`,
		"server: x\nnamespace: home\nmore: 1\n":         `more`,
		"server: x\nnamespace: home\ntls: {ca: a}\n":    `cert`,
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
	if err := os.Mkdir(setup.Dir(home), 0o700); err != nil {
		t.Fatal(err)
	}
	text := []byte("server: x\nnamespace: home\n")
	if err := os.WriteFile(filepath.Join(setup.Dir(home), "fleet.yml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
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
