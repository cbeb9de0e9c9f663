package mutation

import (
	"fmt"
	"strings"
)

// parse reads a list:
//
//	== FILE: the rule, in words, as it holds
//	- the text as it is; it is there exactly once, whatever its indentation
//	+ what it is replaced with; nothing where the text is taken out
func parse(path, text string) ([]mutation, error) {
	var out []mutation
	for i, line := range strings.Split(text, "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		if kind == "==" {
			file, rule, said := strings.Cut(rest, ": ")
			if !said {
				return nil, fmt.Errorf("%s:%d: found %q, expected the file and the rule", path, i+1, rest)
			}
			out = append(out, mutation{line: i + 1, file: file, rule: rule})
			continue
		}
		if kind == "" || kind == "#" || strings.HasPrefix(kind, "#\t") {
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("%s:%d: found %q before any rule", path, i+1, line)
		}
		switch m := &out[len(out)-1]; kind {
		case "-":
			m.old = strings.TrimPrefix(m.old+"\n"+rest, "\n")
		case "+":
			m.new = strings.TrimPrefix(m.new+"\n"+rest, "\n")
		default:
			return nil, fmt.Errorf("%s:%d: found %q, expected ==, - or +", path, i+1, line)
		}
	}
	return out, nil
}
