package engine

import (
	"testing"

	"orange/internal/work/git"
)

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
		"ログイン画面の文字化けを修正する。": "ログイン画面の文字化けを修正する",
		"แก้ไขหน้าล็อกอิน":  "แก้ไขหน้าล็อกอิน",
		"Cafe\u0301 \u0301": "cafe\u0301",
		"❤\ufe0f 🍊":         "",
	} {
		if got := branchFromWords(text); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
		if err := git.CheckBranch(t.Context(), want); want != "" && err != nil {
			t.Error(err)
		}
	}
}
