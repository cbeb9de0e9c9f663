package wire

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"orange/internal/rules/task"
)

// limited has more limits than those of each of its texts.
type limited interface{ limits() error }

// Check refuses what no program of the fleet may send: texts that are no UTF-8, or longer than MostOfText where the
// field is not tagged as long, and what a body itself refuses.
func Check(body Body) error {
	if own, is := body.(interface{ Check() error }); is {
		return own.Check()
	}
	return check(reflect.ValueOf(body), "", false)
}

// check is Check for a value under a name, and all that is in it.
func check(v reflect.Value, name string, long bool) error {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return fmt.Errorf("cannot send %.40q: expected UTF-8", v.String())
		}
		if !long && v.Len() > MostOfText {
			return tooLarge(name, v.Len(), MostOfText)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return check(v.Elem(), name, long)
		}
	case reflect.Slice:
		for _, one := range v.Seq2() {
			if err := check(one, name, long); err != nil {
				return err
			}
		}
	case reflect.Map:
		for key, one := range v.Seq2() {
			if err := check(reflect.ValueOf([]string{key.String(), one.String()}), name, long); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if l, is := v.Interface().(limited); is {
			if err := l.limits(); err != nil {
				return err
			}
		}
		for f, one := range v.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if err := check(one, name, f.Tag.Get("text") == "long"); err != nil {
				return err
			}
		}
	}
	return nil
}

func tooLarge(what string, size, most int) error {
	return task.Notef(task.ErrUsage, "cannot send the %s: found %d bytes, at most %d", what, size, most)
}

func tooMany(what string, count, most int) error {
	if count <= most {
		return nil
	}
	return task.Notef(task.ErrUsage, "cannot send the %s: found %d, at most %d", what, count, most)
}

// together refuses texts that are more than fits.
func together(what string, most int, files map[string]string, texts ...string) error {
	size := 0
	for name, text := range files {
		size += len(name) + len(text)
	}
	for _, text := range texts {
		size += len(text)
	}
	if size > most {
		return tooLarge(what, size, most)
	}
	return nil
}
