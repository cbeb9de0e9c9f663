package diff

import (
	"unicode"
	"unicode/utf8"
)

// Range is a part of a text, in bytes.
type Range struct{ From, To int }

// Bounds of the comparison of two lines: its cost grows with the product of their words.
const (
	longestLine = 2000  // bytes
	mostPairs   = 40000 // of a word of one line and a word of the other
)

// Words are the parts of two lines that differ, word by word. There are none where the lines have so little in
// common that marks would only be noise, or where they are too long to compare.
func Words(old, new string) (inOld, inNew []Range) {
	if old == new || len(old) > longestLine || len(new) > longestLine {
		return nil, nil
	}
	a, b := wordsOf(old), wordsOf(new)
	first := 0
	for first < min(len(a), len(b)) && a[first].text == b[first].text {
		first++
	}
	last := 0
	for last < min(len(a), len(b))-first && a[len(a)-1-last].text == b[len(b)-1-last].text {
		last++
	}
	keptA, keptB := common(a[first:len(a)-last], b[first:len(b)-last])
	inOld, sameOld := changedSpans(a, first, len(a)-last, keptA)
	inNew, sameNew := changedSpans(b, first, len(b)-last, keptB)
	if same := max(sameOld, sameNew); same == 0 || 2*same < min(letters(a), letters(b)) {
		return nil, nil
	}
	return inOld, inNew
}

// Pairs are the removed lines of a hunk with the added lines that took their place, by their indexes: those of a row
// of removed lines with those of the row of added lines right behind it, one after the other.
func (h Hunk) Pairs() [][2]int {
	var out [][2]int
	for i := 0; i < len(h.Lines); {
		if h.Lines[i].Kind != Removed {
			i++
			continue
		}
		removed := i
		for i < len(h.Lines) && h.Lines[i].Kind == Removed {
			i++
		}
		middle := i
		for middle < len(h.Lines) && h.Lines[middle].Kind == Note {
			middle++
		}
		added := middle
		for added < len(h.Lines) && h.Lines[added].Kind == Added {
			added++
		}
		for n := range min(i-removed, added-middle) {
			out = append(out, [2]int{removed + n, middle + n})
		}
		i = added
	}
	return out
}

// word is a name or a number, a row of blanks, or one other character.
type word struct {
	text string
	at   int
}

func wordsOf(text string) []word {
	class := func(r rune) int {
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	var out []word
	before := 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		now := class(r)
		if last := len(out) - 1; last >= 0 && now != 0 && now == before {
			out[last].text = text[out[last].at : at+size]
		} else {
			out = append(out, word{text[at : at+size], at})
		}
		before, at = now, at+size
	}
	return out
}

// common reports which words of each of two rows are in the longest row that both have. None is where the rows are
// too long.
func common(a, b []word) (inA, inB []bool) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > mostPairs {
		return inA, inB
	}
	width := len(b) + 1
	best := make([]uint16, (len(a)+1)*width) // of what follows two words; a line has fewer words than fit
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].text == b[j].text {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].text == b[j].text:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}

// changedSpans are the words between two indexes that are not kept, those next to each other as one part, and how many
// letters are in the others. Blanks between two changed words are part of the change.
func changedSpans(all []word, from, to int, kept []bool) (spans []Range, same int) {
	for i, one := range all {
		if i < from || i >= to || kept[i-from] {
			same += weight(one)
			continue
		}
		end := one.at + len(one.text)
		if last := len(spans) - 1; last >= 0 && (spans[last].To == one.at ||
			i > from && spans[last].To == all[i-1].at && weight(all[i-1]) == 0) {
			spans[last].To = end
			continue
		}
		spans = append(spans, Range{one.at, end})
	}
	return spans, same
}

func letters(all []word) int {
	n := 0
	for _, one := range all {
		n += weight(one)
	}
	return n
}

// weight is how much a word says: blanks say nothing.
func weight(w word) int {
	if r, _ := utf8.DecodeRuneInString(w.text); unicode.IsSpace(r) {
		return 0
	}
	return utf8.RuneCountInString(w.text)
}
