package proc

import "fmt"

// Space is how many bytes may still be written at a path.
func Space(path string) (uint64, error) {
	free, err := space(path)
	if err != nil {
		return 0, fmt.Errorf("look at the disk of %q: %w", path, err)
	}
	return free, nil
}

// inBytes is the size of so many blocks. Systems do not agree on the types of these numbers, nor on whether there may
// be less than none.
func inBytes[blocks, size int64 | uint64 | uint32](n blocks, each size) uint64 {
	return uint64(max(n, 0)) * uint64(each)
}
