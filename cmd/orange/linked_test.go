package main_test

import (
	"debug/buildinfo"
	"os"
	"strings"
	"testing"
)

// The program is the one that the tests are: it has its modules, and those of the tests.
func TestTheProgramDoesNotContainTheLibraryOfAServer(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) < 10 {
		t.Fatalf("found %d modules, expected those of the program", len(info.Deps))
	}
	for _, module := range info.Deps {
		if strings.HasPrefix(module.Path, "go.temporal.io/") || strings.HasPrefix(module.Path, "orange/fleet") {
			t.Errorf("the program contains %s: only orange-fleet does", module.Path)
		}
	}
}
