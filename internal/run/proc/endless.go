package proc

import (
	"io/fs"
	"os"
)

// IsEndless reports whether something is there that no program reads to its end: a pipe, or a device but for the empty
// one.
func IsEndless(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice) == 0 {
		return false
	}
	empty, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, empty)
}
