package document

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orange/internal/rules/task"
)

// What a person hands over stays inside the section that it was put under: it neither ends that section, nor opens one
// that could pass for evidence.
func FuzzDemote(f *testing.F) {
	for _, seed := range []string{
		"", "## Plan\n\nAPPROACH: x\n", "##\tPlan", "##", "   ## Plan\r\n## Review\r## Handoff",
		"### Plan\n#### x", "\t## code", "##Plan",
		"- ## a\n> ## b\n```\n## c\n", "\uFEFF## Plan", "##\v\f Plan\n##\u00a0x\n \t## y", "<pre>\n## x\n</pre>\n## z",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		demoted := Demote(text)
		if again := Demote(demoted); again != demoted {
			t.Fatalf("demoted twice it is %q, once %q", again, demoted)
		}
		if lineCount(demoted) != lineCount(text) {
			t.Fatalf("%d lines became %d", lineCount(text), lineCount(demoted))
		}
		d := readBody("## Context\n\n" + demoted + "\n")
		if out := outlineOf(d.Body); len(out.headings) != 1 || !slices.Equal(d.SectionNames(), []string{"Context"}) {
			t.Fatalf("%q holds the sections %q in %d headings", demoted, d.SectionNames(), len(out.headings))
		}
	})
}

func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{"", "a", "\n\n a \t\r\n\rb\r\r\n", " \t", "a\u00a0", "\x00\xff \n", "\r \n\t\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		normal := Normalise(text)
		if again := Normalise(normal); again != normal {
			t.Fatalf("normalised twice it is %q, once %q", again, normal)
		}
		if strings.Contains(normal, "\r") || strings.Contains(normal, " \n") ||
			strings.Contains(normal, "\t\n") || strings.HasPrefix(normal, "\n") {
			t.Fatalf("%q is not normal", normal)
		}
		if normal != "" && (!strings.HasSuffix(normal, "\n") || strings.HasSuffix(normal, "\n\n")) {
			t.Fatalf("%q does not end with one newline", normal)
		}
		if blanks := strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", ""); blanks.Replace(
			normal) != blanks.Replace(text) {
			t.Fatalf("%q lost more than blanks and became %q", text, normal)
		}
		for _, other := range []string{strings.ReplaceAll(text, "\n", "\r\n"), text + "\n \n", "\n" + text} {
			if strings.Contains(text, "\r") && strings.Contains(other, "\r\r\n") {
				continue // one more line end
			}
			if Digest(Normalise(other)) != Digest(normal) {
				t.Fatalf("%q has another digest than %q", other, text)
			}
		}
	})
}

// One section: what is found in it is what was asked for, and nothing is found in what is empty.
func FuzzSection(f *testing.F) {
	for _, seed := range []string{
		"DONE: x\n", "**Verdict: PASS** (nits)\n", "Verdict: PASS|FAIL\n", "<!-- Verdict: PASS -->\nFAIL_\n",
		"- DONE:\n  - x\n", "> PASS\n",
		"```\nVerdict: PASS\n", "<details>\nDONE: <!--\n-->\n", "_DONE_: __\nREMAINING: a\nAPI: b\n",
		"verdict : fail\u0301", "DONE:DONE:\n\xff", "Verdict：PASS\nDONE：x", "Verdict - РASS\nDОNE∶ x\n＃# Own\n",
	} {
		f.Add(seed)
	}
	names := []string{"DONE", "REMAINING", "A", ""}
	f.Fuzz(func(t *testing.T, text string) {
		d := readBody("## Own\n" + text)
		s, found := d.Section("Own")
		if !found {
			t.Fatal("the section is not found")
		}
		fields := s.Fields(names)
		at := 0
		for _, name := range names {
			if at < len(fields) && fields[at] == name {
				at++
			}
		}
		if at != len(fields) || slices.Contains(fields, "") {
			t.Fatalf("asked for %q, got %q", names, fields)
		}
		for _, near := range []func() (string, string){
			func() (string, string) { return s.NearLabel(names) },
			func() (string, string) { return s.NearVerdict(false) },
			func() (string, string) { return s.NearVerdict(true) },
		} {
			line, why := near()
			if (line == "") != (why == "") || utf8.RuneCountInString(line) > maxFound || !utf8.ValidString(line+why) {
				t.Fatalf("%q has %q", line, why)
			}
		}
		for _, p := range d.WhyMissing() {
			if p.Line < 1 || !utf8.ValidString(p.Text) {
				t.Fatalf("%+v", p)
			}
		}
		for _, read := range []func() (string, string){s.FirstVerdict, s.AnyVerdict} {
			verdict, line := read()
			if verdict != "" && verdict != pass && verdict != fail || verdict != "" && line == "" {
				t.Fatalf("the verdict is %q, from %q", verdict, line)
			}
			if utf8.RuneCountInString(line) > maxFound || !utf8.ValidString(line) {
				t.Fatalf("the line is %q", line)
			}
			if s.Empty() && (verdict != "" || line != "" || len(fields) > 0) {
				t.Fatalf("an empty section holds %q, %q and %q", verdict, line, fields)
			}
		}
		// The same text read again, on its own lines as another editor would have them, says the same.
		other, _ := readBody("## Own\n" + toLF.Replace(text)).Section("Own")
		first, _ := s.FirstVerdict()
		second, _ := other.FirstVerdict()
		if other.Text != s.Text || first != second || !slices.Equal(other.Fields(names), fields) {
			t.Fatalf("with other line ends it reads %q, %q, not %q, %q", other.Text, second, s.Text, first)
		}
	})
}

// A header that is renewed from what was read leaves the body as it is, keeps what the user wrote into the
// header, and does not wear.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		simple, "---\nmine: 1\n---\nbody",
		"---\nMine:\n  - a: |\n      # b\n\n      c\nOther: 'x\n  y'\n---\n## Plan\n", "no header",
		"---\nmine: a: b\n---\nx", "---\n? q\n: !!binary w\n# c\n---\n---\n",
		"---\r\nmine: 1\r\nfix_round: 2\r\n---\r\n\r\nx",
		"---\nmine: &a x\nyours: *a\n---\n", "---\n{mine: 1}\n---\n", "---\n  mine: 1\n---\n",
		"---\na: |+\n  x\n\n---\n\uFEFF## Plan",
	} {
		f.Add([]byte(seed), "Fix the door", "fix_round", 3)
	}
	f.Add([]byte("---\n# x\n---\n"), "\x00\"\\\u0085: #", "null", -1)
	f.Fuzz(func(t *testing.T, text []byte, summary, counter string, value int) {
		if len(counter) > 100 {
			return // no workflow file may name one so long
		}
		before := Read(text)
		tk := task.Task{
			ID: "abc", Project: summary, Status: "working", Summary: summary, CreatedAt: time.UnixMilli(0),
			UpdatedAt: time.UnixMilli(1),
			Counters:  task.Counters{}.With(counter, value), Attention: counter,
		}
		room := Room(tk, before.Front.Extra)
		block, ok := Render(tk, before.Front.Extra, room)
		if !ok || len(block) != room {
			t.Fatalf("%v: a block of %d bytes for a room of %d", ok, len(block), room)
		}
		d := Read([]byte(block + before.Body))
		if d.FrontLen != room || d.Body != before.Body || d.Header() != block && len(block) <= maxFront {
			t.Fatalf("FrontLen is %d of %d, the body %q, was %q", d.FrontLen, room, d.Body, before.Body)
		}
		if len(block) > maxFront {
			return // named as a problem, and not looked into
		}
		if broken := d.Broken(); broken != "" && before.Broken() == "" { // keys of the user that occur twice still do
			t.Fatalf("%s in\n%s", broken, block)
		}
		for i, v := range Fields(tk) {
			if got := d.Front.Values[i]; got.Key != v.Key || got.Text != v.Text {
				t.Fatalf("value %d came back as %+v, want %+v", i, got, v)
			}
		}
		for _, v := range before.Front.Values {
			ours := slices.ContainsFunc(Fields(tk), func(own Value) bool { return own.Key == v.Key })
			if got, there := d.Front.Get(v.Key); before.Front.Extra != "" && !ours && !isKnown(v.Key) &&
				(!there || got != v.Text) {
				t.Fatalf("%q was %q and is %q (%v) in\n%s", v.Key, v.Text, got, there, block)
			}
		}
		if again, ok := Render(tk, d.Front.Extra, room); !ok || again != block {
			t.Fatalf("%v: rendered again:\n%s\nat first:\n%s", ok, again, block)
		}
	})
}
