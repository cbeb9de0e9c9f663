package document

// Recorded is a section as it was read once: where it stood, and its text in the normal form.
type Recorded struct {
	Name   string
	Line   int
	Copies int
	Text   string
}

// FromRecorded rebuilds as much of a document as an event keeps: the names of its sections in their order, and the
// texts of some of them. A section that is only named is there and has no text. More is how many there were
// besides those that are named.
func FromRecorded(names []string, more int, texts []Recorded, problems []Problem) *Document {
	d := &Document{Problems: problems, at: map[string]int{}, named: len(names), more: more}
	for _, name := range names {
		d.at[nameKey(name)] = len(d.sections)
		d.sections = append(d.sections, Section{Name: name, Key: nameKey(name), Copies: 1})
	}
	for _, one := range texts {
		s := Section{Name: one.Name, Key: nameKey(one.Name), Line: one.Line, Copies: one.Copies, Text: one.Text,
			lines: outlineOf(one.Text).lines}
		at, known := d.at[s.Key]
		if !known {
			at = len(d.sections)
			d.sections, d.at[s.Key] = append(d.sections, s), at
		}
		d.sections[at] = s
	}
	return d
}
