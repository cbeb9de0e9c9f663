package git

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
)

// FileChange is one file by which two trees differ.
type FileChange struct {
	Kind byte // git's letter
	Path string
}

// Git's letters for a file that only the second tree has, and for one that only the first has.
const (
	AddedFile   = 'A'
	RemovedFile = 'D'
)

// DiffTrees lists the files by which two trees differ.
func (r Repo) DiffTrees(ctx context.Context, first, second string) ([]FileChange, error) {
	out, err := r.Run(ctx, "diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff",
		"--ignore-submodules=none", first, second, "--")
	if err != nil {
		return nil, err
	}
	fields := strings.Split(string(out.Stdout), "\x00")
	var all []FileChange
	for ; len(fields) > 1; fields = fields[2:] {
		if fields[0] == "" {
			return nil, fmt.Errorf("git answered %q", out.Stdout)
		}
		all = append(all, FileChange{Kind: fields[0][0], Path: fields[1]})
	}
	return all, nil
}

// Paths are those of the files.
func Paths(all []FileChange) []string {
	var out []string
	for _, d := range all {
		out = append(out, d.Path)
	}
	return out
}

// Modes in git's trees.
const (
	LinkMode      = "120000" // symbolic ones
	SubmoduleMode = "160000" // a submodule
)

// NameOf is git's name for a text.
func NameOf(text []byte, letters int) string {
	sum := NewSum(letters)
	fmt.Fprintf(sum, "blob %d\x00", len(text))
	sum.Write(text)
	return hex.EncodeToString(sum.Sum(nil))
}
