package home

import "testing"

func TestHabit_isHowMostOfTheLastCommitsCame(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		subjects        []string
		merge, strategy string
	}{
		"nothing":            {nil, "", ""},
		"commits":            {[]string{"Do it", "Do (#x)", "Merge branch 'a'", "(#1)", "Do (#2) again"}, "", ""},
		"merged requests":    {[]string{"Merge pull request #1 from a/b", "Merge pull request #2", "Do it"}, "pr", ""},
		"squashed requests":  {[]string{"Do it (#12)", "Mend it (#13)", "Do more"}, "pr", "squash"},
		"both":               {[]string{"Do it (#12)", "Merge pull request #2 from c", "Do more"}, "pr", ""},
		"half of them only":  {[]string{"Do it (#12)", "Do more"}, "", ""},
		"a number in a name": {[]string{"Do it (#12", "Do it #12)"}, "", ""},
	} {
		if merge, strategy := habit(tt.subjects); merge != tt.merge || strategy != tt.strategy {
			t.Errorf("%s: %q with %q, want %q with %q", name, merge, strategy, tt.merge, tt.strategy)
		}
	}
}
