//go:build !linux

package main_test

// ownDisk has no way to give the home a disk of its own here.
func (w *ward) ownDisk() {}

// mounts and fill are only used on a disk of its own.
func (w *ward) mounts(...string) {}

func (w *ward) fill(int64) (empty func()) { return func() {} }
