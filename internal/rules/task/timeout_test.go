package task_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"orange/internal/rules/task"
)

func TestReadTimeouts_takesLengthsOfTimeAndNone(t *testing.T) {
	t.Parallel()
	p := task.Project{Name: "garden", Timeouts: map[string]string{"dig": "1h30m", "rest": "none", "plant": "366h"}}
	got, err := p.ReadTimeouts()
	want := task.Timeouts{"dig": 90 * time.Minute, "rest": 0, "plant": 366 * time.Hour}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if got, err := (task.Project{}).ReadTimeouts(); got != nil || err != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
	for _, word := range []string{"", "6", "6 h", "0s", "-1h", "1500ms", "8785h", "None", "soon", "9999999999h"} {
		p.Timeouts = map[string]string{"a": "6h", "dig": word, "zoo": "x"}
		_, err := p.ReadTimeouts()
		if !errors.Is(err, task.ErrUsage) ||
			!strings.Contains(err.Error(), `"garden": "dig": found "`+word+`" as a timeout, expected whole seconds`) {
			t.Errorf("%q: %v", word, err)
		}
	}
}
