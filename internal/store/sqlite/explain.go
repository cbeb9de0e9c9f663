package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"orange/internal/run/proc"
)

// explain adds to an error of the database what a person can do about it: its own words are made for programmers.
func (s *Store) explain(err error) error {
	if said := s.advice(codeOf(err)); said != "" {
		return fmt.Errorf("%w: %s", err, said)
	}
	return err
}

// codeOf is what kind of error of the database an error comes from; 0 where it comes from none.
func codeOf(err error) int {
	const kind = 0xff // the rest says where it came up
	if found, is := errors.AsType[*driver.Error](err); is {
		return found.Code() & kind
	}
	return 0
}

func (s *Store) advice(code int) string {
	if code == codes.SQLITE_CANTOPEN || code == codes.SQLITE_IOERR { // SQLite does not tell why
		const ofRecord = 4 // the database, its two files of commits, and its folder
		if err := proc.RoomForFiles(ofRecord); err != nil {
			return err.Error()
		}
	}
	switch code {
	case codes.SQLITE_BUSY:
		return fmt.Sprintf("another program has held %q for %s; run the command again, and if it is held "+
			"still, ask \"fuser %s\" who it is and end it",
			s.path, lockPatience, s.path)
	case codes.SQLITE_FULL:
		return fmt.Sprintf("this change was not made; make room on the disk of %q and run the command again",
			filepath.Dir(s.path))
	case codes.SQLITE_IOERR:
		// With no room for the smallest file the database can only tell that it could not write.
		return fmt.Sprintf("see whether the disk of %q is full or broken, and run the command again",
			filepath.Dir(s.path))
	case codes.SQLITE_CANTOPEN, codes.SQLITE_READONLY, codes.SQLITE_PERM:
		if info, err := os.Stat(s.path); err == nil && info.IsDir() {
			return "it is a folder, expected a file; move the folder away and put the record back"
		}
		return fmt.Sprintf("the file and its folder must be writable for you; give yourself the right to "+
			"write in %q, or set ORANGE_HOME to another folder",
			filepath.Dir(s.path))
	case codes.SQLITE_NOTADB, codes.SQLITE_CORRUPT:
		return fmt.Sprintf("the file is damaged; %q keeps it aside and makes a new one from what is below %q",
			"orange doctor --rebuild", filepath.Join(filepath.Dir(s.path), "tasks"))
	}
	return ""
}
