package yaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Rule    string `json:"rule"` // a short name that stays the same
	Message string `json:"message"`
	Source  string `json:"source,omitempty"` // the line itself, where it is known
}

func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s [%s]", p.File, p.Line, p.Col, p.Message, p.Rule)
}

// Finding is the problem in the words of one that keeps no one from using the file.
func (p Problem) Finding() string {
	return fmt.Sprintf("%s:%d:%d: finding: %s [%s]", p.File, p.Line, p.Col, p.Message, p.Rule)
}

// Problems are all that is wrong with a file, sorted by place. They are an error of the file's author.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// widest is how much of a line is shown next to a problem, in characters.
const widest = 100

// Marked is Error with the line of each problem under it, and a mark under the place.
func (p Problems) Marked() string {
	var b strings.Builder
	for i, problem := range p {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(problem.Error())
		if source := []rune(problem.Source); strings.TrimSpace(problem.Source) != "" && problem.Col <= len(source)+1 {
			first := max(0, min(problem.Col-widest/2, len(source)-widest))
			shown := strings.ReplaceAll(string(source[first:min(len(source), first+widest)]), "\t", " ")
			margin := fmt.Sprintf("%6d | ", problem.Line)
			fmt.Fprintf(&b, "\n%s%s\n%*s | %s^", margin, shown, len(margin)-3, "",
				strings.Repeat(" ", problem.Col-1-first))
		}
	}
	return b.String()
}

func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message))
	})
}

// Expected lists what would have been right, and guesses which of it was meant.
func Expected(found string, allowed []string) string {
	quoted := make([]string, len(allowed))
	for i, a := range allowed {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	text := "expected one of " + strings.Join(quoted, ", ")
	if len(allowed) == 0 {
		text = "expected none"
	}
	return text + Guess(found, allowed)
}

// Guess asks whether another word was meant, behind what was said of the one found; it is empty where none is close.
func Guess(found string, allowed []string) string {
	if guess := nearest(found, allowed); guess != "" {
		return fmt.Sprintf("; did you mean %q?", guess)
	}
	return ""
}

// maxGuessed is the length of the longest word for which another one is guessed: the work grows with its square.
const maxGuessed = 100

// nearest is the allowed word that is closest to the one found; empty when none is close.
func nearest(found string, allowed []string) string {
	best, bestDistance := "", len(found)/2+1
	if len(found) > maxGuessed {
		return ""
	}
	for _, a := range allowed {
		if len(a) > maxGuessed {
			continue
		}
		if d := distance(strings.ToLower(found), strings.ToLower(a)); d < bestDistance {
			best, bestDistance = a, d
		}
	}
	return best
}

// distance is the number of letters to add, drop or change to get from one word to the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next := min(row[j]+1, row[j-1]+1, diagonal+cost)
			diagonal, row[j] = row[j], next
		}
	}
	return row[len(b)]
}
