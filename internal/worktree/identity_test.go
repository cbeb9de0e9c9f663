package worktree

import (
	"os"
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
	write("gitconfig", "[user\n")
	if name, address, err := Identity(t.Context()); err == nil || name+address != "" {
		t.Errorf("of a broken file: found %q, %q and %v", name, address, err)
	}
}
