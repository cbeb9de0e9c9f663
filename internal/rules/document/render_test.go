package document

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orange/internal/rules/task"
)

func sample() task.Task {
	at := time.Date(2026, 1, 2, 16, 4, 5, 6_999_000, time.FixedZone("CET", 3600))
	return task.Task{
		ID: "abc", Project: "orange", Branch: "orange-tasks/abc", Harness: "claude", Effort: "high",
		ReviewModel: "gpt-5/high:1",
		Status:      "working", Summary: "Fix the door", Workspace: "orange--1", Session: "orange-abc",
		Counters:  task.Counters{}.With("review_round", 2).With("fix_round", 1).With("alpha", -3),
		Workflow:  task.WorkflowRef{Name: "default", Version: 3},
		CreatedAt: at, UpdatedAt: at.Add(time.Hour),
	}
}

const sampleHead = `---
id: abc
project: orange
branch: orange-tasks/abc
harness: claude
review_harness: ""
effort: high
review_effort: ""
model: ""
review_model: "gpt-5/high:1"
status: working
review_round: 2
crash_count: 0
summary: "Fix the door"
workspace: orange--1
tmux_session: orange-abc
created_at: "2026-01-02T15:04:05.006Z"
updated_at: "2026-01-02T16:04:05.006Z"
workflow: default
workflow_version: 3
alpha: -3
fix_round: 1
`

func TestRender_writesTheKeysInOrder(t *testing.T) {
	t.Parallel()
	bare := sample()
	full := sample()
	full.PRURL, full.PRState, full.Attention, full.QueuedFor = "https://x/1", "OPEN", "no answer", "working"
	state := sample()
	state.PRState = "OPEN"
	fullHead := strings.Replace(sampleHead, "workflow: default",
		"pr_url: \"https://x/1\"\npr_state: OPEN\nworkflow: default", 1) +
		"attention: \"no answer\"\nqueued_for: working\n"
	tests := map[string]struct {
		task  task.Task
		extra string
		want  string
	}{
		"bare":                           {bare, "", sampleHead},
		"everything":                     {full, "", fullHead},
		"a state without a pull request": {state, "", sampleHead},
		"own keys last": {full, "mine: 'x' # y\nlist:\n- a\n",
			fullHead + "mine: 'x' # y\nlist:\n- a\n"},
		"own key without a newline":        {bare, "mine: 1", sampleHead + "mine: 1\n"},
		"own keys without comments":        {bare, "# a\nmine: 1\n#    \n", sampleHead + "mine: 1\n"},
		"counters that came back":          {bare, "fix_round: 7\nmine: 1\nalpha: 2\n", sampleHead + "mine: 1\n"},
		"keys of the task":                 {bare, "status: done\nattention: x\nmine: 1\n", sampleHead + "mine: 1\n"},
		"own keys that are no YAML":        {bare, "mine: a: b\n", sampleHead},
		"own keys in braces":               {bare, "{mine: a}\n", sampleHead},
		"own keys that are not a mapping":  {bare, "mine\n", sampleHead},
		"own key that leans on what went":  {bare, "status: &a x\nmine: *a\n", sampleHead},
		"own keys that close the block":    {bare, "mine: 1\n---\n## Plan\n", sampleHead},
		"own keys with carriage returns":   {bare, "mine: 1\r\n", sampleHead + "mine: 1\r\n"},
		"own key that only looks like one": {bare, "Status: done\n", sampleHead + "Status: done\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := tt.want + "---\n"
			got, ok := Render(tt.task, tt.extra, len(want))
			if !ok || got != want {
				t.Errorf("%v, got:\n%s\nwant:\n%s", ok, got, want)
			}
		})
	}
}

func TestRender_fillsTheRoomExactly(t *testing.T) {
	t.Parallel()
	exact := len(sampleHead) + len("---\n")
	tests := map[string]struct {
		spare int
		want  string
		ok    bool
	}{
		"fits exactly":           {0, sampleHead + "---\n", true},
		"one too few":            {-1, "", false},
		"far too few":            {-exact, "", false},
		"less than nothing":      {-2 * exact, "", false},
		"one byte is no comment": {1, "", false},
		"two bytes":              {2, sampleHead + "#\n---\n", true},
		"three bytes":            {3, sampleHead + "#-\n---\n", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := Render(sample(), "", exact+tt.spare)
			if ok != tt.ok || got != tt.want {
				t.Errorf("%v, got:\n%s", ok, got)
			}
		})
	}
}

// An agent that reads the header meets no line that it cannot see the end of.
func TestRender_fillsTheRoomWithShortComments(t *testing.T) {
	t.Parallel()
	exact := len(sampleHead) + len("---\n")
	for spare := 2; spare < 1500; spare++ {
		got, ok := Render(sample(), "", exact+spare)
		filled, is := strings.CutPrefix(strings.TrimSuffix(got, "---\n"), sampleHead)
		if !ok || !is || len(got) != exact+spare {
			t.Fatalf("%d bytes to fill: %t, %d bytes:\n%s", spare, ok, len(got), got)
		}
		for line := range strings.Lines(filled) {
			if !strings.HasPrefix(line, "#") || len(line) > 110 || strings.HasSuffix(line, " \n") {
				t.Fatalf("%d bytes to fill: the line %q", spare, line)
			}
		}
		if read := Read([]byte(got)); read.Broken() != "" || read.FrontLen != len(got) {
			t.Fatalf("%d bytes to fill: it is read as %+v", spare, read)
		}
	}
}

func TestRoom_leavesSpareBytes(t *testing.T) {
	t.Parallel()
	for size := range 600 {
		tk := sample()
		tk.Summary = strings.Repeat("x", size+1)
		need := len(renderHead(tk, "mine: 1\n")) + len("---\n")
		room := Room(tk, "mine: 1\n")
		if room%256 != 0 || room-need < 512 || room-need >= 512+256 {
			t.Fatalf("room is %d for %d bytes", room, need)
		}
	}
}

func TestRender_quotesWhatIsNotPlainlySafe(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"plain": "plain", "a/b-c_d.e": "a/b-c_d.e", "A1": "A1", "nothing": "nothing", "yes.": "yes.",
		"": `""`, "two words": `"two words"`, "1": `"1"`, "-a": `"-a"`, ".inf": `".inf"`, "~": `"~"`,
		"a:b": `"a:b"`, "@x": `"@x"`,
		"true": `"true"`, "False": `"False"`, "NULL": `"NULL"`, "yes": `"yes"`, "No": `"No"`, "on": `"on"`,
		"OFF": `"OFF"`, "y": `"y"`, "N": `"N"`,
		"a\nb": `"a\nb"`, "a\tb": `"a\tb"`, "a\rb": `"a\x0Db"`, "\x00": `"\x00"`, "\x7f": `"\x7F"`,
		"\u0085": `"\x85"`, "\u00a0": `"\xA0"`,
		`"\`: `"\"\\"`, "\u2028": `"\u2028"`, "\uFEFF": `"\uFEFF"`, "\u202E": `"\u202E"`, "\U000E0001": `"\U000E0001"`,
		"ä 🍊": `"ä 🍊"`, "👩\u200d🚀": "\"👩\u200d🚀\"", "\uFFFD": `"\uFFFD"`, "\xff": `"\uFFFD"`, "---": `"---"`,
		"# x": `"# x"`,
	}
	for text, want := range tests {
		tk := sample()
		tk.Summary = text
		if got := renderHead(tk, ""); !strings.Contains(got, "\nsummary: "+want+"\nworkspace:") {
			t.Errorf("%q is not written as %s in\n%s", text, want, got)
		}
		block, ok := Render(tk, "", Room(tk, ""))
		if back, _ := Read([]byte(block)).Front.Get("summary"); !ok || back != strings.ToValidUTF8(text, "\uFFFD") {
			t.Errorf("%q came back as %q", text, back)
		}
	}
}

func TestFields_leavesOutCountersThatWouldCollide(t *testing.T) {
	t.Parallel()
	tk := sample()
	tk.Counters = task.Counters{{Name: "status", Value: 1}, {Name: "zeta", Value: 2}, {Name: "beta", Value: 3},
		{Name: "beta", Value: 4}, {Name: "null", Value: 5}}
	var names []string
	for _, v := range Fields(tk)[19:] {
		names = append(names, v.Key+"="+v.Text)
	}
	wantStrings(t, names, []string{"beta=3", "null=5", "zeta=2"})
	block, _ := Render(tk, "", Room(tk, ""))
	d := Read([]byte(block))
	if len(d.Problems) != 0 {
		t.Errorf("problems: %v in\n%s", d.Problems, block)
	}
}

func drawTask(t *rapid.T) task.Task {
	nasty := rapid.OneOf(
		rapid.String(),
		rapid.StringOf(
			rapid.SampledFrom(
				[]rune(
					"a \t\n\r\x00\x01\x1b\x7f\u0085\u00a0\u2028\u2029\uFEFF"+
						"\uFFFE\U0001FFFE\U0010FFFF\u202E'\"\\#:-{}[]&*!|>%@`,?~=<🍊é"))),
		rapid.SampledFrom([]string{"null", "~", "yes", "---", "...", "1.0", "0x1", "2026-01-01", "<<", "=",
			"!!str", "\xff", "a\xc3"}),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	text := func(name string) string { return nasty.Draw(t, name) }
	at := func(name string) time.Time { return time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, name)) }
	tk := task.Task{
		ID: text("id"), Project: text("project"), Branch: text("branch"), Harness: text("harness"),
		ReviewHarness: text("review harness"),
		Effort:        text("effort"), ReviewEffort: text("review effort"), Status: task.Status(text("status")),
		Summary:   text("summary"),
		Workspace: text("workspace"), Session: text("session"), Attention: text("attention"),
		QueuedFor: task.Status(text("queued for")),
		PRURL:     text("url"), PRState: text("state"), CreatedAt: at("created"), UpdatedAt: at("updated"),
		Workflow: task.WorkflowRef{Name: text("workflow"), Version: rapid.Int().Draw(t, "version")},
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "counters") {
		name := rapid.OneOf(rapid.SampledFrom([]string{"review_round", "crash_count", "fix_round", "null", "on",
			"0"}), rapid.StringMatching(`[a-z_]{1,12}`), nasty)
		tk.Counters = tk.Counters.With(name.Draw(t, fmt.Sprint("name ", i)),
			rapid.Int().Draw(t, fmt.Sprint("value ", i)))
	}
	return tk
}

// Whatever a task holds, its frontmatter reads back as Fields says, stays in its room, and leaves the body and
// the user's keys alone.
func TestRender_readsBackAsFields(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tk := drawTask(t)
		extra := rapid.SampledFrom([]string{
			"", "Mine: 1\n", "Mine:\n  - a: |\n      # b\n\n      c\nOther: 'x\n  y'\n"}).Draw(t, "extra")
		body := rapid.String().Draw(t, "body")
		room := Room(tk, extra) + rapid.IntRange(-400, 400).Draw(t, "more")
		block, ok := Render(tk, extra, room)
		if !ok || len(block) != room {
			t.Fatalf("%v: a block of %d bytes for a room of %d", ok, len(block), room)
		}
		d := Read([]byte(block + body))
		if d.FrontLen != room || d.Body != body {
			t.Fatalf("FrontLen is %d, body %q", d.FrontLen, d.Body)
		}
		for _, p := range d.Problems {
			if p.Line <= strings.Count(block, "\n") {
				t.Fatalf("problem on line %d: %s\n%s", p.Line, p.Text, block)
			}
		}
		want := Fields(tk)
		for i, v := range want {
			if got := d.Front.Values[i]; got.Key != v.Key || got.Text != v.Text || got.Line != i+2 {
				t.Fatalf("value %d came back as %+v, want %+v\n%s", i, got, v, block)
			}
		}
		if !strings.HasSuffix(d.Front.Extra, extra) {
			t.Fatalf("extra came back as %q", d.Front.Extra)
		}
		// Renewing what was read changes nothing: neither counters nor padding pile up.
		if again, ok := Render(tk, d.Front.Extra, room); !ok || again != block {
			t.Fatalf("%v: rendered again:\n%s\nat first:\n%s", ok, again, block)
		}
	})
}
