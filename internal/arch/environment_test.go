package arch

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ownProcess lists the files that may look at the process that they run in: its arguments, its folder, its environment
// and its terminal. Everywhere else these are values: a proc.Call from main on, and the environment of a context.
func ownProcess() map[string]string {
	return map[string]string{
		"cmd/orange-mcp/main.go":         "hands them on",
		"internal/run/proc/call.go":      "takes them once, as values",
		"internal/run/proc/become.go":    "Orange goes on in another file of its own",
		"internal/run/proc/terminal.go":  "gives the terminal to a program of the person's",
		"internal/run/proc/proc.go":      "the same",
		"internal/run/proc/supervise.go": "an agent gets its window",
	}
}

// backgrounds lists the files that may begin a context of their own, with the reason. A program that is started under
// one gets the environment of this process, and not of the one who asks.
func backgrounds() map[string]string {
	return map[string]string{
		"internal/app/open.go":              "closes the home, and starts nothing",
		"internal/app/launcher/launcher.go": "is the program of an agent's window",
		"internal/app/server/server.go":     "is a program of its own",
		"internal/app/traces/traces.go":     "reads a file",
		"internal/engine/evidence/serve.go": "is a program of its own, and starts nothing",
		"internal/proof/simulate/hooks.go":  "starts nothing",
		"internal/run/launch/launch.go":     "is the program of an agent's window",
		"internal/run/proc/limit.go":        "ends what was started",
		"internal/run/proc/ps.go":           "asks the system",
		"internal/run/proc/signals.go":      "is where main begins",
		"internal/store/home/views.go":      "takes a lock",
		"internal/store/logfile/logfile.go": "takes a lock",
	}
}

func TestOnlyAFewFilesLookAtTheirOwnProcess(t *testing.T) {
	t.Parallel()
	looks := []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv", "Getwd", "Chdir",
		"Stdin", "Stdout", "Stderr", "Args", "UserHomeDir", "UserConfigDir", "UserCacheDir", "TempDir"}
	wantUses(t, "os", looks, ownProcess(), "a proc.Call has it, or proc.Getenv")
}

// The environment of a process goes to no program: proc.Environment leaves out what belongs to who started it.
func TestTheFleetHandsOnNoEnvironment(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		path := filepath.ToSlash(f.path)
		if f.test || !strings.HasPrefix(path, "fleet/") || strings.HasPrefix(path, "fleet/testkit/") ||
			path == "fleet/cmd/orange-fleet/client.go" { // the library asks what the terminal can show
			continue
		}
		set, tree, _ := parsed(t, f)
		ast.Inspect(tree, func(n ast.Node) bool {
			selected, _ := n.(*ast.SelectorExpr)
			if selected == nil || selected.Sel.Name != "Environ" {
				return true
			}
			if from, _ := selected.X.(*ast.Ident); from != nil && from.Name == "os" {
				t.Errorf("%s asks for the environment of its process", set.Position(n.Pos()))
			}
			return true
		})
	}
}

func TestFewFilesBeginAContext(t *testing.T) {
	t.Parallel()
	wantUses(t, "context", []string{"Background", "TODO"}, backgrounds(), "take the one of the caller")
}

// wantUses requires that the files of the product that use names of a package of the library are those of a list.
func wantUses(t *testing.T, pkg string, names []string, may map[string]string, instead string) {
	t.Helper()
	used := map[string]bool{}
	for _, f := range sources(t) {
		path := filepath.ToSlash(f.path)
		top, _, _ := strings.Cut(path, "/")
		if f.test || support()[f.pkg] != "" || top != "internal" && top != "cmd" {
			continue
		}
		set, tree, _ := parsed(t, f)
		ast.Inspect(tree, func(n ast.Node) bool {
			selected, is := n.(*ast.SelectorExpr)
			if !is {
				return true
			}
			from, _ := selected.X.(*ast.Ident)
			if from == nil || from.Name != pkg || !slices.Contains(names, selected.Sel.Name) {
				return true
			}
			if used[path] = true; may[path] == "" {
				t.Errorf("%s uses %s.%s: %s", set.Position(n.Pos()), pkg, selected.Sel.Name, instead)
			}
			return true
		})
	}
	for path := range may {
		if !used[path] {
			t.Errorf("%s does not use it any more: take it off the list", path)
		}
	}
}

// One function makes the environment of every program that is started: no hook of git, no window and no agent hands
// its own on.
func TestOnePlaceMakesTheEnvironmentOfAProgram(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if f.test || f.pkg != "run/proc" || filepath.Base(f.path) == "environment.go" {
			continue
		}
		set, tree, _ := parsed(t, f)
		ast.Inspect(tree, func(n ast.Node) bool {
			selected, _ := n.(*ast.SelectorExpr)
			if selected == nil {
				return true
			}
			from, _ := selected.X.(*ast.Ident)
			made := from != nil && from.Name == "exec" &&
				slices.Contains([]string{"Command", "CommandContext"}, selected.Sel.Name)
			if made || from != nil && from.Name == "cmd" && selected.Sel.Name == "Env" {
				t.Errorf("%s makes a program, or gives it an environment: Command.prepared does", set.Position(n.Pos()))
			}
			return true
		})
	}
}
