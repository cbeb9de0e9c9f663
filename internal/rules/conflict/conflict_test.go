package conflict

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// look has a branch for each task that is named; the tip of "a" is "tip-a".
func look(base string, tasks ...string) Tips {
	l := Tips{Local: base, Default: BranchTip{Name: "main", Tip: base}}
	for _, id := range tasks {
		l.Branches = append(l.Branches, BranchTip{Task: id, Name: "feat/" + id, Tip: "tip-" + id})
	}
	return l
}

// learned knows which paths each task has changed.
func learned(now Tips, paths map[string]string) *Known {
	k := &Known{}
	for id, list := range paths {
		k.Learn(now, "tip-"+id, strings.Fields(list), nil)
	}
	return k
}

func names(pairs []Candidate) (out []string) {
	for _, p := range pairs {
		out = append(out, p.First.Task+"-"+p.Second.Task)
	}
	return out
}

func TestPairs_areThoseWhosePathsMeet(t *testing.T) {
	t.Parallel()
	wide := strings.TrimSpace(strings.Repeat("w ", widest)) + " w"
	for name, row := range map[string]struct {
		changed map[string]string
		only    string
		want    string
	}{
		"no path":                       {map[string]string{"a": "", "b": ""}, "", ""},
		"one that brings something":     {map[string]string{"a": "x", "b": ""}, "", "a-"},
		"other paths":                   {map[string]string{"a": "x", "b": "y"}, "", "a- b-"},
		"one path of both":              {map[string]string{"a": "x y", "b": "y z"}, "", "a- a-b b-"},
		"a file where a folder is":      {map[string]string{"a": "x", "b": "x/y/z"}, "", "a- a-b b-"},
		"a folder where a file is":      {map[string]string{"a": "x/y/z", "b": "x/y"}, "", "a- a-b b-"},
		"files of one folder":           {map[string]string{"a": "x/y", "b": "x/z"}, "", "a- b-"},
		"names that begin alike":        {map[string]string{"a": "x", "b": "xy"}, "", "a- b-"},
		"three":                         {map[string]string{"a": "x", "b": "x", "c": "x"}, "", "a- a-b a-c b- b-c c-"},
		"those of one":                  {map[string]string{"a": "x", "b": "x", "c": "x"}, "b", "a-b b- b-c"},
		"those of one that meets none":  {map[string]string{"a": "x", "b": "x", "c": "y"}, "c", "c-"},
		"too many paths meet any":       {map[string]string{"a": "x", "b": wide, "c": ""}, "", "a- a-b b-"},
		"too many meet too many":        {map[string]string{"a": wide, "b": wide}, "", "a- a-b b-"},
		"of one that nobody knows":      {map[string]string{"a": "x"}, "z", ""},
		"a path that starts at the top": {map[string]string{"a": "/x", "b": "/x"}, "", "a- a-b b-"},
	} {
		var ids []string
		for _, id := range []string{"a", "b", "c"} {
			if _, has := row.changed[id]; has {
				ids = append(ids, id)
			}
		}
		now := look("base", ids...)
		if got := strings.Join(names(learned(now, row.changed).Pairs(now, row.only)), " "); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestPairs_ofOneTipAreNone(t *testing.T) {
	t.Parallel()
	now := look("base", "a", "b")
	now.Branches[1].Tip = "tip-a"
	got := names(learned(now, map[string]string{"a": "x"}).Pairs(now, ""))
	if !slices.Equal(got, []string{"a-", "b-"}) {
		t.Errorf("%q", got)
	}
	now.Default.Tip = "tip-a" // both are merged
	if got := learned(now, map[string]string{"a": "x"}).Pairs(now, ""); got != nil {
		t.Errorf("%q", names(got))
	}
}

// round looks as the pool does: git finds a conflict in every file that both have changed.
func round(k *Known, now Tips, changed map[string]string, only string, at time.Time) (read, asked int) {
	if only == "" && k.Settled(now, at) {
		return 0, 0
	}
	for _, tip := range k.Unread(now) {
		read++
		k.Learn(now, tip, strings.Fields(changed[strings.TrimPrefix(tip, "tip-")]), nil)
	}
	pairs := k.Pairs(now, only)
	for _, p := range k.Open(pairs) {
		asked++
		var files []string
		if p.Second.Task != "" {
			for _, path := range strings.Fields(changed[p.First.Task]) {
				if slices.Contains(strings.Fields(changed[p.Second.Task]), path) {
					files = append(files, path)
				}
			}
		}
		k.Answer(p, files, nil)
	}
	k.Conclude(now, pairs, only, at)
	return read, asked
}

func everyone(string) bool { return true }

func said(r Overview, id string) string {
	var out []string
	for _, c := range r.Of[id] {
		out = append(out, fmt.Sprintf("%s %s %v %s", c.Branch, c.Task, c.Files, c.At.Format("15:04")))
	}
	return strings.Join(out, "; ")
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestALook_asksOnlyWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	changed := map[string]string{"a": "x y", "b": "y", "c": "z"}
	k, now := &Known{}, look("base", "a", "b", "c")
	steps := []struct {
		what        string
		change      func()
		read, asked int
	}{
		{"the first", func() {}, 3, 4}, // each with the default branch, and a with b
		{"the same", func() {}, 0, 0},
		{"one tip moved", func() { now.Branches[0].Tip, changed["a2"] = "tip-a2", "x y" }, 1, 2},
		{"a task came", func() {
			now.Branches = append(now.Branches, BranchTip{Task: "d", Name: "feat/d", Tip: "tip-d"})
			changed["d"] = "z"
		}, 1, 2},
		{"a task went", func() { now.Branches = now.Branches[1:] }, 0, 0},
		{"the default branch moved", func() { now.Local, now.Default.Tip = "base2", "base2" }, 3, 3},
		{"it went back", func() { now.Local, now.Default.Tip = "base", "base" }, 3, 3}, // the answers were forgotten
	}
	for _, s := range steps {
		now.Branches = slices.Clone(now.Branches)
		s.change()
		read, asked := round(k, now, changed, "", noon)
		if read != s.read || asked != s.asked {
			t.Errorf("%s: %d read and %d asked, want %d and %d", s.what, read, asked, s.read, s.asked)
		}
	}
}

func TestTell_namesBothSidesOfAConflictUntilOneIsOver(t *testing.T) {
	t.Parallel()
	changed := map[string]string{"a": "x y", "b": "y x", "c": "z"}
	k, now := &Known{}, look("base", "a", "b", "c")
	if r := k.Tell(everyone); len(r.Of) != 0 || len(r.Unknown) != 0 {
		t.Errorf("before the first look: %v", r)
	}
	round(k, now, changed, "", noon)
	r := k.Tell(everyone)
	want(t, "a", said(r, "a"), "feat/b b [x y] 12:00")
	want(t, "b", said(r, "b"), "feat/a a [x y] 12:00")
	if none, compared := r.Of["c"]; !compared || none == nil || len(none) != 0 {
		t.Errorf("c: %v, %v", none, compared)
	}
	over := k.Tell(func(id string) bool { return id != "b" })
	want(t, "while b is over", said(over, "a"), "")
	want(t, "why", over.Unknown["a"], `it was in conflict with "feat/b" of task b, which has ended since; `+
		"it was not compared with the default branch after that")
	if over.Unknown["b"] != "" || len(over.Of["b"]) != 0 {
		t.Errorf("of b, which is over: %v", over)
	}
	round(k, look("base2", "a", "c"), changed, "", noon.Add(time.Minute))
	want(t, "after b is over", said(k.Tell(everyone), "a"), "")
	want(t, "what is not known then", k.Tell(everyone).Unknown["a"], "")
	k.Answer(Candidate{BranchTip{Tip: "tip-a"}, BranchTip{Tip: "base2"}}, []string{"x"}, nil)
	now = look("base2", "a", "c")
	k.Conclude(now, k.Pairs(now, ""), "", noon.Add(time.Hour))
	want(t, "with the default branch", said(k.Tell(everyone), "a"), "main  [x] 13:00")
}

func TestALookForOne_leavesWhatIsKnownOfOthers(t *testing.T) {
	t.Parallel()
	changed := map[string]string{"a": "x", "b": "x", "c": "x", "c2": "none"}
	k := &Known{}
	round(k, look("base", "a", "b", "c"), changed, "", noon)
	now := look("base", "a", "b", "c")
	now.Branches[2].Tip = "tip-c2"
	round(k, now, changed, "c", noon.Add(time.Hour))
	r := k.Tell(everyone)
	want(t, "a", said(r, "a"), "feat/b b [x] 12:00")
	want(t, "c", said(r, "c"), "")
	if !k.Settled(now, noon.Add(time.Minute)) {
		t.Error("all is known, and it is to be asked again")
	}
	one := &Known{}
	round(one, now, changed, "a", noon)
	if one.Settled(now, noon) {
		t.Error("only one was looked at, and the others are taken for known")
	}
	if r := one.Tell(everyone); r.Of["c"] != nil || r.Of["b"] == nil {
		t.Errorf("of those that nobody asked about: %v", r.Of)
	}
}

func TestAFailedLookIsNeverTakenForNoConflict(t *testing.T) {
	t.Parallel()
	now := look("base", "a", "b")
	k := &Known{}
	k.Fail(errors.New("the repository is gone"))
	want(t, "a failed look", k.Tell(everyone).Unknown[""], "the repository is gone")
	if k.Settled(now, noon) || k.Tell(everyone).Of["a"] != nil {
		t.Error("a look that failed counts for one")
	}

	round(k, now, map[string]string{"a": "x", "b": "x"}, "", noon)
	want(t, "after a good look", k.Tell(everyone).Unknown[""], "")
	k.Fail(errors.New("gone again"))
	r := k.Tell(everyone)
	want(t, "the next failed look", r.Unknown[""], "gone again")
	want(t, "what was found before", said(r, "a"), "feat/b b [x] 12:00")
	if k.Settled(now, noon.Add(stays)) {
		t.Error("a failed look is never made again")
	}

	k = &Known{}
	k.Learn(now, "tip-a", nil, errors.New("no merge base"))
	k.Learn(now, "tip-b", []string{"x"}, nil)
	pairs := k.Pairs(now, "")
	want(t, "pairs", strings.Join(names(pairs), " "), "b-")
	k.Answer(pairs[0], nil, errors.New("no such object"))
	k.Conclude(now, pairs, "", noon)
	want(t, "one that cannot be read", k.Tell(everyone).Unknown["a"], "no merge base")
	want(t, "one that cannot be merged", k.Tell(everyone).Unknown["b"], `"feat/b" cannot be compared with "main": no such object`)
	if !k.Settled(now, noon) || k.Settled(now, noon.Add(stays)) {
		t.Error("what could not be told is to be asked again, and not at once")
	}
	if len(k.Open(pairs)) != 1 || !slices.Equal(k.Unread(now), []string{"tip-a"}) {
		t.Error("what could not be told is not asked again")
	}

	k = learned(now, map[string]string{"a": "x", "b": "x"})
	k.Conclude(now, k.Pairs(now, ""), "", noon)
	want(t, "no time", k.Tell(everyone).Unknown["a"], "there was no time yet to compare it with 2 other branches")
	if k.Settled(now, noon) {
		t.Error("pairs that there was no time for are left forever")
	}
}

func TestAResult_isDatedAgainWhileNothingMoves(t *testing.T) {
	t.Parallel()
	changed := map[string]string{"a": "x", "b": "x"}
	k, now := &Known{}, look("base", "a", "b")
	round(k, now, changed, "", noon)
	if !k.Settled(now, noon.Add(stays-time.Second)) {
		t.Error("it is dated anew all the time")
	}
	if read, asked := round(k, now, changed, "", noon.Add(stays)); read+asked != 0 {
		t.Errorf("%d and %d questions", read, asked)
	}
	want(t, "a", said(k.Tell(everyone), "a"), "feat/b b [x] 12:02")
	quiet := &Known{}
	round(quiet, now, map[string]string{"a": "x", "b": "y"}, "", noon)
	if !quiet.Settled(now, noon.Add(24*time.Hour)) {
		t.Error("where there is nothing to date, the file is written all the same")
	}
}

func TestKnown_staysSmall(t *testing.T) {
	t.Parallel()
	const many = 200
	var ids []string
	changed := map[string]string{}
	for i := range many {
		id := fmt.Sprintf("%03d", i)
		ids = append(ids, id)
		changed[id] = "x"
	}
	k, now := &Known{}, look("base", ids...)
	for _, tip := range k.Unread(now) {
		k.Learn(now, tip, []string{"x"}, nil)
	}
	pairs := k.Pairs(now, "")
	for i, p := range k.Open(pairs) {
		var files []string
		if i%10 == 0 {
			files = strings.Fields(strings.Repeat("file ", 3*mostFiles))
		}
		k.Answer(p, files, nil)
	}
	k.Conclude(now, pairs, "", noon)
	if len(k.Answers) > mostAnswers {
		t.Errorf("%d answers", len(k.Answers))
	}
	for _, c := range k.Tell(everyone).Of["000"] {
		if len(c.Files) != mostFiles || c.More != 2*mostFiles {
			t.Errorf("a conflict names %d files and %d more", len(c.Files), c.More)
		}
	}
	round(k, look("base"), nil, "", noon)
	if len(k.Answers)+len(k.Changed)+len(k.Found) > 0 {
		t.Errorf("without a branch there are %d answers, %d lists of paths", len(k.Answers), len(k.Changed))
	}
	if !reflect.DeepEqual(k.Last, look("base")) {
		t.Errorf("%+v", k.Last)
	}
}
