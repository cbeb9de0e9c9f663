package harness

import "strings"

// What there is at the place of a skill's file.
const (
	SkillNew     = "new"     // nothing
	SkillSame    = "same"    // the text that ships
	SkillChanged = "changed" // another text of Orange's own, which an earlier version wrote
	SkillYours   = "yours"   // a text that Orange did not write: it stays
	SkillRemove  = "remove"  // a text of Orange's own, which is to be removed
)

// SkillFile is a file of a skill at a place where agent programs look for it.
type SkillFile struct {
	Path      string   `json:"path"`
	Harnesses []string `json:"harnesses,omitempty"` // whose programs look there
	State     string   `json:"state"`
}

// SkillsWanted says what of the skills is asked for.
type SkillsWanted struct {
	Harness string // the only one; empty for all whose programs are on PATH
	Project string // the folder of the project whose repository gets them; empty for the person's own folders
}

// SkillPlan is what there is to write, and what there is to know about it.
type SkillPlan struct {
	Files []SkillFile `json:"files"`
	Notes []string    `json:"notes,omitempty"`
}

// Open is how many files are to be written.
func (p SkillPlan) Open() int {
	n := 0
	for _, one := range p.Files {
		if one.State == SkillNew || one.State == SkillChanged {
			n++
		}
	}
	return n
}

// SkillsFolder is the folder in which the program looks for skills, below the user's home or, for a project, below the
// top of the repository. It is empty where that is not known.
func (h *Harness) SkillsFolder(project bool) string {
	if project {
		return strings.Trim(h.ProjectSkills, "/")
	}
	return strings.Trim(h.Skills, "/")
}
