package document

import (
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Front is the frontmatter as it is in the file.
type Front struct {
	Values []Value // every top-level key with a scalar, in the order of the file, the first of duplicates only
	// raw lines of the top-level keys that no task has of itself, to be given back to Render; empty when the YAML
	// is broken
	Extra string
}

// Value is one key of the frontmatter with its text: unquoted, and empty for null.
type Value struct {
	Key, Text string
	Line      int // of the key, 1-based in the file; 0 for a value that comes from no file
}

// Get is the text of a key, and whether the key is there.
func (f Front) Get(key string) (text string, ok bool) {
	for _, v := range f.Values {
		if v.Key == key {
			return v.Text, true
		}
	}
	return "", false
}

// isKnown reports whether a key is one that every task has, so that it is rendered from the record.
// A task's other counters are not among them: only a task knows their names, and Render has one.
func isKnown(key string) bool {
	switch key {
	case "id", "project", "branch", "harness", "review_harness", "effort", "review_effort", "model",
		"review_model", "status", "review_round", "crash_count", "summary", "workspace", "tmux_session", "created_at",
		"updated_at", "pr_url", "pr_state", "workflow", "workflow_version", "attention", "queued_for":
		return true
	}
	return false
}

const byteOrderMark = "\uFEFF"

// frontBlock is where the frontmatter is in a file.
type frontBlock struct {
	yaml    string // what is between the --- lines
	end     int    // the number of bytes up to the body; 0 without a complete block
	missing string // why there is none
}

func delimit(text string) frontBlock {
	start := 0
	if strings.HasPrefix(text, byteOrderMark) {
		start = len(byteOrderMark)
	}
	end, next := lineEnd(text[start:])
	if !isFence(text[start : start+end]) {
		return frontBlock{missing: "cannot find the frontmatter: the first line is not ---; put the keys of " +
			"the task between two lines of --- at the top"}
	}
	open := start + next
	for at := open; at < len(text); at += next {
		end, next = lineEnd(text[at:])
		if isFence(text[at : at+end]) {
			return frontBlock{yaml: text[open:at], end: at + next}
		}
	}
	return frontBlock{missing: "cannot read the frontmatter: the --- on line 1 is never closed; put a line of " +
		"--- after the last key"}
}

func isFence(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// readFront reads the YAML of a frontmatter, whose first line is the file's second.
func (d *Document) readFront(text string) {
	if len(text) > maxFront {
		d.problem(
			1, "cannot read the frontmatter: it is %d bytes long, more than %d; is the closing --- missing?",
			len(text), maxFront)
		return
	}
	d.checkFrontLines(text)
	// Bytes that YAML refuses have been named; without them the other values can be read.
	clean := strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	pairs, err := pairsOf(clean)
	if err != nil {
		d.salvage(clean, err)
		return
	}
	d.addValues(pairs)
	extra, lost := extraOf(pairs)
	if lost != "" {
		d.problem(2, "cannot keep the key %q of the frontmatter as it is; write it on lines of its own, "+
			"without anchors or braces around it", lost)
		return
	}
	d.Front.Extra = extra
}

var (
	markdownHeading = regexp.MustCompile(`^#{2,6}[ \t]+\S`)
	yamlDocument    = regexp.MustCompile(`^(---|\.\.\.)([ \t\r\n]|$)`)
)

// checkFrontLines finds the lines that YAML would swallow as comments although the author meant them as headings:
// with the closing --- forgotten, a rule further down closes the block and hides the sections in between.
func (d *Document) checkFrontLines(text string) {
	for i, line := range splitLines(text) {
		if markdownHeading.MatchString(line) {
			d.problem(i+2, "cannot tell the frontmatter from the body: there is the heading %q inside the "+
				"frontmatter; is the closing --- missing above it?", strings.TrimSpace(line))
			return
		}
	}
}

func (d *Document) addValues(pairs []pair) {
	seen := make(map[string]bool, len(pairs))
	for _, p := range pairs {
		if p.key.Kind != yaml.ScalarNode {
			continue
		}
		key, line := p.key.Value, p.key.Line+1 // YAML begins on the file's second line
		switch {
		case seen[key]:
			d.problem(line, "cannot read the key %q twice: the first one counts; remove one", key)
			continue
		case p.value.Kind == yaml.ScalarNode:
			d.Front.Values = append(d.Front.Values, Value{Key: key, Text: scalarText(p.value), Line: line})
		case isKnown(key):
			d.problem(line, "cannot read the value of %q: it is a list, a mapping or an alias; write plain text", key)
		}
		seen[key] = true
	}
}

func scalarText(n *yaml.Node) string {
	if n.ShortTag() == "!!null" {
		return ""
	}
	return n.Value
}

// salvage reads a broken frontmatter key by key: one bad line then costs its own value only, and is named by its
// number, which the YAML library's own message gets wrong when a block begins further up.
func (d *Document) salvage(text string, cause error) {
	var good []pair
	found := false
	for _, c := range chunksOf(text) {
		pairs, err := pairsOf(c.text)
		if err != nil {
			found = true
			d.brokenYAML(c.line+1, err)
		}
		for _, p := range pairs {
			p.key.Line += c.line - 1
			good = append(good, p)
		}
	}
	if !found {
		d.brokenYAML(2, cause)
	}
	d.addValues(good)
}

func (d *Document) brokenYAML(line int, err error) {
	found := err.Error()
	if e, ok := errors.AsType[*yaml.LoadError](err); ok {
		found = e.Message
	}
	d.problem(line, "cannot read the frontmatter: %s; write \"key: value\", with quotes around a value that "+
		"holds \": \" or \" #\"", found)
}

type chunk struct {
	line int // 1-based in the text that was cut
	text string
}

// chunksOf cuts a flat mapping before every line that can begin a key.
func chunksOf(text string) []chunk {
	var chunks []chunk
	start, at := 0, 0
	for i, line := range splitLines(text) {
		continues := strings.ContainsAny(line[:1], " \t\r\n#]}") || strings.HasPrefix(line, "- ")
		if len(chunks) == 0 || !continues {
			chunks = append(chunks, chunk{line: i + 1})
			start = at
		}
		at += len(line)
		chunks[len(chunks)-1].text = text[start:at]
	}
	return chunks
}

// pair is one top-level key of a mapping with the lines that it was read from.
type pair struct {
	key, value *yaml.Node
	raw        string
}

// mappingOf is the one mapping of a text, nil when there is nothing but comments.
func mappingOf(text string, lines []string) (*yaml.Node, error) {
	for _, line := range lines {
		if yamlDocument.MatchString(line) {
			return nil, errors.New("there is a second YAML document")
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var document, rest yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) || err == nil && len(document.Content) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("there is text without a key")
	}
	// The library stops silently where the indentation ends a mapping too early.
	if err := decoder.Decode(&rest); !errors.Is(err, io.EOF) {
		return nil, errors.New("there are keys with another indentation than the first one")
	}
	return document.Content[0], nil
}

// pairsOf reads a mapping; no mapping at all is an empty one.
func pairsOf(text string) ([]pair, error) {
	lines := splitLines(text)
	root, err := mappingOf(text, lines)
	if root == nil || err != nil {
		return nil, err
	}
	pairs := make([]pair, 0, len(root.Content)/2)
	for i := 0; i+1 < len(root.Content); i += 2 {
		p := pair{key: root.Content[i], value: root.Content[i+1]}
		last := len(lines)
		if i+2 < len(root.Content) {
			last = root.Content[i+2].Line - 1
		}
		if root.Style&yaml.FlowStyle == 0 && p.key.Line >= 1 && p.key.Line <= last && last <= len(lines) {
			p.raw = rawLines(lines[p.key.Line-1:last], p.value)
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// rawLines are the lines of one key without the mapping's own indentation, and without the comments and blank
// lines that follow it, so that padding never piles up.
func rawLines(lines []string, value *yaml.Node) string {
	raw := make([]string, len(lines))
	// The mapping's own column may be that of a tag further up.
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
	for i, line := range lines {
		raw[i] = strings.TrimPrefix(line, indent)
	}
	for len(raw) > 1 {
		last := strings.TrimSpace(raw[len(raw)-1])
		if last != "" && !strings.HasPrefix(raw[len(raw)-1], "#") {
			break
		}
		// A quoted text may run over several lines, of which the last may begin with a #.
		if strings.HasSuffix(last, `"`) && value.Style&yaml.DoubleQuotedStyle != 0 ||
			strings.HasSuffix(last, `'`) && value.Style&yaml.SingleQuotedStyle != 0 {
			break
		}
		raw = raw[:len(raw)-1]
	}
	return strings.Join(raw, "")
}

// extraOf are the raw lines of the unknown keys. What is written back must read as what it was,
// so lost names the first key for which that does not hold.
func extraOf(pairs []pair) (extra, lost string) {
	var unknown []pair
	var b strings.Builder
	for _, p := range pairs {
		if p.key.Kind != yaml.ScalarNode || !isKnown(p.key.Value) {
			unknown = append(unknown, p)
			b.WriteString(p.raw)
		}
	}
	if len(unknown) == 0 {
		return "", ""
	}
	extra = b.String()
	again, err := pairsOf(extra)
	for i, p := range unknown {
		if err != nil || i >= len(again) || !sameNode(p.key, again[i].key) || !sameNode(p.value, again[i].value) {
			return "", p.key.Value
		}
	}
	return extra, ""
}

func sameNode(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Value != b.Value || a.Tag != b.Tag || a.Anchor != b.Anchor ||
		len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
