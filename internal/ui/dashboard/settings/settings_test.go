package settings_test

import (
	"reflect"
	"strings"
	"testing"

	"orange/internal/ui/dashboard/settings"
)

func actions() []settings.Action {
	both := []string{"the list", "a task"}
	return []settings.Action{
		{Name: "merge", Keys: []string{"m"}, Places: both},
		{Name: "move", Keys: []string{"M"}, Places: both},
		{Name: "down", Keys: []string{"j", "down"}, Places: both},
		{Name: "comment", Keys: []string{"c"}, Places: []string{"the review"}},
		{Name: "help", Keys: []string{"?"}, Places: both},
		{Name: "quit", Keys: []string{"q"}, Places: both},
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want map[string][]string
	}{
		"nothing": {"", map[string][]string{}},
		"neither": {"harness: pi\n", map[string][]string{}},
		"one key": {"keys: {merge: ctrl+g}\n", map[string][]string{"merge": {"ctrl+g"}}},
		"several": {"keys: {down: [n, f5, alt+down]}\n",
			map[string][]string{"down": {"n", "f5", "alt+down"}}},
		"two that change their keys": {"keys: {merge: M, move: m}\n",
			map[string][]string{"merge": {"M"}, "move": {"m"}}},
		"a key that is taken in other places": {"keys: {merge: c}\n",
			map[string][]string{"merge": {"c"}}},
		"digits and signs": {"keys: {merge: 9, move: \"#\"}\n",
			map[string][]string{"merge": {"9"}, "move": {"#"}}},
	}
	for name, tt := range tests {
		got, err := settings.Parse("config.yml", []byte(tt.text), actions())
		if err != nil || !reflect.DeepEqual(got.Keys, tt.want) {
			t.Errorf("%s: %v, %v", name, got.Keys, err)
		}
	}
}

func TestParse_tellsWhatIsWrongAtItsPlace(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"keys:\n  merge: M\n":                  `config.yml:2:10: found the key "M" for "merge", expected another: "move" has it`,
		"keys:\n  merge: x\n  move: x\n":       `config.yml:3:9: found the key "x" for "move", expected another: "merge" has it`,
		"keys:\n  merge: x\n  merge: y\n":      `config.yml:3:3: found "merge" a second time`,
		"keys:\n  merge: [x, x]\n":             `config.yml:2:14: found the key "x" twice`,
		"keys:\n  merge: \"?\"\n":              `config.yml:2:10: found the key "?" for "merge", expected another: it is reserved`,
		"keys: {move: [x, ctrl+c]}\n":          `config.yml:1:18: found the key "ctrl+c" for "move", expected another: it is reserved`,
		"keys: {merge: alt+esc}\n":             `config.yml:1:15: found the key "alt+esc"`,
		"keys:\n  quit: x\n":                   `config.yml:2:3: found the action "quit" in keys, expected another: its key "q" stays`,
		"keys:\n  help: h\n":                   `config.yml:2:3: found the action "help"`,
		"keys:\n  merg: x\n":                   `config.yml:2:3: found the unknown action "merg" in keys, expected one of docs/keys.md; did you mean "merge"?`,
		"keys:\n  merge: hyper+x\n":            `config.yml:2:10: found the key "hyper+x" for "merge", expected another: it is none that Orange knows`,
		"keys:\n  merge: entre\n":              `did you mean "enter"?`,
		"keys:\n  merge: shift+a\n":            `a letter with Shift is written as what it types`,
		"keys:\n  merge: ctrl+m\n":             `a terminal sends it as "enter"`,
		"keys:\n  merge: ctrl+1\n":             `a terminal sends Ctrl with the letters a to z alone`,
		"keys:\n  merge: []\n":                 `config.yml:2:10: found no key for "merge"`,
		"keys: [x]\n":                          `config.yml:1:7: found a list as keys, expected a mapping`,
		"theme: dark\n":                        `config.yml:1:8: found`,
		"theme:\n  baad: red\n":                `config.yml:2:3: found the unknown colour "baad" in theme`,
		"theme:\n  bad: redd bold\n":           `config.yml:2:8: found "redd" in the colour "bad"`,
		"theme:\n  bad: 256\n":                 `config.yml:2:8: found "256"`,
		"theme:\n  bad: \"#12345\"\n":          `config.yml:2:8: found "#12345"`,
		"keys:\n  merge: x\ntheme:\n bad: [\n": `config.yml:`,
	}
	for text, says := range tests {
		got, err := settings.Parse("config.yml", []byte(text), actions())
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
		if got.Keys != nil || got.Theme != nil {
			t.Errorf("%q: something is taken all the same: %v", text, got)
		}
	}
}

func TestParse_readsEveryKindOfColour(t *testing.T) {
	t.Parallel()
	text := "theme: {bad: bright-red bold, good: \"#00ff00\", selection: black on 220, faint: plain}\n"
	got, err := settings.Parse("config.yml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"bad": "\x1b[1;91mx\x1b[m", "good": "\x1b[38;2;0;255;0mx\x1b[m",
		"selection": "\x1b[30;48;5;220mx\x1b[m", "faint": "x"}
	for name, drawn := range want {
		if style := got.Theme[name]; style.Render("x") != drawn {
			t.Errorf("%s: %q, want %q", name, style.Render("x"), drawn)
		}
	}
}
