package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Body is what a message carries. Its kind and its version are those of the type, not of a value.
type Body interface {
	Kind() (name string, version int)
	Check() error // refuses what no program of the fleet may send
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
	if err := m.Body.Check(); err != nil {
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
	err := strict(text, &whole)
	switch {
	case err != nil:
	case whole.Kind != kind:
		err = fmt.Errorf("found the kind %q", whole.Kind)
	case whole.V != version:
		err = fmt.Errorf("found the version %d, expected %d: update orange-fleet where the message comes from",
			whole.V, version)
	default:
		var body T
		if err = strict(whole.Body, &body); err == nil {
			err = body.Check()
		}
		if err == nil {
			m.Body = body
			return nil
		}
	}
	return fmt.Errorf("read a message %q: %w", kind, err)
}

// strict reads one JSON value with the known fields, each at most once and spelled as it is, and nothing after it.
func strict(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("found more after the end of the message")
	}
	// encoding/json takes a field twice, and in any case. What was read is written again and has to name the same
	// fields; a field that is absent has its zero value.
	return sameFields(text, into)
}

func sameFields(text []byte, read any) error {
	again, err := json.Marshal(read)
	if err != nil {
		return err
	}
	var had, has any
	if err := unique(json.NewDecoder(bytes.NewReader(text)), ""); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &had); err != nil {
		return err
	}
	if err := json.Unmarshal(again, &has); err != nil {
		return err
	}
	return within(had, has, "")
}

// unique refuses an object that has a field twice.
func unique(decoder *json.Decoder, at string) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	open, is := token.(json.Delim)
	if !is {
		return nil
	}
	seen := map[string]bool{}
	for decoder.More() {
		below := at
		if open == '{' {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string) // the keys of JSON are strings
			if seen[name] {
				return fmt.Errorf("found the field %q twice", strings.TrimPrefix(at+"."+name, "."))
			}
			seen[name], below = true, at+"."+name
		}
		if err := unique(decoder, below); err != nil {
			return err
		}
	}
	_, err = decoder.Token() // the bracket that closes
	return err
}

// within refuses a field that another spelling of its name was read from.
func within(had, has any, at string) error {
	if list, is := had.([]any); is {
		known, _ := has.([]any)
		for i := range min(len(list), len(known)) {
			if err := within(list[i], known[i], at); err != nil {
				return err
			}
		}
	}
	fields, is := had.(map[string]any)
	known, same := has.(map[string]any)
	if !is || !same {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		other, there := known[name]
		if !there && !empty(fields[name]) {
			return fmt.Errorf("found the field %q, which is not spelled so", strings.TrimPrefix(at+"."+name, "."))
		}
		if err := within(fields[name], other, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// empty reports whether a value is one that omitempty leaves out.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case bool:
		return !value
	case float64:
		return value == 0
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}
