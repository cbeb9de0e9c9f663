package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MostFile is how many bytes of a file ReadFile reads.
const MostFile = 64 << 20

// MostSettings is how many bytes of a file ReadSettings reads.
const MostSettings = 1 << 20

// ErrNoFile says that something else is where a file should be: a pipe, a socket, a device, or a folder.
var ErrNoFile = errors.New("it is no file; move it away")

// OpenFile opens a file in whose place another program may have put something else. It never waits: what is no file is
// ErrNoFile. A link is followed.
func OpenFile(path string, flags int, perm os.FileMode) (*os.File, error) {
	return regular(path, flags, func(flags int) (*os.File, error) { return os.OpenFile(path, flags, perm) })
}

// OpenIn is OpenFile for a file below a folder, out of which no link leads.
func OpenIn(root *os.Root, name string, flags int, perm os.FileMode) (*os.File, error) {
	return regular(name, flags, func(flags int) (*os.File, error) { return root.OpenFile(name, flags, perm) })
}

// regular opens what is a file. It empties the file only then.
func regular(name string, flags int, open func(flags int) (*os.File, error)) (*os.File, error) {
	file, err := open(flags&^os.O_TRUNC | syscall.O_NONBLOCK)
	if errors.Is(err, syscall.ENXIO) { // a socket, or a pipe that no one reads
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNoFile}
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNoFile}
	}
	if err == nil && flags&os.O_TRUNC != 0 {
		err = file.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ReadFile reads such a file, if it has no more than MostFile bytes.
func ReadFile(path string) ([]byte, error) {
	file, err := OpenFile(path, os.O_RDONLY, 0)
	return read(path, file, err)
}

// ReadIn is ReadFile for a file below a folder, out of which no link leads.
func ReadIn(root *os.Root, name string) ([]byte, error) {
	file, err := OpenIn(root, name, os.O_RDONLY, 0)
	return read(name, file, err)
}

func read(path string, file *os.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	var text []byte
	if info.Size() <= MostFile { // else its beginning would fill the memory for nothing
		text, err = io.ReadAll(io.LimitReader(file, MostFile+1))
	}
	if err == nil && (info.Size() > MostFile || len(text) > MostFile) {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d MiB", MostFile>>20)}
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// ReadSettings is ReadFile for a file that a person writes by hand, and a parser reads: it has no more than
// MostSettings bytes.
func ReadSettings(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > MostSettings {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it has more than %d MiB", MostSettings>>20)}
	}
	return ReadFile(path)
}

// OpenRoot is os.OpenRoot, which would wait where a pipe is in the folder's place.
func OpenRoot(dir string) (*os.Root, error) { return os.OpenRoot(dir + string(filepath.Separator)) }

// WriteFile writes such a file in the place of what it held.
func WriteFile(path string, text []byte, perm os.FileMode) error {
	file, err := OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	return write(file, text, err)
}

// WriteIn is WriteFile for a file below a folder, out of which no link leads.
func WriteIn(root *os.Root, name string, text []byte, perm os.FileMode) error {
	file, err := OpenIn(root, name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	return write(file, text, err)
}

func write(file *os.File, text []byte, err error) error {
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// Below is a folder of an agent's that belongs to another one, which the agent cannot replace: the last two names of
// its path are the agent's to change, and a link in the place of one of them leads nowhere.
type Below struct{ outer, name string }

// BelowOf splits the path of such a folder.
func BelowOf(path string) Below {
	parent := filepath.Dir(path)
	return Below{outer: filepath.Dir(parent), name: filepath.Join(filepath.Base(parent), filepath.Base(path))}
}

// Open opens the folder. Its caller closes it.
func (b Below) Open() (root *os.Root, err error) {
	err = b.in(func(outer *os.Root) error {
		root, err = outer.OpenRoot(b.name + string(filepath.Separator))
		return err
	})
	return root, err
}

// Make makes the folder, empty. A link in its parent's place goes, and not what that leads to.
func (b Below) Make(perm os.FileMode) error {
	return b.in(func(outer *os.Root) error {
		parent := filepath.Dir(b.name)
		if info, err := outer.Lstat(parent); err == nil && !info.IsDir() {
			if err := outer.Remove(parent); err != nil {
				return err
			}
		}
		return errors.Join(outer.RemoveAll(b.name), outer.MkdirAll(b.name, perm))
	})
}

// Remove removes the folder with all that is in it. One that is not there is no error.
func (b Below) Remove() error {
	return b.in(func(outer *os.Root) error { return outer.RemoveAll(b.name) })
}

func (b Below) in(do func(outer *os.Root) error) error {
	outer, err := OpenRoot(b.outer)
	if err != nil {
		return err
	}
	return errors.Join(do(outer), outer.Close())
}

// LongestSocket is how many bytes of a path every system takes for a socket.
const LongestSocket = 103

// IsOwn reports whether a file is of this process's user.
func IsOwn(info os.FileInfo) bool {
	owner, known := info.Sys().(*syscall.Stat_t)
	return known && int(owner.Uid) == os.Getuid()
}
