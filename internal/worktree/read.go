package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// errNoFile says that something else is where a file should be.
var errNoFile = errors.New("it is no file; move it away")

// openFile opens a file that agents can put something else in the place of. It never blocks: a pipe or a device
// is errNoFile.
func openFile(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNoFile}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// readFile reads such a file.
func readFile(name string) ([]byte, error) {
	file, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}
