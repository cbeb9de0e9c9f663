package arch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/edition"
)

var update = flag.Bool("update", false, "write the edition of the rules")

// A program whose rules are others has another edition: what it decides, and what it proves, may differ.
func TestTheEditionOfTheRules_isTheDigestOfTheQuietPackages(t *testing.T) {
	t.Parallel()
	found := digestOfRules(t)
	if found == edition.Rules {
		return
	}
	if !*update {
		t.Fatalf("the packages that only compute have the digest %q, and the edition is %q: if they are as they shall "+
			"be, run go test ./internal/arch -run Edition -update", found, edition.Rules)
	}
	path := filepath.Join(root, "internal", "rules", "edition", "edition.go")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`Rules = "[0-9a-f]*"`).ReplaceAll(text, fmt.Appendf(nil, "Rules = %q", found))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// digestOfRules is the digest of the code of the quiet packages, without comments and whatever its layout is.
func digestOfRules(t *testing.T) string {
	t.Helper()
	sum := sha256.New()
	for _, name := range slices.Sorted(slices.Values(quiet())) {
		if name == "rules/edition" {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, "internal", name, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("package %s has %d files (%v)", name, len(files), err)
		}
		for _, path := range files {
			if !strings.HasSuffix(path, "_test.go") {
				fmt.Fprintf(sum, "%s/%s\n%s", name, filepath.Base(path), codeOf(t, path))
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
}

func codeOf(t *testing.T, path string) []byte {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&out, token.NewFileSet(), parsed); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
