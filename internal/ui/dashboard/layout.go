package dashboard

import (
	"orange/internal/ui/dashboard/detail"
	"orange/internal/ui/dashboard/list"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// The least size of a screen where the detail fits at the side of the list, the least height where it fits below it,
// and the width from which a list has summaries.
const (
	splitWidth  = 120
	splitHeight = 20
	stackHeight = 16
	wideList    = 100
)

// leastPreview is how many lines the detail has below a list, where the list has half of the lines.
const leastPreview = 6

// headLines are the lines of the screen above the body: the numbers.
const headLines = 1

const splitGap = " │ "

// layout says where the parts of the screen are.
type layout struct {
	tasks  *tasks.Set
	pages  *pages
	list   *list.Model
	detail *detail.Model
	foot   func() int // how many lines the messages have

	width, height int
	wantSplit     bool // the detail is next to the list where there is room
}

// body is the size of the body: it gives lines to messages that need them, while they are shown.
func (l *layout) body() screen.Size { return l.bodyWithout(0) }

// bodyWithout is that of a body that lends some lines to a line for an answer.
func (l *layout) bodyWithout(lent int) screen.Size {
	return screen.Size{Width: l.width, Height: max(2, l.height-headLines-l.foot()-1-lent)}
}

// canSplit reports whether the detail is next to the list, where the list is shown.
func (l *layout) canSplit() bool {
	return l.wantSplit && l.height >= stackHeight && len(l.tasks.Shown) > 0
}

// nextToList reports whether the detail is next to the list, also behind a form.
func (l *layout) nextToList() bool { return l.pages.behind() == pageList && l.canSplit() }

// split reports whether the detail is next to the list, at its side or below it.
func (l *layout) split() bool { return l.pages.page == pageList && l.canSplit() }

// small reports whether the detail has no room at the side of the list: it is below it.
func (l *layout) small() bool { return l.width < splitWidth || l.height < splitHeight }

// belowList reports whether the detail is below the list, also behind a form.
func (l *layout) belowList() bool { return l.nextToList() && l.small() }

// besideList reports whether the detail is at the side of the list, also behind a form.
func (l *layout) besideList() bool { return l.nextToList() && !l.small() }

// atSide reports whether the detail is at the side of the list, and no form is open.
func (l *layout) atSide() bool { return l.split() && !l.small() }

// detailVisible reports whether the screen shows the detail, also behind a form.
func (l *layout) detailVisible() bool { return l.pages.behind() == pageDetail || l.nextToList() }

// sizes are the sizes of the list and of the detail at its side or below it on a page, whose body lends some lines.
// Where the screen is not split, each has the whole body.
func (l *layout) sizes(on page, lent int) (list, detail screen.Size) {
	list, detail = l.bodyWithout(lent), l.bodyWithout(lent)
	switch {
	case on != pageList || !l.canSplit():
	case l.small():
		list.Height = l.heightAbove(detail, lent > 0)
		detail.Height -= list.Height
	default:
		list.Width = max(l.width*2/5, min(wideList, l.width-wideList))
		detail.Width = l.width - list.Width - screen.Width(splitGap)
	}
	return list, detail
}

// listSize is the size of the list, also behind a form and while another page is shown.
func (l *layout) listSize() screen.Size {
	list, _ := l.sizes(pageList, 0)
	return list
}

// detailSize is the size of the detail, also behind a form.
func (l *layout) detailSize() screen.Size {
	_, detail := l.sizes(l.pages.behind(), 0)
	return detail
}

// mostList is the greatest height of the list on this screen, whatever task is selected and whatever the foot says.
func (l *layout) mostList() int {
	height := max(2, l.height-headLines-2)
	if l.belowList() {
		return max((height+1)/2, height-leastDetail(height))
	}
	return height
}

// leastDetail is how many lines the detail has below a list at least, in a body of so many.
func leastDetail(height int) int { return max(leastPreview, height/4) }

// heightAbove is how many lines the list has above the detail: those that it needs, as long as the detail has a quarter
// of them and all of why its task needs the person, and of many tasks at least half. For a person who answers, the
// detail has all that its task asks.
func (l *layout) heightAbove(body screen.Size, answers bool) int {
	least, preview, need := (body.Height+1)/2, leastDetail(body.Height), l.detail.NeedLines(body)
	if answers {
		least = 3 // its titles, and the selected task
		if need > 1 {
			preview = need // the list stays as it was, where it can
		}
	}
	height := l.list.Lines(max(least, body.Height-max(preview, need)))
	return min(height, max(1, body.Height-1))
}
