package screen

// Scroll is the first visible line of a text.
type Scroll struct{ Top int }

// Draw returns the visible part of lines.
func (s Scroll) Draw(lines []string, width, height int) []string {
	height = max(0, height)
	top := s.Clamp(len(lines), height)
	end := min(len(lines), top+height)
	out := make([]string, 0, height)
	for _, line := range lines[top:end] {
		out = append(out, Cut(line, width))
	}
	return out
}

// Clamp is the first visible line of a text of some lines, at most the one that shows its end.
func (s Scroll) Clamp(lines, height int) int { return max(0, min(s.Top, lines-height)) }

// By scrolls by n lines, at most to an end of the text.
func (s Scroll) By(n, lines, height int) Scroll {
	return Scroll{max(0, min(s.Clamp(lines, height)+n, lines-height))}
}

// Follow is the first of some visible lines: top, or as far from it as the line of the cursor needs to be visible.
func Follow(top, cursor, visible, lines int) int {
	return max(0, min(max(min(top, cursor), cursor-visible+1), lines-visible))
}

// Size is the size of a part of the screen, in cells and lines.
type Size struct{ Width, Height int }

// SideBySide has lines with others at their right, behind a gap. Those at the left have a size.
func SideBySide(left, right []string, size Size, gap string) []string {
	out := make([]string, max(len(left), len(right), size.Height))
	for i := range out {
		var one, other string
		if i < len(left) {
			one = left[i]
		}
		if i < len(right) {
			other = right[i]
		}
		out[i] = Fit(one, size.Width) + gap + other
	}
	return out
}
