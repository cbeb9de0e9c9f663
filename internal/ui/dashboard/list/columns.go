package list

import (
	"slices"
	"strings"

	"orange/internal/rules/record"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// column is a column of the table. Its width depends on the screen and on which columns there are, so that nothing
// moves when a status changes or work is measured again.
type column struct {
	title string
	width int
	text  func(m *Model, r *tasks.Row) string
	fit   func(text string, width int) string
	style func(m *Model, r *tasks.Row, cell string) string // colours the cell; nil for no colour
}

const (
	minTaskWidth = 21  // of the column Task; other columns are left out for it
	maxTaskWidth = 44  // where there is a column of summaries
	summaryWidth = 27  // what figures are left out for
	leastSummary = 18  // in less room there are no summaries, and reasons have the room of the status too
	wideScreen   = 100 // from this width on, statuses have more room
)

// Titles of columns.
const (
	taskTitle     = "Task"
	projectTitle  = "Project"
	statusTitle   = "Status"
	summaryTitle  = "Summary"
	prTitle       = "PR"
	commitsTitle  = "Commits"
	changesTitle  = "Changes"
	activityTitle = "Activity"
)

// columnsInUse are those in which some task of the list has something: a column that would be empty in all of them is
// not there. It depends on neither the cursor nor how far the list is scrolled: the columns stay where they are.
type columnsInUse struct {
	projects, pr, commits, changes, summary bool

	reason bool // not all reasons have a line of their own: some are in the place of the summary
}

func (m *Model) columnsInUse() (some columnsInUse) {
	some.projects = m.tasks.SeveralProjects
	needs := 0
	for i := range m.tasks.Shown {
		r := m.tasks.At(i)
		work, _, _ := m.tasks.Work(r.Task.ID)
		some.pr = some.pr || r.Task.PRURL != ""
		some.commits = some.commits || work.Commits > 0
		some.changes = some.changes || work.Added > 0 || work.Removed > 0
		some.summary = some.summary || r.Task.Summary != ""
		if _, is := r.Need(); is {
			needs++
		}
	}
	some.reason = needs > 0 && len(m.tasks.Shown)+needs > m.Most()-2
	return some
}

// columns are those that fit and that some task has something in. Task and Summary take the room that the
// others leave.
func columns(width int, some columnsInUse) []column {
	status := 14
	if width >= wideScreen {
		status = 18
	}
	all := []column{{taskTitle, 0, taskCell, screen.SqueezeTo, nil}}
	add := func(has bool, c column) {
		if has {
			all = append(all, c)
		}
	}
	add(some.projects, column{projectTitle, 8, projectCell, screen.SqueezeTo, nil})
	add(true, column{statusTitle, status, statusCell, screen.Fit, styleStatus})
	add(some.pr, column{prTitle, 7, prCell, screen.Fit, stylePR})
	add(some.commits, column{commitsTitle, 7, commitsCell, screen.PadLeft, nil})
	add(some.changes, column{changesTitle, 11, changesCell, screen.PadLeft, styleChanges})
	add(true, column{activityTitle, 8, activityCell, screen.PadLeft, nil})
	rest := func() int {
		left := width - tasks.SignWidth
		for _, c := range all[1:] {
			left -= c.width + 1
		}
		return left
	}
	// leave leaves columns out until the others have left some room, and prefer does so only where that comes of it
	leave := func(least int, titles ...string) {
		for _, title := range titles {
			if rest() < least {
				all = slices.DeleteFunc(all, func(c column) bool { return c.title == title })
			}
		}
	}
	prefer := func(least int, titles ...string) {
		before := slices.Clone(all)
		if leave(least, titles...); rest() < least {
			all = before
		}
	}
	leave(minTaskWidth, projectTitle, prTitle, changesTitle, commitsTitle, activityTitle)
	const wanted, least = minTaskWidth + 1 + summaryWidth, minTaskWidth + 1 + leastSummary
	if width >= wideScreen { // people read what a task is about before they count its commits
		prefer(wanted, commitsTitle, projectTitle)
	}
	prefer(wanted, projectTitle) // the name has it too
	prefer(least, projectTitle, commitsTitle)
	if some.reason { // they read why it needs them before they count anything
		prefer(wanted, commitsTitle, changesTitle)
		prefer(least, commitsTitle, changesTitle, prTitle)
		leave(least, projectTitle, commitsTitle, changesTitle, prTitle)
	}
	if room := rest(); (some.summary || some.reason) && room >= least {
		taskWidth := min(max(room*2/5, minTaskWidth), maxTaskWidth)
		if room-taskWidth-1 < summaryWidth {
			taskWidth = minTaskWidth
		}
		at := 1 + slices.IndexFunc(all, func(c column) bool { return c.title == statusTitle })
		if hasColumn(all, prTitle) {
			at++
		}
		all = slices.Insert(all, at,
			column{summaryTitle, room - taskWidth - 1, summaryCell, screen.Fit, styleSummary})
	}
	all[0].width = max(1, rest())
	if hasColumn(all, projectTitle) {
		all[0].text = nameCell
	}
	return all
}

func hasColumn(all []column, title string) bool {
	return slices.ContainsFunc(all, func(c column) bool { return c.title == title })
}

// withReason are the columns of a row of one line whose task needs a person: the reason has the place of the summary,
// and where there is none, that of all but the name.
func withReason(all []column, r *tasks.Row) []column {
	need, _ := r.Need()
	reason := column{text: func(*Model, *tasks.Row) string { return screen.Clean(need.Reason) }, fit: screen.Fit,
		style: func(m *Model, _ *tasks.Row, cell string) string { return m.style.Info.Render(cell) }}
	if at := slices.IndexFunc(all, func(c column) bool { return c.title == summaryTitle }); at >= 0 {
		reason.width = all[at].width
		all = slices.Clone(all)
		all[at] = reason
		return all
	}
	reason.width = -1
	for _, c := range all[1:] {
		reason.width += c.width + 1
	}
	return []column{all[0], reason}
}

func taskCell(m *Model, r *tasks.Row) string { return m.tasks.Title(r) }

func nameCell(_ *Model, r *tasks.Row) string { return screen.Clean(tasks.Name(*r.Task)) }

func projectCell(_ *Model, r *tasks.Row) string { return screen.Clean(r.Task.Project) }

func summaryCell(_ *Model, r *tasks.Row) string { return screen.Clean(r.Task.Summary) }

func statusCell(_ *Model, r *tasks.Row) string { return screen.Clean(string(r.Task.Status)) }

func activityCell(m *Model, r *tasks.Row) string { return screen.Age(r.Active(), m.tasks.Now) }

func prCell(_ *Model, r *tasks.Row) string {
	if r.Task.PRURL == "" {
		return ""
	}
	number := r.Task.PRURL[strings.LastIndexByte(r.Task.PRURL, '/')+1:]
	state := map[string]string{record.PRMerged: "✓", record.PRClosed: "✗"}[r.Task.PRState]
	return "#" + screen.Clean(number) + state
}

func commitsCell(m *Model, r *tasks.Row) string {
	work, known, asked := m.tasks.Work(r.Task.ID)
	switch {
	case !asked:
		return ""
	case !known:
		return "·"
	}
	return screen.Count(work.Commits)
}

func changesCell(m *Model, r *tasks.Row) string {
	work, known, _ := m.tasks.Work(r.Task.ID)
	if !known || work.Added == 0 && work.Removed == 0 {
		return ""
	}
	return "+" + screen.Count(work.Added) + " -" + screen.Count(work.Removed)
}

// styleStatus gives a status the colour of the task's mark, which is the sign before it.
func styleStatus(m *Model, r *tasks.Row, cell string) string {
	if def := m.tasks.Workflow(*r.Task); def != nil {
		if state, _ := def.State(r.Task.Status); state.Escalation {
			return m.style.Warn.Render(cell)
		}
	}
	_, colour := m.tasks.Sign(m.style, r)
	return colour.Render(cell)
}

func styleSummary(m *Model, _ *tasks.Row, cell string) string { return m.style.Faint.Render(cell) }

func stylePR(m *Model, r *tasks.Row, cell string) string {
	if r.Task.PRState == record.PRClosed {
		return m.style.Warn.Render(cell)
	}
	return m.style.Info.Render(cell)
}

func styleChanges(m *Model, _ *tasks.Row, cell string) string {
	added, removed, both := strings.Cut(cell, "-")
	if !both {
		return cell
	}
	return m.style.Added.Render(added) + m.style.Bad.Bold(false).Render("-"+removed)
}
