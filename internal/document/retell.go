package document

// Told is a section as it was read once: where it stood, and its text in the normal form.
type Told struct {
	Name   string
	Line   int
	Copies int
	Text   string
}

// Retell rebuilds as much of a document as an event keeps: the names of its sections in their order, and the
// texts of some of them. A section that is only named is there and has no text. More is how many there were
// besides those that are named.
func Retell(names []string, more int, told []Told, problems []Problem) *Document {
	d := &Document{Problems: problems, at: map[string]int{}, named: len(names), unnamed: more}
	for _, name := range names {
		d.at[nameKey(name)] = len(d.sections)
		d.sections = append(d.sections, Section{Name: name, Key: nameKey(name), Copies: 1})
	}
	for _, one := range told {
		s := Section{Name: one.Name, Key: nameKey(one.Name)}
		if again, _ := sectionsOf(outlineOf("## x\n"+one.Text), 0); len(again) > 0 {
			s.lines = again[0].lines
		}
		s.Line, s.Copies, s.Text = one.Line, one.Copies, one.Text
		at, known := d.at[s.Key]
		if !known {
			at = len(d.sections)
			d.sections, d.at[s.Key] = append(d.sections, s), at
		}
		d.sections[at] = s
	}
	return d
}
