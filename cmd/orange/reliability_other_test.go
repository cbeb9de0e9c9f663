//go:build !linux

package main_test

// ownDisk has no way to give the home a disk of its own here.
func (w *faultWorld) ownDisk() {}

// mounts and fill are only used on a disk of its own.
func (w *faultWorld) mounts(...string) {}

func (w *faultWorld) fill(int64) (empty func()) { return func() {} }
