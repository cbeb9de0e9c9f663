// Package install writes what coding agents are taught about Orange to where their programs look for it, and takes it
// away again.
//
// It owns which files Orange has written there: a list of their hashes in $ORANGE_HOME tells them from files that a
// person wrote or changed, which stay as they are. It does not own the texts (skills), nor which folders a program
// looks into (harness).
package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"orange/internal/rules/harness"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
	"orange/internal/work/git"
	"orange/internal/work/worktree"
)

// Skills installs the skills of a file system with one folder a skill. Every field is required.
type Skills struct {
	Files     fs.FS
	Home      string // $ORANGE_HOME
	Harnesses harnesses
	Getenv    func(name string) string // of the one who asks
}

type harnesses interface {
	ListHarnesses(path string) ([]harness.Choice, error)
	Harness(name string) (*harness.Harness, error)
}

// target is one file at one place.
type target struct {
	harness.SkillFile
	text   []byte
	folder string // that git is to ignore, relative to the project's top; empty where nothing is to be ignored
}

// place is a folder into which skills go.
type place struct {
	top, folder string // the folder is below the top: the user's home, or a checkout
	harnesses   []string
	project     bool // it is in a project, out of which nothing is written
	ignored     bool // git shall ignore what is written there
}

// Plan says what there is to write. It changes nothing.
func (s Skills) Plan(ctx context.Context, w harness.SkillsWanted) (harness.SkillPlan, error) {
	known, err := s.read()
	if err != nil {
		return harness.SkillPlan{}, err
	}
	_, plan, err := s.plan(ctx, w, known)
	return plan, err
}

func (s Skills) plan(ctx context.Context, w harness.SkillsWanted, known []writtenFile) (
	[]target, harness.SkillPlan, error) {
	plan := harness.SkillPlan{Files: []harness.SkillFile{}}
	chosen, notes, err := s.chosenHarnesses(w)
	if err != nil {
		return nil, plan, err
	}
	plan.Notes = notes
	places, err := placesOf(chosen, w.Project, s.Getenv("HOME"))
	if err != nil {
		return nil, plan, err
	}
	var all []target
	for _, p := range places {
		if w.Project != "" {
			note := ""
			p.project = true
			if p.ignored, note, err = ignores(ctx, p); err != nil {
				return nil, plan, err
			}
			plan.Notes = append(plan.Notes, note)
		}
		targets, err := s.targets(p, known)
		if err != nil {
			return nil, plan, err
		}
		all = append(all, targets...)
	}
	for _, one := range all {
		plan.Files = append(plan.Files, one.SkillFile)
	}
	return all, plan, nil
}

// chosenHarnesses are the harnesses that skills are installed for. Notes name those of installed programs that are left
// out.
func (s Skills) chosenHarnesses(w harness.SkillsWanted) (all []*harness.Harness, notes []string, err error) {
	list, err := s.Harnesses.ListHarnesses(s.Getenv("PATH"))
	if err != nil {
		return nil, nil, err
	}
	project := w.Project != ""
	for _, choice := range list {
		if w.Harness != "" && choice.Name != w.Harness || w.Harness == "" && choice.Path == "" {
			continue
		}
		h, err := s.Harnesses.Harness(choice.Name)
		switch {
		case err != nil:
			return nil, nil, err
		case h.SkillsFolder(project) != "":
			all = append(all, h)
		case w.Harness != "":
			return nil, nil, task.Notef(task.ErrUsage, "cannot install for %q: its harness file does not say where "+
				"the program looks for skills; give it the key %q", w.Harness, key(project))
		default:
			notes = append(notes, fmt.Sprintf("%s is left out: its harness file has no %q", choice.Name, key(project)))
		}
	}
	switch {
	case len(all) > 0:
		return all, notes, nil
	case w.Harness != "":
		return nil, nil, task.Notef(task.ErrNotFound, "there is no harness %q; %q lists them", w.Harness,
			"orange harness list")
	}
	return nil, nil, task.Notef(task.ErrUsage, "cannot install anything: none of the programs that %q lists, and that "+
		"look for skills, is on PATH; install one, or name one with --harness", "orange harness list")
}

func key(project bool) string {
	if project {
		return "project_skills"
	}
	return "skills"
}

// placesOf are the folders into which skills go, each once: several programs may look into the same.
func placesOf(all []*harness.Harness, project, home string) ([]place, error) {
	top := project
	if project == "" {
		if home == "" {
			return nil, errors.New("cannot tell where your home folder is: $HOME is not defined; set HOME")
		}
		top = home
	}
	var out []place
	for _, h := range all {
		folder := path.Clean(h.SkillsFolder(project != ""))
		i := slices.IndexFunc(out, func(p place) bool { return p.folder == folder })
		if i < 0 {
			i, out = len(out), append(out, place{top: top, folder: folder})
		}
		out[i].harnesses = append(out[i].harnesses, h.Name)
	}
	return out, nil
}

// ignores reports whether git is to ignore what is written into a place of a checkout, and says so.
func ignores(ctx context.Context, p place) (ignored bool, note string, err error) {
	if err := inside(p.top, p.folder); err != nil {
		return false, "", err
	}
	tracked, err := worktree.Main{Repo: git.Repo{Path: p.top}}.Tracks(ctx, p.folder)
	if errors.Is(err, task.ErrUsage) {
		return false, "", task.Notef(task.ErrUsage, "cannot install into the project: %v; install for yourself, "+
			"without --project", err)
	}
	if err != nil || tracked {
		return false, fmt.Sprintf("git tracks %s: commit the skills too, or they show up as new files", p.folder), err
	}
	return true, fmt.Sprintf("git will ignore the skills in %s (info/exclude of the repository); the worktrees of "+
		"tasks have none of them", p.folder), nil
}

// inside refuses a folder of a checkout that leads out of it by a link.
func inside(top, folder string) error {
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return fmt.Errorf("look at the project: %w", err)
	}
	dir := filepath.Join(top, filepath.FromSlash(folder))
	for {
		found, err := filepath.EvalSymlinks(dir)
		if err == nil {
			if found != real && !strings.HasPrefix(found, real+string(filepath.Separator)) {
				return task.Notef(task.ErrUsage, "cannot install into %q: it leads to %q, outside of the project",
					folder, found)
			}
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look at %q: %w", dir, err)
		}
		dir = filepath.Dir(dir)
	}
}

// targets are the files of all skills at one place, as they are there now.
func (s Skills) targets(p place, known []writtenFile) ([]target, error) {
	names, err := fs.Glob(s.Files, "*/*")
	if err != nil {
		return nil, fmt.Errorf("list the skills: %w", err)
	}
	var out []target
	for _, name := range names {
		text, err := fs.ReadFile(s.Files, name)
		if err != nil {
			return nil, fmt.Errorf("read the skill %q: %w", name, err)
		}
		one := target{SkillFile: harness.SkillFile{Harnesses: p.harnesses,
			Path: filepath.Join(p.top, filepath.FromSlash(p.folder), filepath.FromSlash(name))}, text: text}
		if p.ignored {
			one.folder = path.Join(p.folder, path.Dir(name))
		}
		if p.project {
			if err := inside(p.top, path.Join(p.folder, path.Dir(name))); err != nil {
				return nil, err
			}
		}
		there, err := digestAt(one.Path)
		switch {
		case err != nil:
			return nil, err
		case there == absent:
			one.State = harness.SkillNew
		case there == digest(text):
			one.State = harness.SkillSame
		case isOurs(known, one.Path, there):
			one.State = harness.SkillChanged
		default:
			one.State = harness.SkillYours
		}
		out = append(out, one)
	}
	return out, nil
}

// absent is what digestAt answers where nothing is.
const absent = ""

// digestAt is the digest of what is at a path. What is no file has one that no text has.
func digestAt(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // where a folder was is a file
		return absent, nil
	}
	if err != nil {
		return absent, fmt.Errorf("look for the skill: %w", err)
	}
	if !info.Mode().IsRegular() {
		return info.Mode().Type().String(), nil
	}
	text, err := proc.ReadFile(path)
	if err != nil {
		return absent, fmt.Errorf("read the skill that is there: %w", err)
	}
	return digest(text), nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Install writes what was shown of a plan, as far as it is still as it was then, and answers what it wrote.
func (s Skills) Install(ctx context.Context, w harness.SkillsWanted, shown harness.SkillPlan) (
	done []harness.SkillFile, err error) {
	err = s.change(ctx, func(known []writtenFile) ([]writtenFile, error) {
		all, _, err := s.plan(ctx, w, known)
		if err != nil {
			return known, err
		}
		for _, one := range all {
			seen := func(f harness.SkillFile) bool { return f.Path == one.Path && f.State == one.State }
			if one.State != harness.SkillNew && one.State != harness.SkillChanged ||
				!slices.ContainsFunc(shown.Files, seen) {
				continue
			}
			if known, err = s.write(ctx, w.Project, one, known); err != nil {
				return known, err
			}
			done = append(done, one.SkillFile)
		}
		return known, nil
	})
	return done, err
}

// write writes one file. It is on the list before it is there: one that is there and not on the list counts as the
// person's.
func (s Skills) write(ctx context.Context, project string, one target, known []writtenFile) ([]writtenFile, error) {
	made, err := foldersToMake(filepath.Dir(one.Path))
	if err != nil {
		return known, err
	}
	known = note(known, writtenFile{Path: one.Path, Digests: []string{digest(one.text)}, Made: made, Project: project,
		Ignored: one.folder})
	if err := s.save(known); err != nil {
		return known, err
	}
	if one.folder != "" {
		if err := (worktree.Main{Repo: (git.Repo{Path: project})}).Ignore(ctx, one.folder); err != nil {
			return known, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(one.Path), task.PrivateFolder); err != nil {
		return known, fmt.Errorf("make the folder of the skill: %w", err)
	}
	if err := proc.ReplaceFile(one.Path, one.text); err != nil {
		return known, fmt.Errorf("install the skill: %w", err)
	}
	return known, nil
}

// foldersToMake are the folders that have to be made for a folder to be there, the outermost first.
func foldersToMake(dir string) ([]string, error) {
	var out []string
	for {
		_, err := os.Stat(dir)
		if err == nil {
			slices.Reverse(out)
			return out, nil
		}
		if target, link := os.Readlink(dir); link == nil {
			return nil, fmt.Errorf("cannot install into %q: it is a link to %q, which is not there; make that folder, "+
				"or take the link away", dir, target)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for the folder of the skill: %w", err)
		}
		out, dir = append(out, dir), filepath.Dir(dir)
	}
}
