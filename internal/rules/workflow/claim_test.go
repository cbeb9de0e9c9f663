package workflow_test

import (
	"reflect"
	"slices"
	"testing"

	"orange/internal/rules/workflow"
)

// A field that the key of a part leaves out would give one part another one's answer.
func TestEachFieldOfAPart_isInItsKeyOrItsClaim(t *testing.T) {
	t.Parallel()
	words := []string{"Want", "Pos"} // what it asks for is the same
	// what is found is judged by these
	judged := []string{"All", "Any", "Fields", "Verdict", "VerdictIn", "Fresh", "Since", "Judges"}
	none := workflow.Part{}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(none)) {
		var p workflow.Part
		switch v := reflect.ValueOf(&p).Elem().FieldByIndex(field.Index); v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int:
			v.SetInt(7)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		default:
			if !slices.Contains(words, field.Name) {
				t.Errorf("the field %s is of a kind that this test cannot fill", field.Name)
			}
			continue
		}
		inKey, inClaim := p.Key() != none.Key(), p.Claim() != none.Claim()
		if want := !slices.Contains(words, field.Name); inClaim != want {
			t.Errorf("Claim has the field %s: %t, want %t", field.Name, inClaim, want)
		}
		want := !slices.Contains(slices.Concat(words, judged), field.Name)
		if inKey != want {
			t.Errorf("Key has the field %s: %t, want %t; one that is judged of what was found is no part of the key: "+
				"name it above", field.Name, inKey, want)
		}
	}
}
