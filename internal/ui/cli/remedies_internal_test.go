package cli

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A line that a message names is one that a person or an agent can run: the command is there, and so are its flags,
// each with its value, and what the command needs.
func TestEveryCommandThatAMessageNamesCanBeRun(t *testing.T) {
	t.Parallel()
	ssh, server := (&Program{}).root(), (&Program{Served: &served{}}).root()
	found := 0
	for place, text := range messages(t) {
		for _, words := range remedies(text, ssh) {
			found++
			problem := cannotRun(words, ssh, false)
			if problem != "" && words[0] == "fleet" {
				problem = cannotRun(words, server, true)
			}
			if problem != "" {
				t.Errorf("%s: orange %s: %s", place, strings.Join(words, " "), problem)
			}
		}
	}
	if found < 250 {
		t.Errorf("found only %d commands in messages", found)
	}
}

func TestCannotRun_findsWhatALineLacks(t *testing.T) {
	t.Parallel()
	root := (&Program{}).root()
	for text, want := range map[string]string{
		"start it: orange task respawn \x00; or":           "",
		"change it with orange project update --subdir":    "flag needs an argument",
		"say it: orange task say \x00":                     "expected: orange task say ID TEXT",
		"(orange task say \x00 \"...\")":                   "",
		"let it go: orange fleet leave \x00 --on HOST":     "it needs --yes",
		"look: orange task vanish \x00":                    "",
		"finish it: orange task merge \x00 --vanish, then": "unknown flag",
		"run orange doctor --fix. Then":                    "",
		"take one: orange task snapshot ID":                "it needs --to",
		"  orange task say 4Fz TEXT more":                  "expected: orange task say ID TEXT",
	} {
		problem := ""
		for _, words := range remedies(text, root) {
			problem += cannotRun(words, root, false)
		}
		if want == "" && problem != "" || !strings.Contains(problem, want) {
			t.Errorf("%q: found %q, want %q", text, problem, want)
		}
	}
}

// needed are the flags that a command refuses to go on without, in a fleet with a server or in one without.
func needed(path string, served bool) []string {
	switch path {
	case "orange task snapshot":
		return []string{"to"}
	case "orange task restore":
		return []string{"from"}
	case "orange fleet leave": // no person can be asked at a host
		return []string{"yes"}
	case "orange fleet create":
		if !served {
			return []string{"on"}
		}
	case "orange fleet rescue":
		if !served {
			return []string{"now"}
		}
	}
	return nil
}

// cannotRun says why the program would not take a line as it is; empty where it does.
func cannotRun(words []string, root *cobra.Command, served bool) string {
	values := slices.Clone(words)
	for i, word := range words { // a number is a value of every flag
		if strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" || strings.Contains(word, unknownValue) {
			values[i] = "1"
		}
	}
	c, rest, err := root.Find(joinBranch(values))
	if err == nil {
		c.Flags().VisitAll(func(f *pflag.Flag) { f.Changed = false }) // of the line before
		err = c.ParseFlags(rest)
	}
	if errors.Is(err, pflag.ErrHelp) {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	for _, name := range needed(c.CommandPath(), served) {
		if !c.Flags().Changed(name) {
			return "it needs --" + name
		}
	}
	args := c.Flags().Args()
	if c.HasSubCommands() && len(args) == 0 {
		return "" // it lists what it holds
	}
	err = c.ValidateArgs(args)
	if err != nil && len(args) > 1 && words[len(words)-1] == unknownValue { // flags may be what is not known yet
		err = c.ValidateArgs(args[:len(args)-1])
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// unknownValue is in a message where something is known only when it is printed.
const unknownValue = "\x00"

var verb = regexp.MustCompile(`%(\[\d+\])?[-+#0-9.]*[a-zA-Z]`)

// messages are the texts of the program's sources, each at its place: with what is known only when they are printed
// as unknownValue, and without the help of commands, which is prose.
func messages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{"internal", "cmd", "fleet/client", "fleet/host", "fleet/screen"} {
		err := filepath.WalkDir(filepath.Join("../../..", dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, path, source, 0)
			if err != nil {
				return err
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					key, is := n.Key.(*ast.Ident)
					return !is || key.Name != "Use" && key.Name != "Short" && key.Name != "Long"
				case *ast.CallExpr:
					return !definesFlag(n)
				case ast.Expr:
					if text, is := textOf(n); is {
						all[set.Position(n.Pos()).String()] = verb.ReplaceAllString(text, unknownValue)
						return false
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// definesFlag reports whether a call is one such as c.Flags().BoolVar(...).
func definesFlag(call *ast.CallExpr) bool {
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	on, is := method.X.(*ast.CallExpr)
	if !is {
		return false
	}
	flags, is := on.Fun.(*ast.SelectorExpr)
	return is && strings.HasSuffix(flags.Sel.Name, "Flags")
}

// textOf is a literal, or texts that are put together; what is no text in them is an unknownValue.
func textOf(n ast.Expr) (text string, is bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(n.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, first := textOf(n.X)
		right, second := textOf(n.Y)
		if n.Op != token.ADD || !first && !second {
			return "", false
		}
		if !first {
			left = unknownValue
		}
		if !second {
			right = unknownValue
		}
		return left + right, true
	}
	return "", false
}

var (
	whole       = regexp.MustCompile(`(?m)^  orange .*$`)
	quoted      = regexp.MustCompile(`"[^"]*"`)
	begins      = regexp.MustCompile(`(^|[^-\w./])orange `)
	placeholder = regexp.MustCompile(`^(\[?[A-Z][-A-Z0-9@\].=_]*|4Fz|.*` + unknownValue + `.*)$`)
)

// remedies are the command lines that a text names, as words. One in a line of its own is all of that line, and another
// one ends where the sentence goes on.
func remedies(text string, root *cobra.Command) [][]string {
	var all [][]string
	for _, line := range whole.FindAllString(text, -1) {
		line, _, _ = strings.Cut(line, " | ")
		for _, end := range []string{" > ", " <", " && "} {
			line, _, _ = strings.Cut(line, end)
		}
		words := strings.Fields(quoted.ReplaceAllString(line, "TEXT"))
		all = append(all, words[1:])
	}
	text = whole.ReplaceAllString(text, "")
	for _, at := range begins.FindAllStringIndex(text, -1) {
		if words := remedy(text[at[1]:], root); len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}

func remedy(text string, root *cobra.Command) (words []string) {
	text, _, _ = strings.Cut(text, "\n")
	c, value := root, false // value: the word is that of the flag before it
	for last := false; text != "" && !last; {
		var word string
		if strings.HasPrefix(text, `"`) {
			word, text, last = strings.Cut(text[1:], `"`)
			last = !last
			text = strings.TrimPrefix(text, " ")
			if last && len(words) > 0 && !value {
				return words
			}
			words, value = append(words, word), false
			continue
		}
		word, text, _ = strings.Cut(text, " ")
		if end := strings.IndexAny(word, "\";,:()'`"); end >= 0 {
			word, last = word[:end], true
		}
		if short := strings.TrimRight(word, "."); short != word && !strings.HasPrefix(word, "..") {
			word, last = short, true
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		sub, _, err := c.Find([]string{word})
		switch {
		case word == "", word == "-->": // the end of a comment
			return words
		case value:
			value = false
		case strings.HasPrefix(word, "--"):
			f := c.Flags().Lookup(name)
			if f == nil {
				f = c.InheritedFlags().Lookup(name)
			}
			value = f != nil && f.NoOptDefVal == "" && !strings.Contains(word, "=")
		case c.HasSubCommands() && err == nil && sub != c:
			c = sub
		case c.HasSubCommands() || !placeholder.MatchString(word):
			return words
		}
		words = append(words, word)
	}
	return words
}
