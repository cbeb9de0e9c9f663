package document

// Recorded is a section as it was read once: where it stood, and its text in the normal form.
type Recorded struct {
	Name   string
	Line   int
	Copies int
	Text   string
}

// recorded are the sections of a document that was read at an earlier time.
type recorded struct {
	sections []Section
	at       map[string]int // of each key
	named    int            // how many of the sections are listed by name
	more     int            // how many there are besides those
}

// FromRecorded rebuilds as much of a document as an event keeps: the names of its sections in their order, and the
// texts of some of them. A section that is only named is there and has no text. More is how many there were
// besides those that are named.
func FromRecorded(names []string, more int, texts []Recorded, problems []Problem) *Document {
	t := &recorded{at: map[string]int{}, named: len(names), more: more}
	for _, name := range names {
		t.at[nameKey(name)] = len(t.sections)
		t.sections = append(t.sections, Section{Name: name, Key: nameKey(name), Copies: 1})
	}
	for _, one := range texts {
		again := &Document{Body: "## x\n" + one.Text}
		again.readBody(0)
		s, _ := again.Section("x")
		s.Name, s.Key, s.Line, s.Copies, s.Text = one.Name, nameKey(one.Name), one.Line, one.Copies, one.Text
		at, known := t.at[s.Key]
		if !known {
			at = len(t.sections)
			t.sections, t.at[s.Key] = append(t.sections, s), at
		}
		t.sections[at] = s
	}
	return &Document{Problems: problems, recorded: t}
}

func (t *recorded) section(key string) (Section, bool) {
	at, found := t.at[key]
	if !found {
		return Section{}, false
	}
	return t.sections[at], true
}

func (t *recorded) names() []string {
	names := make([]string, 0, t.named)
	for _, s := range t.sections[:t.named] {
		names = append(names, shorten(s.Name))
	}
	return names
}
