package document

import (
	"slices"
	"strings"
)

// title is where the heading of a section is, in the body without its byte order mark.
type title struct {
	begin, behind int32  // of the line, and of the line below it
	line          int32  // 0-based
	copies        int32  // how often there is one of that key up to here; 0 when another follows or there is no key
	hash          uint32 // of the key
}

// index has all titles, and finds the last one of a key without a walk. It is small, because a document may be nothing
// but headings: it keeps no names, as they are in the text.
type index struct {
	text   string // the body
	titles []title
	slots  []int32 // by hash: the number of a title, counted from 1; 0 when there is none
	keys   int     // how many different ones there are
}

func (x *index) add(s *scanner) {
	if len(x.titles) == cap(x.titles) {
		x.titles = slices.Grow(x.titles, max(8, len(x.titles)))
	}
	x.titles = append(x.titles, title{begin: int32(s.begin), behind: int32(s.at), line: int32(s.number)})
}

// build is for once all titles are there.
func (x *index) build() {
	if len(x.titles) == 0 {
		return
	}
	size := 8
	for size < 2*len(x.titles) {
		size *= 2
	}
	x.slots = make([]int32, size)
	for i := range x.titles {
		t := &x.titles[i]
		key := nameKey(x.name(i))
		if key == "" {
			continue // a heading without a name ends a section and begins none
		}
		t.hash, t.copies = hashOf(key), 1
		slot := x.slot(key, t.hash)
		if last := x.slots[slot]; last > 0 {
			t.copies += x.titles[last-1].copies
			x.titles[last-1].copies = 0
		} else {
			x.keys++
		}
		x.slots[slot] = int32(i + 1)
	}
}

// slot is where a key is, or would be.
func (x *index) slot(key string, hash uint32) int {
	slot := int(hash) & (len(x.slots) - 1)
	for {
		at := int(x.slots[slot]) - 1
		if at < 0 || x.titles[at].hash == hash && nameKey(x.name(at)) == key {
			return slot
		}
		slot = (slot + 1) & (len(x.slots) - 1)
	}
}

// find is the number of the last title of a key, -1 when there is none.
func (x *index) find(key string) int {
	if len(x.slots) == 0 {
		return -1
	}
	return int(x.slots[x.slot(key, hashOf(key))]) - 1
}

// name is the text of a title.
func (x *index) name(at int) string {
	t := x.titles[at]
	return headingName(strings.TrimRight(x.text[t.begin:t.behind], "\r\n"))
}

// content is the text below a title, and the numbers of its first line and of the first one behind it; behind the
// last title that is -1.
func (x *index) content(at int) (text string, first, behind int) {
	t := x.titles[at]
	if at+1 == len(x.titles) {
		return x.text[t.behind:], int(t.line) + 1, -1
	}
	next := x.titles[at+1]
	return x.text[t.behind:next.begin], int(t.line) + 1, int(next.line)
}

// hashOf is FNV-1a.
func hashOf(key string) uint32 {
	hash := uint32(2166136261)
	for i := range len(key) {
		hash = (hash ^ uint32(key[i])) * 16777619
	}
	return hash ^ hash>>15
}
