package harness_test

import (
	"testing"

	"orange/internal/rules/harness"
)

// Each program has its own folders; two may share one.
func TestTheBuiltInHarnessesKnowWhereTheirProgramsLookForSkills(t *testing.T) {
	t.Parallel()
	for _, h := range shipped(t) {
		person, project := h.SkillsFolder(false), h.SkillsFolder(true)
		if (person == "" || project == "") != (h.Name == "aider") { // which looks for none
			t.Errorf("%s: %q and %q", h.Name, person, project)
		}
	}
	h, err := harness.Parse("h.yml", []byte(short+"skills: .x/skills/\nproject_skills: .y/skills\n"))
	if err != nil || h.SkillsFolder(false) != ".x/skills" || h.SkillsFolder(true) != ".y/skills" {
		t.Errorf("found %+v, %v", h, err)
	}
}
