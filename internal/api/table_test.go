package api

import (
	"slices"
	"testing"
)

func TestTable_hasEachOperationOnceAndSaysWhatARepeatDoes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range Table() {
		if seen[o.Name] || o.Name == "" || o.Repeat < Reads || o.Repeat > Acts || o.From > Host|Confined|MCP|Screen {
			t.Errorf("the row %+v", o)
		}
		seen[o.Name] = true
	}
}

func TestOffers_areThoseOfTheFaceAlone(t *testing.T) {
	t.Parallel()
	if o, is := Offers(Confined, "merge"); is || o != (Op{}) {
		t.Errorf("a confined agent may ask for %+v", o)
	}
	if _, is := Offers(Host, "fly"); is {
		t.Error("there is an operation that no one has")
	}
	for _, face := range []Faces{Host, Confined, MCP, Screen} {
		for _, name := range Names(face) {
			if o, is := Offers(face, name); !is || o.Name != name {
				t.Errorf("%q is a name of %d, and is not offered there", name, face)
			}
		}
	}
	if !slices.Contains(Names(Confined), "wait") || slices.Contains(Names(Host), "wait") {
		t.Error("a wait is for agents here, and not for other hosts")
	}
}
