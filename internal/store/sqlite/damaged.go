package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// SetAside moves a record that is damaged, or another program's, out of the way, with all that belongs to it, and
// answers what is wrong with it and where it is now; wrong is empty where it is sound or not there. Nothing of it is
// deleted.
func SetAside(ctx context.Context, path string, now time.Time) (wrong, aside string, err error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", "", nil
	}
	if wrong, err = damageOf(ctx, path); err != nil || wrong == "" {
		return "", "", err
	}
	aside = path + ".broken-" + now.UTC().Format("20060102T150405.000")
	for _, end := range []string{"-shm", "-wal", ""} {
		if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", "", fmt.Errorf("move the record aside: %w", err)
		}
	}
	return wrong, aside, nil
}

// damageOf is what is wrong with a record; empty where it is sound.
func damageOf(ctx context.Context, path string) (string, error) {
	store, err := Open(ctx, path)
	if IsDamaged(err) || IsOther(err) {
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	wrong, err := store.Check(ctx)
	return strings.Join(wrong, "; "), errors.Join(err, store.Close())
}
