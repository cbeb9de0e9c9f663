package document

import (
	"bytes"
	"strings"
	"testing"
)

// listsAndFences and prose are documents of a size as agents write them.
func listsAndFences(size int) []byte {
	return documentOf(size, "### Step\n\nWords that say what was done, and why.\n\n- one `thing`\n- two, which wraps\n"+
		"  over a line\n  - [x] nested\n1. first\n2. second\n\n```go\nfunc main() {\n\treturn\n}\n```\n\n> quoted\n\n"+
		"<!-- a note -->\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n")
}

func prose4(size int) []byte {
	return documentOf(size, "Words that say what was done, and why, in lines that are as long as a person likes.\n"+
		"The next line goes on with them, and *this* one is the last.\n\n")
}

func documentOf(size int, unit string) []byte {
	var b bytes.Buffer
	b.WriteString("---\nid: abc\nstatus: working\n---\n\n## Plan\n\n")
	b.WriteString(strings.Repeat(unit, max(0, size-b.Len()-30)/len(unit)))
	b.WriteString("\n## Review\nVerdict: PASS\n")
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"4KB", 4 << 10}, {"1MB", 1 << 20}, {"20MB", 20 << 20}} {
		for _, text := range []struct {
			name string
			of   func(int) []byte
		}{{"lists", listsAndFences}, {"prose", prose4}} {
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
