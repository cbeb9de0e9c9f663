package record_test

import (
	"strings"
	"testing"

	"orange/internal/rules/record"
)

func TestAdoptee_isOpenOfTheDefaultBranchAndTrusted(t *testing.T) {
	t.Parallel()
	own := record.Adoptee{Number: 7, Branch: "feat/a", From: "a/coffee",
		Issue:       record.Issue{Author: record.PRAuthor{Name: "eve"}},
		PullRequest: record.PullRequest{State: record.PROpen, Commit: "0123456789abcdef", Base: "main"}}
	fork := own
	fork.Foreign, fork.From, fork.Branch = true, "eve/coffee", "pr/7/feat/a"
	with := func(a record.Adoptee, change func(*record.Adoptee)) record.Adoptee {
		change(&a)
		return a
	}
	for name, tt := range map[string]struct {
		of    record.Adoptee
		trust string
		says  string
	}{
		"its own":           {own, "", ""},
		"merged":            {with(own, func(a *record.Adoptee) { a.State = record.PRMerged }), "", "it is merged"},
		"closed":            {with(own, func(a *record.Adoptee) { a.State = record.PRClosed }), "", "it is closed"},
		"another base":      {with(own, func(a *record.Adoptee) { a.Base = "next" }), "", `into "next"`},
		"trust for nothing": {own, "eve@0123456", "leave --trust out"},
		"a fork": {fork, "", "agents read and run them; look at it there, and if you trust it: orange task create " +
			"--pr 7 --trust eve@0123456789ab"},
		"a fork, trusted":     {fork, "eve@0123456", ""},
		"of someone else":     {fork, "ann@0123456", "it is of eve"},
		"at another head":     {fork, "eve@9999999", "has the head 0123456789abcdef"},
		"at hardly any head":  {fork, "eve@012345", "look at it there again"},
		"of anyone":           {fork, "@0123456", "look at it there again"},
		"at any head":         {fork, "eve", "look at it there again"},
		"whose fork":          {fork, "", "it is of eve, from a fork (eve/coffee)"},
		"a fork that is gone": {with(fork, func(a *record.Adoptee) { a.From = "" }), "", "which is gone"},
	} {
		got := tt.of.Against("main", tt.trust)
		if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s: it says %q, want %q", name, got, tt.says)
		}
	}
	if got := own.Pushing(); got != "" {
		t.Errorf("of its own branch it says %q", got)
	}
	if got := fork.Pushing(); !strings.Contains(got, "lets no one else") {
		t.Errorf("of a fork it says %q", got)
	}
	fork.MayModify = true
	if got := fork.Pushing(); !strings.Contains(got, `push the branch "pr/7/feat/a" there yourself, to "feat/a"`) {
		t.Errorf("of an open fork it says %q", got)
	}
}
