package evidence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/workflow"
)

// Bounds of what one glob may look through.
const (
	maxFound   = 10_000  // files
	maxEntries = 200_000 // names in folders
	maxLevels  = 100     // of folders in folders
	maxBytes   = 1 << 30 // of all files together
)

// tooMuch says that a bound was met.
type tooMuch struct{ what string }

func (e *tooMuch) Error() string { return e.what }

// seeGlob looks at a part that asks for files by a pattern: regular ones count, and where nothing else is said
// only those with something in them.
func (v *view) seeGlob(ctx context.Context, p workflow.Part) (decide.Fact, error) {
	fact := decide.Fact{Source: p.Glob, Where: p.Glob}
	files, empty, err := v.find(ctx, p.Glob, p.Empty)
	var list strings.Builder
	if err == nil {
		err = v.list(ctx, &list, files)
	}
	var bound *tooMuch
	switch {
	case ctx.Err() != nil:
		return fact, ctx.Err()
	case errors.As(err, &bound):
		fact.Found, fact.Want = bound.what, "keep what does not belong to the task elsewhere"
		return fact, nil
	case err != nil:
		fact.Found, fact.Want = err.Error(), "make what "+p.Glob+" names readable"
		return fact, nil
	case len(files) == 0 && p.Empty:
		fact.Found = "no such file" // unless that is right
	case len(files) == 0:
		fact.Found, fact.Want = "no such file", "write at least one file that "+p.Glob+" names"
		if empty > 0 {
			fact.Found = fmt.Sprintf("%d such files or folders, and none that is a file with something in it", empty)
		}
		return fact, nil
	}
	fact.Text = list.String()
	fact.Digest = document.Digest(fact.Text)
	if p.JQ == "" {
		fact.Holds = true
		return fact, nil
	}
	base, _ := doublestar.SplitPattern(p.Glob)
	paths := make([]string, len(files))
	for i, name := range files {
		paths[i] = name
		if base != "." {
			paths[i] = strings.TrimPrefix(name, base+"/")
		}
	}
	input, err := json.Marshal(paths)
	return v.question(p, fact, input), err
}

// find lists the files that a pattern names, sorted, and counts what it names besides. Hollow has it list
// empty files too.
func (v *view) find(ctx context.Context, pattern string, hollow bool) (files []string, others int, err error) {
	pattern = path.Clean(pattern)
	w := walk{ctx: ctx, in: v.root.FS(), pattern: pattern, hollow: hollow, levels: maxLevels}
	if !strings.Contains(pattern, "**") {
		w.levels = strings.Count(pattern, "/") + 1 // nothing further down can match
	}
	base, _ := doublestar.SplitPattern(pattern)
	info, err := fs.Stat(w.in, base)
	if err == nil && info.IsDir() {
		if base != "." && doublestar.MatchUnvalidated(pattern, base) {
			w.others++
		}
		err = w.folder(base)
	}
	var bound *tooMuch
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		err = nil // there is nothing that could match
	case err != nil && !errors.As(err, &bound):
		err = inWords(err)
	}
	slices.Sort(w.files)
	return w.files, w.others, err
}

// walk goes through a tree once, whatever the pattern is: any number of doublestars in it cost no further look.
type walk struct {
	ctx     context.Context // a walk knows no other way to be stopped
	in      fs.FS
	pattern string
	hollow  bool // files with nothing in them count
	levels  int  // how deep a name may lie and still match, or be looked for

	seen   int // names
	listed int // folders
	files  []string
	others int
}

func (w *walk) folder(name string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(w.in, name)
	if err != nil {
		return err
	}
	w.listed++
	if w.seen += len(entries); w.seen > maxEntries {
		return &tooMuch{fmt.Sprintf("folders with more than %d names together", maxEntries)}
	}
	for _, entry := range entries {
		// or gone since
		if err := w.entry(path.Join(name, entry.Name()), entry); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w *walk) entry(name string, entry fs.DirEntry) error {
	matches := doublestar.MatchUnvalidated(w.pattern, name)
	if !matches && !entry.IsDir() {
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	switch {
	case !matches:
	case !info.Mode().IsRegular() || info.Size() == 0 && !w.hollow:
		w.others++
	case len(w.files) == maxFound:
		return &tooMuch{fmt.Sprintf("more than %d files", maxFound)}
	default:
		w.files = append(w.files, name)
	}
	level := strings.Count(name, "/") + 1
	switch {
	case !info.IsDir():
		return nil
	case level < w.levels:
		return w.folder(name)
	case w.levels == maxLevels && level == maxLevels:
		return &tooMuch{fmt.Sprintf("folders nested more than %d levels deep", maxLevels)}
	}
	return nil
}

// list writes a line for every file: its path and the digest of what it holds.
func (v *view) list(ctx context.Context, to *strings.Builder, files []string) error {
	left := int64(maxBytes)
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		digest, size, err := v.digest(name, left)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		left -= size
		fmt.Fprintf(to, "%s %s\n", name, digest)
	}
	return nil
}

// digest is that of the normalised text, and of the bytes as they are where a file is too large to be a text
// written by hand.
func (v *view) digest(name string, most int64) (string, int64, error) {
	file, info, err := open(v.root, name)
	if err != nil {
		return "", 0, err
	}
	defer file.Close()
	if info.Size() > most {
		return "", 0, &tooMuch{fmt.Sprintf("files with more than %d MiB together", maxBytes>>20)}
	}
	if info.Size() <= maxFile {
		text, err := io.ReadAll(io.LimitReader(file, maxFile))
		return document.Digest(document.Normalise(string(withoutMark(text)))), int64(len(text)), err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, io.LimitReader(file, most))
	return hex.EncodeToString(sum.Sum(nil)), size, err
}
