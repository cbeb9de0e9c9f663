package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// OpenMemory opens an empty record that only this process sees and that ends with Close: nothing of it is ever on
// a disk.
func OpenMemory(ctx context.Context) (*Store, error) {
	const path = ":memory:"
	// Without a journal nothing could be taken back: it is in memory too.
	db, err := sql.Open("sqlite",
		"file::memory:?_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)")
	if err != nil {
		return nil, fmt.Errorf("cannot open a record in memory: %w", err)
	}
	s := &Store{connection: newConnection(db), path: path}
	if err := s.make(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open a record in memory: %w", err), s.Close())
	}
	return s, nil
}
