package document

import (
	"bytes"
	"strings"
	"testing"
)

// listsAndFences is a document of a size as agents write them.
func listsAndFences(size int) []byte {
	return documentOf(size, "- [x] the login, with its `session` and a test\n  - a nested item that goes on\n"+
		"    on a second line\n1. first\n2. second\n\n```go\nfunc main() {\n\t## no heading\n}\n```\n\n"+
		"A paragraph of **prose** that says why.\n\n")
}

// paragraphs is a document of a size that is only text.
func paragraphs(size int) []byte {
	return documentOf(size, "The login was wrong because the session was read before it was written; now it is read\n"+
		"after that.\nNothing else reads it, and the tests say so.\n\n")
}

// shortLines is what costs most: each of them is something else.
func shortLines(size int) []byte {
	return documentOf(size, "\n### Step\n\nWords that say what was done, and why.\n\n- one\n- two\n\n```go\nfunc "+
		"main() {}\n```\n\n> quoted\n")
}

func documentOf(size int, part string) []byte {
	const header = "---\nid: T1\n---\n\n## Handoff\n\nDONE: it\n\n## Log\n\n"
	return []byte(header + strings.Repeat(part, size/len(part)+1))[:size]
}

func BenchmarkRead(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"4KB", 4 << 10}, {"1MB", 1 << 20}, {"20MB", 20 << 20}} {
		for _, text := range []struct {
			name string
			of   func(int) []byte
		}{{"lists", listsAndFences}, {"prose", paragraphs}, {"short", shortLines}} {
			whole := text.of(size.bytes)
			b.Run(size.name+"/"+text.name, func(b *testing.B) {
				b.SetBytes(int64(len(whole)))
				b.ReportAllocs()
				for b.Loop() {
					Read(whole)
				}
			})
			b.Run(size.name+"/"+text.name+"/count", func(b *testing.B) {
				for b.Loop() {
					bytes.Count(whole, []byte("\n"))
				}
			})
		}
	}
}

// BenchmarkSection is what a gate asks of a section of one kilobyte.
func BenchmarkSection(b *testing.B) {
	for name, content := range map[string]string{
		"one line": "DONE: " + strings.Repeat("what was asked for, and its tests. ", 1024/35) + "\n",
		"lines":    "DONE:\n" + strings.Repeat("- what was asked for, and its tests\n", 1024/36),
	} {
		d := Read([]byte("---\nid: T1\n---\n\n## Plan\n\nAPPROACH: x\n\n## Handoff\n\n" + content))
		labels := []string{"DONE", "REMAINING"}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, found := d.Section("Handoff")
				if !found || s.Empty() || len(s.Fields(labels)) != 1 || Digest(s.Text) == "" {
					b.Fatal(s)
				}
			}
		})
	}
}
