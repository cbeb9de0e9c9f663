package home

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"orange/internal/rules/task"
)

func TestPropose_namesWhatTheRepositoryLooksLikeItNeeds(t *testing.T) {
	t.Parallel()
	npm := [][]string{{"npm", "ci"}}
	tests := map[string]struct {
		files string // those with a star are under git
		have  task.WorktreeSetup
		want  task.WorktreeSetup
		seen  string
	}{
		"nothing": {files: "README.md*"},
		"no lock": {files: "package.json*"},
		"node": {files: "package-lock.json*", want: task.WorktreeSetup{Commands: npm, When: []string{
			"/package-lock.json"}}, seen: "package-lock.json"},
		"go": {files: "go.mod* go.sum*", want: task.WorktreeSetup{Commands: [][]string{{"go", "mod", "download"}},
			When: []string{"/go.mod", "/go.sum"}}, seen: "go.mod"},
		"submodule": {files: ".gitmodules*", want: task.WorktreeSetup{Submodules: true}, seen: ".gitmodules"},
		"secrets": {files: ".env .env.local .env.example .env.tracked* sub/.env",
			want: task.WorktreeSetup{Copy: []string{"/.env", "/.env.local"}}, seen: ".env .env.local"},
		"it says itself": {files: ".env .worktreeinclude*"},
		"one node tool": {files: "yarn.lock* package-lock.json*", want: task.WorktreeSetup{Commands: [][]string{{
			"yarn", "install", "--frozen-lockfile"}}, When: []string{"/yarn.lock"}}, seen: "yarn.lock"},
		"python": {files: "requirements.txt*", want: task.WorktreeSetup{Commands: [][]string{{"python3", "-m", "venv",
			".venv"}, {".venv/bin/pip", "install", "-r", "requirements.txt"}}, When: []string{"/requirements.txt"}},
			seen: "requirements.txt"},
		"a person said it": {files: "package-lock.json* .env", have: task.WorktreeSetup{Commands: [][]string{{"make"}},
			Link: []string{".env"}}, want: task.WorktreeSetup{Commands: [][]string{{"make"}}, Link: []string{".env"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			run := func(args ...string) {
				out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
				if err != nil {
					t.Fatalf("git %q: %v\n%s", args, err, out)
				}
			}
			run("init", "-q")
			for _, file := range strings.Fields(tt.files) {
				file, tracked := strings.CutSuffix(file, "*")
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				if tracked {
					run("add", file)
				}
			}
			got, seen, err := (&Home{}).Propose(t.Context(), task.Project{Path: dir, Worktree: tt.have})
			if err != nil || !reflect.DeepEqual(got, tt.want) || strings.Join(seen, " ") != tt.seen {
				t.Errorf("proposed %+v after %q, %v", got, seen, err)
			}
		})
	}
}
