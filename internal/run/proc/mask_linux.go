package proc

import (
	"bytes"
	"errors"
	"os"
)

// ownMask is the mask of this process for the modes of new files, in octal digits. A kernel before 4.7 does not say.
func ownMask() (string, error) {
	text, err := readProc(os.Getpid(), "status")
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(text) {
		if mask, is := bytes.CutPrefix(line, []byte("Umask:")); is {
			return string(bytes.TrimSpace(mask)), nil
		}
	}
	return "", errors.ErrUnsupported
}
