package doctor_test

import (
	"slices"
	"testing"
)

func TestRebuild_writesTheFilesThatAKilledRebuildLeftOut(t *testing.T) {
	t.Parallel()
	const last = `{"type":"task.rebuilt"}`
	for what, tt := range map[string]struct {
		lines []string
		want  []string
	}{
		"a rebuild was last":        {[]string{`{"type":"task.created"}`, last}, []string{"sync one"}},
		"a folder was taken over":   {[]string{`{"type":"task.created","data":{"adopted":"true"}}`}, []string{"sync one"}},
		"no rebuild ever was":       {[]string{`{"type":"task.created"}`}, nil},
		"much has happened since":   {[]string{last, "{}", "{}", "{}"}, nil},
		"a text only tells of such": {[]string{`{"reason":"{\"type\":\"task.rebuilt\"}"}`}, nil},
	} {
		w := newWorld(t)
		w.lines["one"] = tt.lines
		if _, err := w.doctor().Rebuild(t.Context()); err != nil || len(w.mended) != 0 {
			t.Errorf("%s: where nothing differs it did %q, %v", what, w.mended, err)
		}
		w.differs["one"] = []string{"history.jsonl ends after line 1"}
		if _, err := w.doctor().Rebuild(t.Context()); err != nil || !slices.Equal(w.mended, tt.want) {
			t.Errorf("%s: it did %q, %v, want %q", what, w.mended, err, tt.want)
		}
	}
	w := newWorld(t)
	w.blind["lines"] = true
	if _, err := w.doctor().Rebuild(t.Context()); err == nil {
		t.Error("it could not look at the histories, and says nothing of it")
	}
}
