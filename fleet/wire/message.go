package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Body is what a message carries. Its kind and its version are those of the type, not of a value.
type Body interface {
	Kind() (name string, version int)
}

// Message is a body on its way, with its kind and its version. What does not pass the body's own check is neither
// written nor read; nor is what this program does not know completely.
type Message[T Body] struct{ Body T }

// Of is the message with a body.
func Of[T Body](body T) Message[T] { return Message[T]{body} }

// ErrNewer says that a message comes from a newer program than this one.
var ErrNewer = errors.New("the message is of a newer version")

type envelope struct {
	Kind string          `json:"kind"`
	V    int             `json:"v"`
	Body json.RawMessage `json:"body"`
}

// MarshalJSON writes the message.
func (m Message[T]) MarshalJSON() ([]byte, error) {
	kind, version := m.Body.Kind()
	if err := Check(m.Body); err != nil {
		return nil, fmt.Errorf("write the message %q: %w", kind, err)
	}
	body, err := json.Marshal(m.Body)
	if err != nil {
		return nil, fmt.Errorf("write the message %q: %w", kind, err)
	}
	return json.Marshal(envelope{kind, version, body})
}

// UnmarshalJSON reads a message. The version comes first: what a newer program says may have any form.
func (m *Message[T]) UnmarshalJSON(text []byte) error {
	kind, version := m.Body.Kind()
	var said struct {
		Kind string `json:"kind"`
		V    int    `json:"v"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return fmt.Errorf("read a message %q: %w", kind, err)
	}
	if said.Kind == kind && said.V > version {
		return fmt.Errorf("read a message %q: %w: update orange-fleet here (has %d, needs %d)", kind, ErrNewer,
			version, said.V)
	}
	var whole envelope
	err := readStrictly(text, &whole)
	switch {
	case err != nil:
	case whole.Kind != kind:
		err = fmt.Errorf("found the kind %q", whole.Kind)
	case whole.V != version:
		err = fmt.Errorf("found the version %d, expected %d: update orange-fleet where the message comes from",
			whole.V, version)
	default:
		var body T
		if err = readStrictly(whole.Body, &body); err == nil {
			err = Check(body)
		}
		if err == nil {
			m.Body = body
			return nil
		}
	}
	return fmt.Errorf("read a message %q: %w", kind, err)
}

// readStrictly reads one JSON value with the known fields, each at most once and spelled as it is, and nothing after
// it.
func readStrictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("found more after the end of the message")
	}
	// encoding/json takes a field twice, and in any case.
	return checkSpelling(json.NewDecoder(bytes.NewReader(text)), reflect.TypeOf(into), "")
}

// checkSpelling refuses an object that has a field twice, and a field of a struct that is not spelled as it is there. A
// nil type takes every field.
func checkSpelling(decoder *json.Decoder, as reflect.Type, at string) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	open, is := token.(json.Delim)
	if !is {
		return nil
	}
	as, seen := readAs(as), map[string]bool{}
	for decoder.More() {
		of, below := element(as), at
		if open == '{' {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string) // the keys of JSON are strings
			below += "." + name
			switch known := false; {
			case seen[name]:
				return fmt.Errorf("found the field %q twice", strings.TrimPrefix(below, "."))
			case as != nil && as.Kind() == reflect.Struct:
				if of, known = field(as, name); !known {
					return fmt.Errorf("found the field %q, which is not spelled so", strings.TrimPrefix(below, "."))
				}
			}
			seen[name] = true
		}
		if err := checkSpelling(decoder, of, below); err != nil {
			return err
		}
	}
	_, err = decoder.Token() // the bracket that closes
	return err
}

// readAs is the type that a value is read as; nil for one that reads itself.
func readAs(as reflect.Type) reflect.Type {
	for as != nil && as.Kind() == reflect.Pointer {
		if as.Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return nil
		}
		as = as.Elem()
	}
	if as != nil && reflect.PointerTo(as).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	return as
}

// element is the type of what is in a list or a map; nil for anything else.
func element(as reflect.Type) reflect.Type {
	if as != nil && (as.Kind() == reflect.Slice || as.Kind() == reflect.Array || as.Kind() == reflect.Map) {
		return as.Elem()
	}
	return nil
}

// field is the type of the field that a struct has under a name in JSON, also by a struct in it that has no name there.
func field(as reflect.Type, name string) (reflect.Type, bool) {
	if as == nil || as.Kind() != reflect.Struct {
		return nil, false
	}
	for i := range as.NumField() {
		f := as.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			if of, known := field(readAs(f.Type), name); known {
				return of, true
			}
			continue
		}
		if f.IsExported() && tag != "-" && name == cmp.Or(tag, f.Name) {
			return f.Type, true
		}
	}
	return nil, false
}
