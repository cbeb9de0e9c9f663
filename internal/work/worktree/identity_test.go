package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestIdentity_isThatOfThePersonAndNeverTheRepositorys(t *testing.T) {
	dir := t.TempDir()
	global := filepath.Join(dir, "gitconfig")
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	repo := filepath.Join(dir, "repo")
	if err := os.MkdirAll(filepath.Join(repo, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("repo/.git/config", "[user]\n\tname = Mallory\n\temail = mallory@example.com\n")
	t.Chdir(repo)
	t.Setenv("GIT_DIR", filepath.Join(repo, ".git"))
	for _, tt := range []struct{ config, name, address string }{
		{"[user]\n\tname = Ada Lovelace\n\temail = ada@example.com\n", "Ada Lovelace", "ada@example.com"},
		{"[user]\n\tname = Ada\n\tname = \"Ada\\nL.\"\n", "Ada\nL.", ""},
		{"[include]\n\tpath = more\n[user]\n\tname = Ada\n", "Ada", "from@more"},
		{"[core]\n\teditor = vi\n", "", ""},
	} {
		write("more", "[user]\n\temail = from@more\n")
		write("gitconfig", tt.config)
		name, address, err := Identity(t.Context())
		if err != nil || name != tt.name || address != tt.address {
			t.Errorf("%q: found %q, %q and %v", tt.config, name, address, err)
		}
	}
	write("gitconfig", "[user]\n\tname = Ada\n[user\n")
	if name, address, err := Identity(t.Context()); err == nil || name+address != "" {
		t.Errorf("of a broken file: found %q, %q and %v", name, address, err)
	}
}

// What an agent's commit would be refused for is known before there is one.
func TestHasIdentity_isWhatGitWouldCommitWith(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "gitconfig")
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME",
		"GIT_COMMITTER_EMAIL", "EMAIL"} {
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	repo := filepath.Join(dir, "repo")
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	both := []string{"GIT_AUTHOR_NAME=P", "GIT_AUTHOR_EMAIL=p@localhost", "GIT_COMMITTER_NAME=P",
		"GIT_COMMITTER_EMAIL=p@localhost"}
	for _, tt := range []struct {
		name, global, dir string
		env               []string
		want              bool
	}{
		{"nothing", "", repo, nil, false},
		{"no address", "[user]\nname = P\n", repo, nil, false},
		{"no name", "[user]\nemail = p@localhost\n", repo, nil, false},
		{"an empty name", "[user]\nname = \"\"\nemail = p@localhost\n", repo, nil, false},
		{"both", "[user]\nname = P\nemail = p@localhost\n", repo, nil, true},
		{"outside of a repository", "[user]\nname = P\nemail = p@localhost\n", dir, nil, true},
		{"none outside of a repository", "", dir, nil, false},
		{"by variables", "", repo, both, true},
		{"an author alone", "", repo, both[:2], false},
	} {
		if err := os.WriteFile(config, []byte(tt.global), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := HasIdentity(t.Context(), tt.dir, tt.env); got != tt.want || err != nil {
			t.Errorf("%s: %v, %v", tt.name, got, err)
		}
	}
	if err := os.WriteFile(config, []byte("[user\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := HasIdentity(t.Context(), repo, nil); err == nil {
		t.Error("a configuration that cannot be read is no error")
	}
}
