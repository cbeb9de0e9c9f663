package setup_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"orange/fleet/setup"
	"orange/fleet/testkit"
)

func TestTheManualHasEveryKeyAndItsExampleIsRead(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/fleet-server.md")
	testkit.Must(t, err)
	read := 0
	for _, example := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(example[1], "\npersistence:\n") || strings.HasPrefix(example[1], "history.") {
			continue // it is of Temporal's server
		}
		read++
		if _, err := setup.Parse("example", []byte(example[1])); err != nil {
			t.Error(err)
		}
	}
	if read == 0 {
		t.Error("the manual has no example")
	}
	_, err = setup.Parse("f", []byte("server: x\nnamespace: home\nnone: 1\n"))
	if err == nil {
		t.Fatal("an unknown key is read")
	}
	_, keys, _ := strings.Cut(err.Error(), "expected one of ") // the message lists all of them
	keys, _, _ = strings.Cut(keys, ";")
	names := regexp.MustCompile(`[a-z_]{3,}`).FindAllString(keys, -1)
	if len(names) < 15 {
		t.Fatalf("found the keys %q in %v", names, err)
	}
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("the manual does not have the key %q", name)
		}
	}
}
