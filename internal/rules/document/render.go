package document

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"orange/internal/rules/task"
)

// A renewed frontmatter has to fit where the old one stood, since moving the body would race with a program that
// appends to it.
const (
	spareBytes = 512
	roomStep   = 256
)

const timeLayout = "2006-01-02T15:04:05.000Z"

// form is how a value is written: the text is the same for all of them.
type form int

const (
	asString form = iota // bare where that is plainly safe
	asNumber             // always bare
	asTime               // always quoted
)

type field struct {
	Value
	form form
}

// Render makes the frontmatter block of a task, both --- lines included, exactly room bytes long:
// what is left is filled with comments, so that the block can be renewed in place.
// extra is what Front.Extra gave; keys in it that the task itself has are left out, and so is all of it when it
// is no YAML mapping. ok is false, and block empty, when the block does not fit.
func Render(t task.Task, extra string, room int) (block string, ok bool) {
	head := renderHead(t, extra)
	const foot = "---\n"
	spare := room - len(head) - len(foot)
	switch {
	case spare == 0:
		return head + foot, true
	case spare < len("#\n"):
		return "", false
	}
	return head + filler(spare) + foot, true
}

// aboutHeader is what a reader of a document may want to know of its header. Each line is one that can be left out.
const aboutHeader = `# Orange writes this header from its record, and reads back what may be changed here.
# A status is not: "orange task update --status STATUS" asks for it, and a refusal says what is missing.
# "orange task why" lists the moves that are open, and what each of them waits for.
# The lines below are room for longer values.
`

// widest is how long a line of a filler is at most.
const widest = 100

// filler is comments of so many bytes, at least two.
func filler(bytes int) string {
	var b strings.Builder
	for line := range strings.Lines(aboutHeader) {
		if left := bytes - b.Len() - len(line); left == 0 || left >= len("#\n") {
			b.WriteString(line)
		}
	}
	for left := bytes - b.Len(); left > 0; left = bytes - b.Len() {
		n := min(left, widest)
		if left-n == 1 {
			n-- // one byte alone is no comment
		}
		b.WriteString("#" + strings.Repeat("-", n-len("#\n")) + "\n")
	}
	return b.String()
}

// Room is a length for Render with at least 512 bytes to spare.
func Room(t task.Task, extra string) int {
	need := len(renderHead(t, extra)) + len("---\n") + spareBytes
	return (need + roomStep - 1) / roomStep * roomStep
}

// Fields are the keys and texts that Render writes, in order, as Read would give them back but for their lines,
// which are 0. Bytes that are not UTF-8 become U+FFFD. A counter that is named like one of the fixed keys is left
// out.
func Fields(t task.Task) []Value {
	fields := fieldsOf(t)
	values := make([]Value, 0, len(fields))
	for _, f := range fields {
		values = append(values, f.Value)
	}
	return values
}

func fieldsOf(t task.Task) []field {
	var out []field
	add := func(key, text string, f form) {
		out = append(out, field{
			Value{Key: strings.ToValidUTF8(key, "\uFFFD"), Text: strings.ToValidUTF8(text, "\uFFFD")}, f})
	}
	add("id", t.ID, asString)
	add("project", t.Project, asString)
	add("branch", t.Branch, asString)
	add("harness", t.Harness, asString)
	add("review_harness", t.ReviewHarness, asString)
	add("effort", t.Effort, asString)
	add("review_effort", t.ReviewEffort, asString)
	add("model", t.Model, asString)
	add("review_model", t.ReviewModel, asString)
	add("status", string(t.Status), asString)
	add(task.ReviewRound, strconv.Itoa(t.Counters.Get(task.ReviewRound)), asNumber)
	add(task.CrashCount, strconv.Itoa(t.Counters.Get(task.CrashCount)), asNumber)
	add("summary", t.Summary, asString)
	add("workspace", t.Workspace, asString)
	add("tmux_session", t.Session, asString)
	add("created_at", formatTime(t.CreatedAt), asTime)
	add("updated_at", formatTime(t.UpdatedAt), asTime)
	if t.PRURL != "" {
		add("pr_url", t.PRURL, asString)
		add("pr_state", t.PRState, asString)
	}
	add("workflow", t.Workflow.Name, asString)
	add("workflow_version", strconv.Itoa(t.Workflow.Version), asNumber)
	for _, c := range otherCounters(t.Counters) {
		add(c.Name, strconv.Itoa(c.Value), asNumber)
	}
	if t.Attention != "" {
		add("attention", t.Attention, asString)
	}
	if t.Queued() {
		add("queued_for", string(t.QueuedFor), asString)
	}
	return out
}

// otherCounters are the counters that are no fixed keys, sorted, each once:
// a key that occurs twice would make the whole block a problem.
func otherCounters(all task.Counters) task.Counters {
	var out task.Counters
	for _, c := range all {
		if !isKnown(c.Name) {
			out = append(out, task.Counter{Name: strings.ToValidUTF8(c.Name, "\uFFFD"), Value: c.Value})
		}
	}
	slices.SortStableFunc(out, func(a, b task.Counter) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b task.Counter) bool { return a.Name == b.Name })
}

func formatTime(at time.Time) string { return at.UTC().Format(timeLayout) }

func renderHead(t task.Task, extra string) string {
	var b strings.Builder
	b.WriteString("---\n")
	fields := fieldsOf(t)
	for _, f := range fields {
		b.WriteString(scalar(f.Key))
		b.WriteString(": ")
		switch f.form {
		case asNumber:
			b.WriteString(f.Text)
		case asTime:
			b.WriteString(quote(f.Text))
		default:
			b.WriteString(scalar(f.Text))
		}
		b.WriteByte('\n')
	}
	b.WriteString(without(extra, fields))
	return b.String()
}

// without is extra less the keys of the task itself. Reading cannot tell a counter from a user's key, so counters
// come back in extra.
func without(extra string, fields []field) string {
	pairs, err := pairsOf(extra)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range pairs {
		ours := slices.ContainsFunc(fields, func(f field) bool { return f.Key == p.key.Value })
		if ours || isKnown(p.key.Value) || p.raw == "" {
			continue
		}
		b.WriteString(p.raw)
		if !strings.HasSuffix(p.raw, "\n") {
			b.WriteByte('\n')
		}
	}
	kept := b.String()
	if _, err := pairsOf(kept); err != nil {
		return "" // it leaned on an anchor of a key that is gone
	}
	return kept
}

var (
	plainScalar = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)
	yamlWord    = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
)

// scalar writes text so that every YAML reader gives it back as a string.
func scalar(text string) string {
	if plainScalar.MatchString(text) && !yamlWord.MatchString(text) {
		return text
	}
	return quote(text)
}

// quote writes valid UTF-8 as a double-quoted YAML scalar on one line.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r) && r != utf8.RuneError || r == zeroWidthJoiner:
			b.WriteRune(r)
		case r <= 0xFF:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// zeroWidthJoiner does not print, but holds an emoji family together that does.
const zeroWidthJoiner = '\u200D'
