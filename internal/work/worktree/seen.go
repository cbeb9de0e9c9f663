package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/work/git"
)

// Companion is a file that belongs to the slot and lies outside of it, where no agent looks. It goes with the slot.
func (s Slot) Companion(suffix string) string {
	return strings.TrimSuffix(s.noteFile(), ".json") + suffix
}

// The companions of a slot that are about the set-up which was done in it.
const (
	SetUpNote   = ".setup.json"
	SetUpOutput = ".setup.log"
)

func (s Slot) forgetSetUp() error {
	for _, suffix := range []string{SetUpNote, SetUpOutput, leftNote} {
		if err := os.Remove(s.Companion(suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget the set-up of the workspace: %w", err)
		}
	}
	return nil
}

// Digest tells apart what the files that the patterns name hold: those that git tracks in the slot, and those that
// were brought. The patterns are those of a .gitignore.
func (s Slot) Digest(ctx context.Context, patterns []string) (string, error) {
	sum := sha256.New()
	var files []string
	if len(patterns) > 0 {
		args := []string{"ls-files", "-z", "--cached", "--ignored"}
		for _, one := range patterns {
			args = append(args, "--exclude="+one)
		}
		var err error
		if files, err = s.Repo.Names(ctx, git.Call{Dir: s.Dir, Args: args}); err != nil {
			return "", fmt.Errorf("list the files that a set-up rests on: %w", err)
		}
	}
	extras, err := s.Extras().notedExtras()
	if err != nil {
		return "", err
	}
	parsed := parsePatterns(patterns)
	for _, g := range extras {
		if matches(parsed, g.Path) {
			files = append(files, g.Path)
		}
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		fmt.Fprintf(sum, "%q %s\n", file, s.Files().digest(file))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Settle takes what lies in the slot for what it was prepared with, after a set-up: files of the commit that it has
// changed are no agent's work, and what it has made is excluded from git. No one must work there.
func (s Slot) Settle(ctx context.Context) (err error) {
	defer git.Explain(&err, "cannot note what the set-up has done in workspace %q", s.Dir)
	here, present, err := s.look(ctx)
	if err == nil && !present {
		err = errors.New("it is not there")
	}
	if err != nil {
		return err
	}
	all, err := s.Files().changes(ctx, "", "normal")
	if err != nil {
		return err
	}
	var made []string
	rest := slices.DeleteFunc(all, func(c change) bool {
		if c.tree == untracked {
			made = append(made, "/"+literal(filepath.ToSlash(c.path)))
		}
		return c.tree == untracked
	})
	if err := here.addExcludes(ctx, made...); err != nil {
		return err
	}
	prepared, _, err := s.note(ctx)
	if err != nil {
		return err
	}
	prepared.Shown = s.Files().shownNow(rest)
	known, err := s.Files().list(ctx)
	if err != nil {
		return err
	}
	for _, file := range s.Files().strayRules(known.objects()) {
		prepared.Shown[file] = s.Files().digest(file)
	}
	return s.writeNote(prepared)
}
