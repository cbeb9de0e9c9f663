package mirror_test

import (
	"os"
	"runtime"
	"testing"

	"orange/internal/document"
	"orange/internal/task"
)

// A look at a large document holds it once, and so does not grow a buffer by copies.
func TestRead_takesMemoryForADocumentOnce(t *testing.T) { //nolint:paralleltest // counts allocations
	files, one := newFiles(t, "")
	const size = document.MaxSize
	must(t, os.WriteFile(files.Document(one.Project, one.ID), make([]byte, size), task.PrivateFile))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, err := files.Read(one.Project, one.ID, true)
	runtime.ReadMemStats(&after)
	if err != nil || len(text) != size {
		t.Fatalf("found %d bytes, want %d; error %v", len(text), size, err)
	}
	if found := after.TotalAlloc - before.TotalAlloc; found > size+size/8 {
		t.Errorf("found %d bytes allocated for %d", found, size)
	}
}
