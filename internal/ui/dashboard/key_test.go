package dashboard

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/settings"
	"orange/internal/ui/dashboard/tasks"
)

// keysDocument is docs/keys.md: the table of keys, for those who read before they press.
func keysDocument(t testing.TB) string {
	var b strings.Builder
	b.WriteString(`# The keys of the dashboard

` + "`orange`" + ` opens it. ` + "`?`" + ` tells the same there, first what can be done now; a key that is closed says why.
` + "`:`" + ` finds every action by its words, its name or its key, and does it as the key would, with the same questions. In a form, the foot says which keys work there.

A whole life takes 17 keys, without the texts: ` + "`c`, *branch*, `Tab`, *summary*, `ctrl+s`" + ` creates the task, ` + "`S`, *answer*, `Enter`" + ` answers its question,
` + "`D` `]`" + ` opens the review at the first line that changed, ` + "`c`, *comment*, `ctrl+s`" + ` comments on it, ` + "`j` `j`" + ` leads on to another comment, ` + "`r` `ctrl+s`" + ` sends both, ` + "`m` `y`" + ` merges.

## Keys and colours of your own

` + "`config.yml`" + ` may give an action other keys, by its name in the tables below, and a part of the screen other colours:

` + "```yaml" + `
keys:
  merge: ctrl+g                # instead of m
  down: [j, down, ctrl+n]      # several keys
theme:
  selection: black on 220      # a name, a number to 255 or #rrggbb; "on" stands before the background
  bad: bright-red bold
` + "```" + `

A key is a letter or sign, one of the names ` + keyWords() + `,
or one of these after ` + "`ctrl+`, `alt+` or `shift+`" + `.
The keys ` + reservedWords() + ` are reserved. Those inside of a form stay: ` + "`ctrl+s`, `ctrl+e`, `Tab`, `Enter`" + `, and the letters of the answers to a question.
Where anything here is wrong, the dashboard starts with the usual keys and colours, and says where in the file: ` + "`config.yml:3:10`" + `.
The parts of the screen that have a colour are ` + themeWords() + `. ` + "`NO_COLOR=1`" + ` takes colours away all the same.

## What the list shows

The tasks that need you are on top, the oldest need first, each with a second line that says why, where there is room.
The selected task is at the side of the list from 120 columns and 20 lines on, else below it, from 16 lines on: all of why it needs you first, then what fits the task. What you say to an agent is written right below that.
A column that would be empty is left out, and titles count the rows that have no room.

With the mouse, a click selects and a second click opens; a click on a key at the foot presses it; the wheel scrolls. No click changes a task.

` + "`go test ./internal/ui/dashboard -update`" + ` writes this page from the table that the program uses.
Where nothing is said, a key works in the list, on the board and in a task.
`)
	for _, group := range groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| key | name | what it does | where |\n|---|---|---|---|\n", group)
		for _, k := range table(t) {
			if k.group != group {
				continue
			}
			var names []string
			for _, name := range k.allNames() {
				names = append(names, "`"+name+"`")
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", strings.Join(names, " "), k.action, k.does, whereOf(k))
		}
	}
	b.WriteString("\n## Marks before a task\n\nThe first that holds is shown.\n\n| mark | meaning |\n|---|---|\n")
	for _, one := range tasks.Marks() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", one.Sign, one.Means)
	}
	return b.String()
}

// whereOf says where a key works: nothing in the usual places.
func whereOf(k key) string {
	var places []string
	for _, p := range k.pages {
		places = append(places, strings.TrimPrefix(p.String(), "the "))
	}
	const allButForms = 7
	switch where := strings.Join(places, ", "); {
	case where == "list, board, a task":
		return ""
	case len(places) > allButForms:
		return "everywhere, a form too"
	case len(places) == allButForms:
		return "everywhere"
	default:
		return where
	}
}

// inCode are words as a list in Markdown.
func inCode(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

func keyWords() string { return inCode(settings.NamedKeys()) }

func reservedWords() string { return inCode(settings.Reserved()) }

func themeWords() string { return inCode(screen.ThemeNames()) }

func TestTheDocumentOfKeysIsTheTableOfKeys(t *testing.T) {
	t.Parallel()
	compareFile(t, filepath.Join("..", "..", "..", "docs", "keys.md"), keysDocument(t))
}

func TestEveryMarkIsALetterOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, one := range tasks.Marks() {
		if seen[one.Sign] || screen.Width(one.Sign) != 1 {
			t.Errorf("the mark %q is not one cell of its own", one.Sign)
		}
		seen[one.Sign] = true
	}
}

// No line of the help is cut off, however narrow the screen is, and the last one can be reached.
func TestTheHelpIsReadWhole(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{50, 12}, {80, 24}, {120, 40}} {
		s := openSession(t, day(t), size[0], size[1])
		s.press("?")
		for _, line := range s.m.help.lines(s.m.layout.width) {
			if screen.Width(line) > size[0] {
				t.Errorf("%v: %q is too long", size, line)
			}
		}
		s.shows("a person should look")
		s.press("G")
		s.shows("done, here, ahead")
		s.press("g")
		s.shows("a person should look")
	}
}

// First come the marks, where the screen below has some, then what can be done there, also how one moves about, and
// last what cannot.
func TestTheHelpIsAboutTheScreenBelowFirst(t *testing.T) {
	t.Parallel()
	for where, c := range map[string]struct {
		to   []string
		want []string // in this order
	}{
		"list": {nil, []string{"Marks", "! ", "Now, in the list", "Enter", "j ↓", "The selected task", "not now",
			"Other marks", "z "}},
		"board": {[]string{"b"}, []string{"Marks", "! ", "Now, in the board", "b ", "h ←", "The review of a task",
			"not now"}},
		"a task": {[]string{"v"}, []string{"Now, in a task", "Tab ", "j ↓", "The selected task", "not now",
			"The review of a task", "Marks", "! "}},
		"workspaces": {[]string{"w"}, []string{"Now, in the workspaces", "Enter", "j ↓", "The selected task", "Marks"}},
	} {
		s := openSession(t, day(t), 80, 24)
		s.selects("fix/login")
		s.press(append(c.to, "?")...)
		lines := s.m.help.lines(80)
		at := 0
		for _, begin := range c.want {
			next := slices.IndexFunc(lines[at:], func(line string) bool {
				return strings.HasPrefix(strings.TrimSpace(ansi.Strip(line)), begin)
			})
			if next < 0 {
				t.Fatalf("%s: no %q where it should be:\n%s", where, begin, ansi.Strip(strings.Join(lines, "\n")))
			}
			at += next
		}
	}
}

// The help begins with what can be done now, says that there is more, and shows only what is searched for.
func TestTheHelpBeginsWithWhatCanBeDoneAndIsSearched(t *testing.T) {
	t.Parallel()
	s := openSession(t, day(t), 80, 24)
	s.selects("fix/prices") // it is done: most keys of a task are closed
	s.press("?")
	s.shows("Now, in the list\n  i ")
	s.hides("not now")
	s.shows("more lines below")
	s.press("G")
	s.hides("below")
	s.press("/")
	s.write("workspaces")
	s.shows("\n  w ")
	s.hides("create a task")
	s.press("enter", "esc")
	s.shows("it is done")
	s.press("esc")
	s.shows("fix/prices")
}
