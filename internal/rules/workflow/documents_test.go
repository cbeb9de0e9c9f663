package workflow_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/workflow"
)

// The machines of documents 000 and 002, as digests of their edges: where the documents are at hand, their own texts
// have to give these too.
const (
	edgesOf000    = "3eb9470f8998c4478637771805b48ea5168805ac4eb5d310037cbffc670b0b87"
	machineOf002  = "db01cf10beca9ee74246a95842f8cdf81dedd75a4121501d0ea8e812226d4c51"
	minimalOf002  = "32522af5874afd58ec3abdfc7e9e8fdd12735b75b21e57d29662f348f6369b68"
	documentsHere = "ORANGE_DOCUMENTS" // the folder with their texts
)

func TestClassicHasTheEdgesOfDocument000_andNoOther(t *testing.T) {
	t.Parallel()
	var ours []string
	for _, e := range load(t, "../../../workflows/classic.yml").Transitions {
		ours = append(ours, string(e.From)+"->"+string(e.To))
	}
	wantDigest(t, "classic", ours, edgesOf000)
	text := document(t, "000_")
	if text == "" {
		return
	}
	var theirs []string
	for _, row := range regexp.MustCompile(`(?m)^([a-z-]+) +→ ([a-z, -]+)$`).FindAllStringSubmatch(text, -1) {
		for to := range strings.SplitSeq(row[2], ", ") {
			theirs = append(theirs, row[1]+"->"+to)
		}
	}
	wantDigest(t, "document 000", theirs, edgesOf000)
}

func TestClassicAndMinimal_areTheFilesOfDocument002(t *testing.T) {
	t.Parallel()
	text := document(t, "002_")
	for _, row := range []struct{ ours, theirs, digest string }{
		{"classic", "default", machineOf002}, {"minimal", "minimal", minimalOf002},
	} {
		wantDigest(t, row.ours, machineLines(load(t, "../../../workflows/"+row.ours+".yml")), row.digest)
		if text == "" {
			continue
		}
		block := regexp.MustCompile("(?s)```yaml\n(name: " + row.theirs + "\n.*?)```").FindStringSubmatch(text)
		if block == nil {
			t.Fatalf("document 002 has no file %q", row.theirs)
		}
		def, err := workflow.Parse(row.theirs+".yml", []byte(block[1]), usual(t))
		if err != nil {
			t.Fatal(err)
		}
		wantDigest(t, "document 002's "+row.theirs, machineLines(def), row.digest)
	}
}

// machineLines are the edges of a workflow with guards, gates and hooks, and its exit rules.
func machineLines(d *workflow.Definition) []string {
	var lines []string
	for i := range d.Transitions {
		lines = append(lines, machine(&d.Transitions[i]))
	}
	for _, rule := range d.Exit.Rules {
		lines = append(lines, ruleLine(rule))
	}
	return lines
}

// document is the text of one of the documents, and empty where they are not at hand.
func document(t *testing.T, beginning string) string {
	t.Helper()
	folder := os.Getenv(documentsHere)
	if folder == "" {
		return ""
	}
	files, err := filepath.Glob(filepath.Join(folder, beginning+"*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q has %d files that begin with %q: %v", folder, len(files), beginning, err)
	}
	return string(read(t, files[0]))
}

func wantDigest(t *testing.T, whose string, lines []string, want string) {
	t.Helper()
	slices.Sort(lines)
	text := strings.Join(lines, "\n")
	sum := sha256.Sum256([]byte(text))
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the machine of %s has the digest %s, want %s:\n%s", whose, got, want, text)
	}
}
