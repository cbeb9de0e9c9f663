package engine

import (
	"log/slog"
	"reflect"
	"strings"
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

// A port that a part asks and New forgot would be missed only when it is asked.
func TestNew_leavesNoPartWithoutWhatItAsks(t *testing.T) {
	t.Parallel()
	ports := Ports{Record: struct{ Record }{}, Folder: struct{ Folder }{}, Rules: struct{ Rules }{},
		Work: struct{ Work }{}, Agents: struct{ Agents }{}, Environments: struct{ Environments }{},
		Random: strings.NewReader(""), Log: slog.New(slog.DiscardHandler)}
	all := reflect.ValueOf(&ports).Elem()
	for i := range all.NumField() {
		if f := all.Field(i); f.Kind() == reflect.Func {
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { return nil }))
		}
	}
	engine := reflect.ValueOf(New(ports)).Elem()
	for i := range engine.NumField() {
		part := engine.Field(i).Elem()
		for j := range part.NumField() {
			f := part.Field(j)
			switch f.Kind() {
			case reflect.Func, reflect.Interface, reflect.Pointer:
				if f.IsNil() {
					t.Errorf("%s has no %s", engine.Type().Field(i).Name, part.Type().Field(j).Name)
				}
			default:
			}
		}
	}
}
