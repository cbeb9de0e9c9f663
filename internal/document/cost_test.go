package document

import (
	"runtime"
	"strings"
	"testing"
)

// What a reading costs today. They are upper bounds: lower them when a reading gets cheaper, and think before raising
// them.
const (
	readAllocations    = 74 // of 4 KB; all but a few are of its header
	sectionAllocations = 5  // of a section: its name and key, its content, digest and labels
)

// Counts and not times, and not parallel: what other tests allocate would be counted too.
func TestRead_allocatesLittleMoreThanTheDocument(t *testing.T) { //nolint:paralleltest // counts allocations
	for name, of := range map[string]func(int) []byte{
		"lists": listsAndFences, "prose": paragraphs, "short": shortLines,
	} {
		small := of(4 << 10)
		if n := testing.AllocsPerRun(20, func() { Read(small) }); n > readAllocations {
			t.Errorf("%s: found %v allocations for 4 KB, want at most %d", name, n, readAllocations)
		}
		large := of(1 << 20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Read(large)
		runtime.ReadMemStats(&after)
		found := after.TotalAlloc - before.TotalAlloc
		if found > 2*uint64(len(large)) {
			t.Errorf("%s: found %d bytes allocated for %d", name, found, len(large))
		}
	}
}

func TestSection_allocatesLittle(t *testing.T) { //nolint:paralleltest // counts allocations
	d := readBody("## Plan\n\n## Handoff\n\n" + strings.Repeat("- what was asked for\n", 50) + "DONE: it\n")
	labels := []string{"DONE", "REMAINING"}
	found := testing.AllocsPerRun(100, func() {
		s, there := d.Section("Handoff")
		if !there || s.Empty() || len(s.Fields(labels)) != 1 || Digest(s.Text) == "" {
			t.Fatalf("%+v", s)
		}
	})
	if found > sectionAllocations {
		t.Errorf("found %v allocations, want at most %d", found, sectionAllocations)
	}
}
