package git

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's own names of objects
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"orange/internal/run/proc"
)

// CheckIntact reports an error where an object of a range of commits holds something else than its name says. Git
// hashes no object that it reads, and agents can write where its objects lie: under the name of a judged commit, or
// of a folder of it, one would read something else. What lies on the near side of the range is not looked at.
func (r Repo) CheckIntact(ctx context.Context, commits ...string) error {
	// what a partial clone has not was not forged here
	args := append([]string{"rev-list", "--objects", "--no-object-names", "--missing=allow-promisor"}, commits...)
	out, err := r.Run(ctx, append(args, "--")...)
	if err != nil {
		return fmt.Errorf("list the objects of %s: %w", strings.Join(commits, " "), err)
	}
	objects := strings.Fields(string(out.Stdout))
	if err := r.checkNoneReplaced(ctx, objects); err != nil {
		return err
	}
	return r.CheckNames(ctx, r.Path, objects)
}

// checkNoneReplaced reports an error where git shows another object in the place of one of these, or other parents of a
// commit, to everyone who does not forbid it, as Orange does: a reviewer would judge what is not merged.
func (r Repo) checkNoneReplaced(ctx context.Context, objects []string) error {
	common, known := r.Folder()
	if !known || len(objects) == 0 {
		return nil
	}
	among := make(map[string]bool, len(objects))
	for _, object := range objects {
		among[object] = true
	}
	grafts, err := proc.ReadFile(filepath.Join(common, "info", "grafts"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look whether commits have other parents: %w", err)
	}
	for line := range strings.Lines(string(grafts)) {
		if commit, _, _ := strings.Cut(strings.TrimSpace(line), " "); among[commit] {
			return fmt.Errorf("%q gives the commit %s other parents: a reviewer would not see what is merged; remove "+
				"that line", filepath.Join(common, "info", "grafts"), commit)
		}
	}
	const replaced = "refs/replace/"
	rows, err := r.ListRefs(ctx, []string{replaced}, "refname")
	if err != nil {
		return fmt.Errorf("list the objects that are replaced: %w", err)
	}
	for _, row := range rows {
		if object := strings.TrimPrefix(row[0], replaced); among[object] {
			return fmt.Errorf("git shows another object in the place of %s: a reviewer would not see what is merged; "+
				"take that back: git -C %s replace -d %s", object, Quote(r.Path), object)
		}
	}
	return nil
}

// CheckNames reads objects, in git's words for them, and compares what they hold with their names.
func (r Repo) CheckNames(ctx context.Context, dir string, objects []string) error {
	if len(objects) == 0 {
		return nil
	}
	var seen objectStream
	_, err := r.runOnce(ctx, Call{Dir: dir, Args: []string{"cat-file", "--batch"}, stdout: &seen,
		Stdin: strings.Join(objects, "\n") + "\n"})
	switch {
	case seen.missing != "":
		return fmt.Errorf("git's object %s is not there; fetch it, or commit the work again", seen.missing)
	case seen.wrong != "":
		return fmt.Errorf("git's object %s holds something else than its name says: it was written over, and git "+
			"shows another content than was committed; \"git fsck\" names all such objects: delete their files in the "+
			"folder objects of the repository, and fetch them or commit the work again", seen.wrong)
	case err != nil:
		return fmt.Errorf("read the objects of a commit: %w", err)
	case seen.count != len(objects):
		return fmt.Errorf("git answered about %d of %d objects", seen.count, len(objects))
	}
	return nil
}

// objectStream reads what "git cat-file --batch" writes: for each object a line with its name, its type and its size,
// its bytes, and the end of a line.
type objectStream struct {
	line    []byte // of a head, as far as it was read
	name    string // of the object whose bytes come
	left    int64  // of these
	sum     hash.Hash
	count   int    // of the objects that were read to their ends
	wrong   string // the first that holds something else than its name says
	missing string // the first that is not there
}

var errNoObject = errors.New("git knows no such object, or answers in another way than it is read here")

// Write fails at the first object whose bytes do not have its name.
func (o *objectStream) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		var err error
		if o.sum == nil {
			rest, err = o.head(rest)
		} else {
			rest, err = o.bytes(rest)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

func (o *objectStream) head(text []byte) (rest []byte, err error) {
	line, rest, whole := bytes.Cut(text, []byte("\n"))
	o.line = append(o.line, line...)
	if !whole {
		return nil, nil
	}
	fields := strings.Fields(string(o.line))
	o.line = o.line[:0]
	if len(fields) == 0 {
		return rest, nil // the end of the line after an object
	}
	if len(fields) == 2 && fields[1] == "missing" {
		o.missing = fields[0]
	}
	if len(fields) != 3 || !IsCommit(fields[0]) {
		return nil, errNoObject
	}
	if o.left, err = strconv.ParseInt(fields[2], 10, 64); err != nil {
		return nil, errNoObject
	}
	o.name, o.sum = fields[0], NewSum(len(fields[0]))
	fmt.Fprintf(o.sum, "%s %d\x00", fields[1], o.left)
	if o.left == 0 {
		return rest, o.end()
	}
	return rest, nil
}

func (o *objectStream) bytes(text []byte) (rest []byte, err error) {
	part := text[:min(int64(len(text)), o.left)]
	o.sum.Write(part)
	if o.left -= int64(len(part)); o.left == 0 {
		err = o.end()
	}
	return text[len(part):], err
}

func (o *objectStream) end() error {
	holds := hex.EncodeToString(o.sum.Sum(nil))
	o.sum = nil
	o.count++
	if holds != o.name {
		o.wrong = o.name
		return errors.New("it holds something else than its name says")
	}
	return nil
}

// NewSum is the sum that names git's objects, where these names have so many letters.
func NewSum(letters int) hash.Hash {
	if letters == hex.EncodedLen(sha256.Size) {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // git's own names
}
