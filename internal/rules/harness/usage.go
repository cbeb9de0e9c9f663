package harness

import (
	"regexp"
	"slices"
	"strings"
)

// Usage is one way in which the argument lists call the program.
type Usage struct {
	Words []string // the program, and the subcommands before its first flag
	Flags []string // the flags that it has to know there, sorted
}

// Usages are the ways in which the argument lists call the program, in their order. A list that begins with another
// program, such as a shell, tells nothing about this one.
func (h *Harness) Usages() []Usage {
	var out []Usage
	for _, list := range [][]Arg{h.Worker.Command, h.Worker.Reduced, h.Worker.Resume, h.Reviewer.Command,
		h.Reviewer.Reduced, h.Reviewer.Resume} {
		if len(list) == 0 || list[0].Words[0] != h.Program {
			continue
		}
		used := usageOf(list)
		at := slices.IndexFunc(out, func(u Usage) bool { return slices.Equal(u.Words, used.Words) })
		if at < 0 {
			at = len(out)
			out = append(out, Usage{Words: used.Words})
		}
		flags := append(out[at].Flags, used.Flags...)
		slices.Sort(flags)
		out[at].Flags = slices.Compact(flags)
	}
	return out
}

func usageOf(list []Arg) Usage {
	var u Usage
	for _, arg := range list {
		for _, word := range arg.Words {
			name, _, _ := strings.Cut(word, "=")
			switch {
			case strings.HasPrefix(name, "-") && name != "-" && name != "--":
				u.Flags = append(u.Flags, name)
			case len(u.Flags) == 0 && !arg.Group && !braces.MatchString(word):
				u.Words = append(u.Words, word)
			}
		}
	}
	return u
}

// Missing are the flags that the program's help for these words does not name.
func (u Usage) Missing(help string) []string {
	var out []string
	for _, flag := range u.Flags {
		named := regexp.MustCompile(`(?m)(^|[\s,|\[(])` + regexp.QuoteMeta(flag) + `($|[\s,=|\[\])<.])`)
		if !named.MatchString(help) {
			out = append(out, flag)
		}
	}
	return out
}
