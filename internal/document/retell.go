package document

// Told is a section as it was read once: where it stood, and its text in the normal form.
type Told struct {
	Name   string
	Line   int
	Copies int
	Text   string
}

// Retell is a document as far as it is told again: its sections by their names, in their order, with the texts of those that are told.
// A section that is only named is there and has no text.
func Retell(names []string, told []Told, problems []Problem) *Document {
	d := &Document{Problems: problems}
	for _, name := range names {
		d.sections = append(d.sections, Section{Name: name, Key: nameKey(name), Copies: 1})
	}
	for _, one := range told {
		s := Section{Name: one.Name, Key: nameKey(one.Name)}
		if again := sectionsOf(outlineOf("## x\n"+one.Text), 0); len(again) > 0 {
			s.lines = again[0].lines
		}
		s.Line, s.Copies, s.Text = one.Line, one.Copies, one.Text
		at := -1
		for i := range d.sections {
			if d.sections[i].Key == s.Key {
				at = i
			}
		}
		if at < 0 {
			d.sections = append(d.sections, s)
			continue
		}
		d.sections[at] = s
	}
	return d
}
