package dashboard

import (
	"slices"

	"orange/internal/ui/dashboard/form"
	"orange/internal/ui/dashboard/tasks"
)

// page is what the body of the screen shows.
type page int

const (
	pageList page = iota
	pageBoard
	pageDetail
	pageWorkspaces
	pageHelp
	pageForm
	pageFailures
	pageReview
)

func (p page) String() string {
	return [...]string{"the list", "the board", "a task", "the workspaces", "the help", "a form", "what went wrong",
		"the review"}[p]
}

// ofTask reports whether the page is about one task.
func (p page) ofTask() bool { return p == pageDetail || p == pageReview }

// ofAll reports whether the page is about all tasks.
func (p page) ofAll() bool { return p == pageList || p == pageBoard }

// pages are the page that the person is on, the form that is open on it, and the pages that Escape leads to.
type pages struct {
	tasks *tasks.Set
	page  page
	back  []page    // the next one last
	form  form.Form // nil while none is open
}

// top is the page that Escape leads to.
func (p *pages) top() page {
	if len(p.back) == 0 {
		return pageList
	}
	return p.back[len(p.back)-1]
}

// behind is the page, or the one that a form is open on.
func (p *pages) behind() page {
	if p.page == pageForm {
		return p.top()
	}
	return p.page
}

// on reports whether the page is one of some.
func (p *pages) on(some ...page) func() bool {
	return func() bool { return slices.Contains(some, p.page) }
}

// visit goes to a page from which Escape leads back to this one.
func (p *pages) visit(to page) {
	if p.page != to {
		p.back = append(p.back, p.page)
	}
	p.page = to
	if t, found := p.tasks.Selected(); found && to.ofTask() {
		p.tasks.Pinned = t.ID
	}
}

// open opens a form.
func (p *pages) open(f form.Form) {
	p.visit(pageForm)
	p.form = f
}

// leave goes back to the previous page.
func (p *pages) leave() {
	p.page, p.back, p.form = p.top(), p.back[:max(0, len(p.back)-1)], nil
	p.unpin()
}

// showList shows the list, from which Escape leads nowhere.
func (p *pages) showList() {
	p.page, p.back = pageList, nil
	p.unpin()
}

// unpin lets the filters hide the task that the detail showed, unless the person still looks at it or comes back to it.
func (p *pages) unpin() {
	if p.tasks.Pinned != "" && !p.page.ofTask() && !slices.ContainsFunc(p.back, page.ofTask) {
		p.tasks.Pinned = ""
		p.tasks.ChooseAgain()
	}
}

// leaveDeleted leaves the detail of a task that is gone: it would show the next task of the list. A form that is open
// stays, because of what the person wrote in it. It reports whether the task is gone.
func (p *pages) leaveDeleted() bool {
	if p.tasks.Pinned == "" || p.tasks.Has(p.tasks.Pinned) {
		return false
	}
	p.tasks.Pinned = ""
	if p.page.ofTask() {
		p.page, p.back = pageList, nil
	}
	if at := slices.IndexFunc(p.back, page.ofTask); at >= 0 {
		p.back = append(p.back[:at], pageList)
	}
	return true
}

// answering reports whether the person writes an answer below a line of what they look at.
func (p *pages) answering() bool {
	prompt, is := p.form.(*form.TextPrompt)
	return is && p.page == pageForm && prompt.Under != nil
}

// marking reports whether keys act on the tasks that the person marked: in the list and on the board, where they see
// several.
func (p *pages) marking() bool { return p.page.ofAll() && len(p.tasks.Picked()) > 0 }
