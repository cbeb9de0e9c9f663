package engine

import (
	"reflect"
	"testing"
)

// What a part may call is what it holds: the parts before it in Engine, and never Engine itself.
func TestAPart_holdsOnlyThoseBeforeIt(t *testing.T) {
	t.Parallel()
	before := map[reflect.Type]bool{}
	var look func(name string, part reflect.Type)
	look = func(name string, part reflect.Type) {
		for i := range part.NumField() {
			f := part.Field(i)
			switch {
			case f.Type == reflect.TypeFor[act]():
				look(name, f.Type)
			case f.Type.Kind() == reflect.Pointer && f.Type.Elem().PkgPath() == part.PkgPath() && !before[f.Type]:
				t.Errorf("%s holds %s, which comes after it", name, f.Type)
			}
		}
	}
	engine := reflect.TypeFor[Engine]()
	for i := range engine.NumField() {
		part := engine.Field(i)
		look(part.Name, part.Type.Elem())
		before[part.Type] = true
	}
}
