package graph

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func apart(a, b box) bool {
	return a.x+a.w <= b.x || b.x+b.w <= a.x || a.y+a.h <= b.y || b.y+b.h <= a.y
}

// lines are the parts of a route, each as a box without width.
func (l *layout) lines(i int) []box {
	r, e := l.routes[i], l.edges[i]
	from, to := l.boxes[e.from], l.boxes[e.to]
	down := func(x, a, b int) box { return box{x, min(a, b), 0, max(a, b) - min(a, b)} }
	across := func(y, a, b int) box { return box{min(a, b), y, max(a, b) - min(a, b), 0} }
	return []box{
		down(r.out, from.y+from.h, r.first), across(r.first, r.out, r.track), down(r.track, r.first, r.last),
		across(r.last, r.track, r.in), down(r.in, r.last, to.y),
	}
}

// Whatever a workflow looks like: boxes and labels have room of their own, lines pass next to boxes, and nothing
// lies outside.
func TestNothingLiesUponAnythingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 12).Draw(t, "nodes")
		p := picture{nodes: make([]node, count)}
		for i := range p.nodes {
			p.nodes[i].text = fmt.Sprintf("%0*d", rapid.IntRange(1, 30).Draw(t, "letters"), i)
		}
		p.nodes[rapid.IntRange(0, count-1).Draw(t, "initial")].initial = true
		for range rapid.IntRange(0, 25).Draw(t, "edges") {
			e := edge{from: rapid.IntRange(0, count-1).Draw(t, "from"), to: rapid.IntRange(0, count-1).Draw(t, "to")}
			for range rapid.IntRange(1, 3).Draw(t, "labels") {
				e.labels = append(e.labels, fmt.Sprintf("%0*d", rapid.IntRange(1, 60).Draw(t, "letters"), 0))
			}
			p.edges = append(p.edges, e)
		}
		soundPlaces(t, layoutOf(p))
	})
}

func soundPlaces(t *rapid.T, l *layout) {
	solid := append([]box{}, l.boxes...)
	for _, r := range l.routes {
		solid = append(solid, r.label)
	}
	for i, a := range solid {
		if a.x < 0 || a.y < 0 || a.x+a.w > l.width || a.y+a.h > l.height {
			t.Errorf("%v lies outside of %d x %d", a, l.width, l.height)
		}
		for _, b := range solid[:i] {
			if !apart(a, b) {
				t.Errorf("%v lies upon %v", a, b)
			}
		}
	}
	for i := range l.edges {
		for _, line := range l.lines(i) {
			if line.x < 0 || line.x+line.w > l.width || line.y+line.h > l.height {
				t.Errorf("a line lies outside: %v", line)
			}
			for n, b := range l.boxes {
				inner := box{b.x + 1, b.y + 1, b.w - 2, b.h - 2}
				if !apart(line, inner) {
					t.Errorf("edge %d crosses the box %d: %v, %v", i, n, line, b)
				}
			}
		}
	}
	for i := range l.edges {
		for j := range i {
			for _, a := range l.lines(i) {
				for _, b := range l.lines(j) {
					if a.w == 0 && b.w == 0 && a.x == b.x && a.y < b.y+b.h && b.y < a.y+a.h && a.h > 0 && b.h > 0 {
						t.Errorf("edges %d and %d run upon one another: %v, %v", i, j, a, b)
					}
				}
			}
		}
	}
}
