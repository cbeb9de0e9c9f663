package printable_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"orange/internal/rules/printable"
)

func TestWhatATerminalWouldObeyIsWrittenOut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain text, Ünïcode, 漢字 and — dashes": "plain text, Ünïcode, 漢字 and — dashes",
		"two\nlines\tand a tab":                "two\nlines\tand a tab",
		"\x1b]52;c;ZXZpbA==\a":                 `\x1b]52;c;ZXZpbA==\x07`,
		"\x1b[31mred\x1b[0m":                   `\x1b[31mred\x1b[0m`,
		"\u009b31m and \u009d52":               `\u009b31m and \u009d52`,
		"a\x7fb\x00c":                          `a\x7fb\x00c`,
		"good\rbad\r\nnext":                    "good\\rbad\nnext",
		"abc\u202egnp.exe\u202c":               `abc\u202egnp.exe\u202c`,
		"\u2066\u2069\u200e\u200f\u061c":       `\u2066\u2069\u200e\u200f\u061c`,
		"\u200b\u2060\ufeff\u00ad\u034f":       `\u200b\u2060\ufeff\u00ad\u034f`,
		"a\u2028b\u2029c":                      `a\u2028b\u2029c`,
		"tag \U000e0041, filler \u3164":        `tag \U000e0041, filler \u3164`,
		"bytes \xff\xfe and \xe2\x80":          `bytes \xff\xfe and \xe2\x80`,
		"the sign itself \ufffd":               "the sign itself \ufffd",
		"👩\u200d💻 ❤\ufe0f\u200d🔥":              "👩\u200d💻 ❤\ufe0f\u200d🔥",
		"می\u200cخواهم क\u094d\u200dष":         "می\u200cخواهم क\u094d\u200dष",
		"ad\u200dmin ad\u200cmin a\ufe0f":      `ad\u200dmin ad\u200cmin a\ufe0f`,
		"💻\u200d\u200d\u200dx":                 "💻\u200d\\u200d\\u200dx",
	} {
		if found := printable.Text(text); found != want {
			t.Errorf("%q is shown as %q, expected %q", text, found, want)
		}
	}
	if found, want := printable.Line("two\nlines\tand\r\nmore"), `two\nlines\tand\r\nmore`; found != want {
		t.Errorf("found %q, expected %q", found, want)
	}
}

func TestWritePieces_onlyTheLooksColour(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := printable.NewWriter(&out).WritePieces([]printable.Piece{{Text: "a\x1b[31mb"}, {Paint: printable.Red},
		{Text: " c\x1b[0m\n", Paint: printable.Green}, {Text: "d"}})
	if want := `a\x1b[31mb` + "\x1b[32m" + ` c\x1b[0m` + "\n\x1b[0md"; err != nil || out.String() != want {
		t.Errorf("found %q (%v), want %q", out.String(), err, want)
	}
}

// safe says what a terminal must never get of a text.
func safe(t *testing.T, from, shown string, newlines bool) {
	t.Helper()
	if !utf8.ValidString(shown) {
		t.Errorf("%q is shown as %q: that is no UTF-8", from, shown)
	}
	for _, r := range shown {
		bidi := r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
		control := unicode.IsControl(r) && (!newlines || r != '\n' && r != '\t')
		if control || bidi || unicode.In(r, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Cf, r) &&
			r != '\u200c' && r != '\u200d' {
			t.Errorf("%q is shown as %q: %U is in it", from, shown, r)
		}
	}
}

func FuzzNothingThatATerminalObeysIsShown(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b]52;c;x\a", "\xff\u202e\u009b", "a\r\nb\tc", "👩\u200d💻",
		"\U000e0041\ufeff", "\\x1b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown, line := printable.Text(text), printable.Line(text)
		safe(t, text, shown, true)
		safe(t, text, line, false)
		if printable.Text(shown) != shown || printable.Line(line) != line {
			t.Errorf("%q is shown as %q and %q, which are changed when they are shown again", text, shown, line)
		}
		var written bytes.Buffer
		if n, err := printable.NewWriter(&written).Write([]byte(text)); n != len(text) || err != nil ||
			written.String() != shown {
			t.Errorf("wrote %d bytes of %q as %q, %v", n, text, written.String(), err)
		}
		var encoded bytes.Buffer
		encoder := json.NewEncoder(&encoded)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(map[string]string{"text": text}); err != nil {
			t.Fatal(err)
		}
		fit := printable.JSON(encoded.Bytes())
		safe(t, text, string(fit), true)
		var before, after map[string]string
		if json.Unmarshal(encoded.Bytes(), &before) != nil || json.Unmarshal(fit, &after) != nil ||
			!reflect.DeepEqual(before, after) {
			t.Errorf("%q is %q in JSON, which does not mean the same", text, fit)
		}
		if printable.Text(string(fit)) != string(fit) {
			t.Errorf("the JSON %q is changed when it is shown", fit)
		}
	})
}

func TestJSONFromAnywhereIsMadeFitToBeShown(t *testing.T) {
	t.Parallel()
	raw := "{\"a\":\"\xff \u202e \U000e0041 \x7f \u0085 👩\u200d💻\"}"
	want := `{"a":"\ufffd \u202e \udb40\udc41 \u007f \u0085 👩\u200d💻"}`
	if found := string(printable.JSON([]byte(raw))); found != want {
		t.Errorf("found %s, expected %s", found, want)
	}
	if !strings.Contains(want, `\u202e`) || !json.Valid([]byte(want)) {
		t.Error("the example is no JSON")
	}
}
