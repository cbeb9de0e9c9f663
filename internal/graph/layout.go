package graph

import (
	"cmp"
	"slices"
	"unicode"
)

// Measures of the drawing. Lines that leave a box lie on multiples of the grid, those that come in half a step
// next to it, so that two of them never lie on one another.
const (
	grid      = 16
	boxHeight = 32
	boxGap    = 3 * grid
	lineStep  = 14 // from one line of a label to the next
	slotGap   = 10 // below the last line of a label
	margin    = grid
)

type box struct{ x, y, w, h int }

func (b box) middle() int { return b.x + b.w/2 }

// route is where an edge runs: from a box down to the level first, across to the track, down or up to the level
// last, across, and down into a box. An edge to the next row has one level.
type route struct {
	out, track, in int // across
	first, last    int // down
	// 0: straight to the next row, -1: back, at the left of everything, 1: past some rows, at the right
	side  int
	label box
	ends  bool // the label ends where the edge turns off, instead of beginning there
}

// layout is a picture with places. Rows of boxes lie one below the other; between them are channels, in which
// every edge that comes by has a level of its own. So no line and no label touches a box.
type layout struct {
	picture
	row           []int   // of each node
	rows          [][]int // nodes of each row
	boxes         []box
	routes        []route
	width, height int
}

func layoutOf(p picture) *layout {
	l := &layout{picture: p, row: rowsOf(p), boxes: make([]box, len(p.nodes)), routes: make([]route, len(p.edges))}
	for i, row := range l.row {
		for len(l.rows) <= row {
			l.rows = append(l.rows, nil)
		}
		l.rows[row] = append(l.rows[row], i)
	}
	l.placeAcross()
	l.portsAcross()
	l.placeDown()
	l.placeLabels()
	return l
}

// placeAcross gives every box its width and its place in its row, and every edge that does not lead to the next
// row a track at the side.
func (l *layout) placeAcross() {
	out, in := make([]int, len(l.nodes)), make([]int, len(l.nodes))
	var sides [3]int
	for i, e := range l.edges {
		out[e.from]++
		in[e.to]++
		switch step := l.row[e.to] - l.row[e.from]; {
		case step < 1:
			l.routes[i].side = -1
		case step > 1:
			l.routes[i].side = 1
		}
		sides[l.routes[i].side+1]++
	}
	widest := 0
	widths := make([]int, len(l.rows))
	for row, nodes := range l.rows {
		for _, i := range nodes {
			ports := max(out[i], in[i]) + 1
			l.boxes[i] = box{w: roundUp(max(textWidth(l.nodes[i].text, 8)+2*grid, ports*grid)), h: boxHeight}
			widths[row] += l.boxes[i].w + boxGap
		}
		widths[row] -= boxGap
		widest = max(widest, widths[row])
	}
	left := roundUp(margin + (sides[0]+1)*grid)
	for row, nodes := range l.rows {
		x := left + (widest-widths[row])/2/grid*grid
		for _, i := range nodes {
			l.boxes[i].x = x
			x += l.boxes[i].w + boxGap
		}
	}
	l.width = left + widest + (sides[2]+1)*grid + margin
	back, past := 0, 0
	for i := range l.routes {
		switch l.routes[i].side {
		case -1:
			back++
			l.routes[i].track = left - grid*back
		case 1:
			past++
			l.routes[i].track = left + widest + grid*past
		}
	}
}

// portsAcross gives every edge a place at the bottom of the box that it leaves and at the top of the one that it
// enters.
func (l *layout) portsAcross() {
	leaving, entering := make([][]int, len(l.nodes)), make([][]int, len(l.nodes))
	for i, e := range l.edges {
		leaving[e.from] = append(leaving[e.from], i)
		entering[e.to] = append(entering[e.to], i)
	}
	towards := func(edge, end int) int {
		if r := l.routes[edge]; r.side != 0 {
			return r.track
		}
		return l.boxes[end].middle()
	}
	for i, b := range l.boxes {
		slices.SortStableFunc(leaving[i], func(x, y int) int {
			return cmp.Compare(towards(x, l.edges[x].to), towards(y, l.edges[y].to))
		})
		slices.SortStableFunc(entering[i], func(x, y int) int {
			return cmp.Compare(towards(x, l.edges[x].from), towards(y, l.edges[y].from))
		})
		for k, e := range leaving[i] {
			l.routes[e].out = (b.x + (k+1)*b.w/(len(leaving[i])+1)) / grid * grid
		}
		for k, e := range entering[i] {
			l.routes[e].in = (b.x+(k+1)*b.w/(len(entering[i])+1))/grid*grid + grid/2
		}
	}
	for i := range l.routes {
		if r := &l.routes[i]; r.side == 0 {
			r.track = r.in
		}
	}
}

// level is one edge's share of a channel: where it leaves a row, or where it comes to one from the side.
type level struct {
	edge    int
	arrives bool
	order   int
}

// placeDown gives every edge its levels, and every row its place below them.
func (l *layout) placeDown() {
	channels := make([][]level, len(l.rows)+1) // each above the row of its number
	for i, e := range l.edges {
		r := l.routes[i]
		order := r.out // what turns off soonest lies highest, so that few lines cross
		if r.track > r.out {
			order = -r.out
		}
		channels[l.row[e.from]+1] = append(channels[l.row[e.from]+1], level{edge: i, order: order})
		if r.side != 0 {
			channels[l.row[e.to]] = append(channels[l.row[e.to]], level{edge: i, arrives: true})
		}
	}
	y := 0
	for c, levels := range channels {
		slices.SortStableFunc(levels, func(a, b level) int { return cmp.Compare(a.order, b.order) })
		y += slotGap
		for _, at := range levels {
			r := &l.routes[at.edge]
			if at.arrives {
				y += slotGap
				r.last = y
				continue
			}
			y += lineStep*len(l.edges[at.edge].labels) + slotGap/2
			r.first = y
			if r.side == 0 {
				r.last = y
			}
		}
		y += 2 * slotGap
		if c < len(l.rows) {
			for _, i := range l.rows[c] {
				l.boxes[i].y = y
			}
			y += boxHeight
		}
	}
	l.height = y + margin
}

// placeLabels puts every label upon the first level of its edge, next to the box that the edge leaves.
func (l *layout) placeLabels() {
	for i, e := range l.edges {
		r := &l.routes[i]
		wide := 0
		for _, text := range e.labels {
			wide = max(wide, textWidth(text, 6))
		}
		x := r.out + 5
		if r.track < r.out {
			r.ends = r.track < r.out-wide-10
			x = max(r.track, r.out-wide-10) + 5
		}
		tall := lineStep * len(e.labels)
		r.label = box{x, r.first - tall - 1, wide, tall}
		l.width = max(l.width, x+wide+margin)
	}
}

// rowsOf gives every node its row: the longest way to it from the initial state that never turns back.
func rowsOf(p picture) []int {
	next := make([][]int, len(p.nodes))
	for _, e := range p.edges {
		sources := p.nodes[e.from].members
		if len(sources) == 0 {
			sources = []int{e.from}
		}
		for _, s := range sources {
			next[s] = append(next[s], e.to)
		}
	}
	var order []int // every node after those that it leads to
	forward := make([][]int, len(p.nodes))
	state := make([]int, len(p.nodes)) // 0 new, 1 on the way, 2 done
	var visit func(i int)
	visit = func(i int) {
		state[i] = 1
		for _, to := range next[i] {
			if state[to] == 1 {
				continue // back
			}
			forward[i] = append(forward[i], to)
			if state[to] == 0 {
				visit(to)
			}
		}
		state[i] = 2
		order = append(order, i)
	}
	for _, initial := range []bool{true, false} {
		for i, n := range p.nodes {
			if state[i] == 0 && n.initial == initial {
				visit(i)
			}
		}
	}
	rows := make([]int, len(p.nodes))
	for _, i := range slices.Backward(order) {
		for _, to := range forward[i] {
			rows[to] = max(rows[to], rows[i]+1)
		}
	}
	for _, e := range p.edges { // what means several states is above the one that it leads to
		if p.nodes[e.from].members != nil {
			rows[e.from] = max(rows[e.to]-1, 0)
		}
	}
	return rows
}

func roundUp(n int) int { return (n + grid - 1) / grid * grid }

// textWidth is about how wide a text is, a little more than less: wide letters count twice.
func textWidth(text string, letter int) int {
	wide := 0
	for _, r := range text {
		wide += letter
		if r >= 0x1100 && unicode.IsLetter(r) || r >= 0x1f000 {
			wide += letter
		}
	}
	return wide
}
