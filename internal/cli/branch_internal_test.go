package cli

import "testing"

func TestBranchFromWords_namesWhatTheTextIsAbout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Fix the login":                       "fix-the-login",
		"  Users can't log in -- any more!  ": "users-cant-log-in-any-more",
		"Größe: 2 x 3":                        "größe-2-x-3",
		"../../etc/passwd; rm -rf /":          "etc-passwd-rm-rf",
		"--force @{u} HEAD~1":                 "force-u-head-1",
		"a b.lock":                            "a-b-lock",
		"one two three four five six seven eight nine ten": "one-two-three-four-five-six-seven-eight",
		"Donaudampfschifffahrtsgesellschaftskapitänswitwe": "donaudampfschifffahrtsgesellschaftskapit",
		"?! ...": "",
	} {
		if got := branchFromWords(text); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}
