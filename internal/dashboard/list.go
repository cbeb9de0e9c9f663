package dashboard

import (
	"slices"
	"strings"
	"time"

	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// row is one task of the list.
type row struct {
	task  *task.Task // as the record told it; nobody changes it
	agent Agent
}

// filter says which tasks are shown.
type filter int

const (
	showAll filter = iota
	showActive
	showDone
	filters // how many there are
)

func (f filter) String() string { return [...]string{"all", "active", "done"}[f] }

// order says by what the list is sorted. Live tasks come first in each.
type order int

const (
	byAge order = iota // the newest first
	byStatus
	byName
	byActivity // the latest first
	orders     // how many there are
)

func (o order) String() string { return [...]string{"newest", "status", "name", "activity"}[o] }

// list is all tasks that are known, and which of them are shown where.
type list struct {
	rows    []row
	kinds   []kind
	shown   []int // indices of rows, in the order of the screen
	cursor  int   // index into shown
	top     int   // first of shown that is on the screen
	project string
	filter  filter
	order   order
	text    string // what a name, summary or status must hold
	typing  bool   // the person is writing the text
	held    string // a task that is looked at closely: it is shown whatever hides it
	given   string // a task that the person gave up in the list: the cursor does not go with it to those that are over

	live  int // how many of the project's tasks are
	all   int
	alarm int // how many of them need a person

	turns map[string]map[task.Status]bool // by the digest of a workflow: the statuses in which it is a person's turn
}

// learn takes in the rules of a workflow.
func (l *list) learn(digest string, def *workflow.Definition) {
	its := map[task.Status]bool{}
	for i := range def.States {
		its[def.States[i].Name] = personsTurn(def, def.States[i].Name)
	}
	l.turns[digest] = its
	l.choose()
}

// needsPerson says whether a task goes nowhere before a person does something.
func (l *list) needsPerson(t *task.Task) bool {
	return t.Attention != "" || t.Live && !t.Queued() && l.turns[t.Workflow.Digest][t.Status]
}

// setTasks takes in what the record holds. The cursor stays on its task; where that is gone, it stays at its place.
func (l *list) setTasks(tasks []task.Task) {
	known := make(map[string]row, 64)
	for _, r := range l.rows {
		if r.agent.State != "" {
			known[r.task.ID] = r
		}
	}
	rows := make([]row, len(tasks))
	for i := range tasks {
		rows[i] = known[tasks[i].ID].as(&tasks[i])
	}
	l.replace(rows)
}

// as is the row with the task as it is now. What is known of its agent stays, unless that was another one.
func (r row) as(t *task.Task) row {
	switch {
	case t.Session == "":
		r.agent = Agent{State: record.AgentNone}
	case r.task == nil || t.Session != r.task.Session:
		r.agent = Agent{}
	}
	r.task = t
	return r
}

// replace puts other rows in the place of those that are there.
func (l *list) replace(rows []row) {
	chosen, had := l.selected()
	l.rows = rows
	l.kinds = kindsOf(rows)
	l.choose()
	if !had {
		return
	}
	place := l.cursor
	l.find(chosen.ID)
	if now, _ := l.selected(); chosen.ID == l.given && chosen.Live && !now.Live {
		l.cursor, l.given = place, ""
	}
}

// kind is a project with a workflow that tasks of it are under.
type kind struct {
	project string
	rules   task.WorkflowRef
}

// kindsOf are the kinds of all tasks: few, however many those are.
func kindsOf(rows []row) []kind {
	var out []kind
	var last kind
	seen := map[kind]bool{}
	for _, r := range rows {
		one := kind{r.task.Project, r.task.Workflow}
		if one == last || seen[one] {
			continue
		}
		last, seen[one] = one, true
		out = append(out, one)
	}
	return out
}

// change takes in those tasks that changed or are new, and takes out those that are gone.
func (l *list) change(changed []task.Task, gone []string) {
	news := make(map[string]*task.Task, len(changed))
	for i := range changed {
		news[changed[i].ID] = &changed[i]
	}
	rows := make([]row, 0, len(l.rows)+len(changed))
	sorted := true
	for _, r := range l.rows {
		if slices.Contains(gone, r.task.ID) {
			continue
		}
		if t, is := news[r.task.ID]; is {
			delete(news, t.ID)
			sorted = sorted && newestFirst(t, r.task) == 0
			r = r.as(t)
		}
		rows = append(rows, r)
	}
	for i := range changed {
		t := &changed[i]
		if _, is := news[t.ID]; is {
			rows, sorted = append(rows, row{}.as(t)), false
		}
	}
	if !sorted {
		slices.SortStableFunc(rows, func(a, b row) int { return newestFirst(a.task, b.task) })
	}
	l.replace(rows)
}

// newestFirst is the order that the record answers in: the live tasks first, the newest first.
func newestFirst(a, b *task.Task) int {
	if a.Live != b.Live {
		if a.Live {
			return -1
		}
		return 1
	}
	if by := b.CreatedAt.Compare(a.CreatedAt); by != 0 {
		return by
	}
	return strings.Compare(a.ID, b.ID)
}

// find puts the cursor on a task, if it is shown.
func (l *list) find(id string) bool {
	for i, at := range l.shown {
		if l.rows[at].task.ID == id {
			l.cursor = i
			return true
		}
	}
	return false
}

func (l *list) setAgents(agents map[string]Agent) {
	for i := range l.rows {
		if a, told := agents[l.rows[i].task.ID]; told {
			l.rows[i].agent = a
		}
	}
	if l.order == byActivity {
		l.choose()
	}
}

// choose finds out what is shown, and in which order.
func (l *list) choose() {
	l.shown, l.live, l.all, l.alarm = l.shown[:0:0], 0, 0, 0
	text := strings.ToLower(l.text)
	for i := range l.rows {
		t := l.rows[i].task
		if l.project != "" && t.Project != l.project {
			if t.ID == l.held {
				l.shown = append(l.shown, i)
			}
			continue
		}
		l.all++
		if t.Live {
			l.live++
		}
		if l.needsPerson(t) {
			l.alarm++
		}
		if t.ID != l.held && (l.filter == showActive && !t.Live || l.filter == showDone && t.Live || !holds(t, text)) {
			continue
		}
		l.shown = append(l.shown, i)
	}
	slices.SortStableFunc(l.shown, func(a, b int) int { return l.compare(&l.rows[a], &l.rows[b]) })
	l.cursor = max(0, min(l.cursor, len(l.shown)-1))
}

func holds(t *task.Task, text string) bool {
	if text == "" {
		return true
	}
	for _, in := range []string{t.Branch, t.Summary, string(t.Status), t.Project, t.ID} {
		if strings.Contains(strings.ToLower(in), text) {
			return true
		}
	}
	return false
}

func (l *list) compare(a, b *row) int {
	if a.task.Live != b.task.Live {
		if a.task.Live {
			return -1
		}
		return 1
	}
	switch l.order {
	case byStatus:
		return strings.Compare(string(a.task.Status), string(b.task.Status))
	case byName:
		return strings.Compare(a.task.Project+"/"+nameOf(*a.task), b.task.Project+"/"+nameOf(*b.task))
	case byActivity:
		return b.active().Compare(a.active())
	}
	return 0
}

// has says whether a task is known, shown or not.
func (l *list) has(id string) bool {
	return slices.ContainsFunc(l.rows, func(r row) bool { return r.task.ID == id })
}

func (l *list) selected() (task.Task, bool) {
	if l.cursor >= len(l.shown) {
		return task.Task{}, false
	}
	return *l.rows[l.shown[l.cursor]].task, true
}

// limited is what the agent's terminal says of its provider's limit; empty where it is at none.
func (r *row) limited() string {
	if r.agent.State != record.AgentAlive {
		return ""
	}
	return r.agent.Limit
}

// active is when something was last seen of the task.
func (r *row) active() time.Time {
	if r.agent.Active.After(r.task.UpdatedAt) {
		return r.agent.Active
	}
	return r.task.UpdatedAt
}

func (l *list) selectedRow() (row, bool) {
	if l.cursor >= len(l.shown) {
		return row{}, false
	}
	return l.rows[l.shown[l.cursor]], true
}

// move puts the cursor elsewhere and keeps it in sight of height lines.
func (l *list) move(to, height int) {
	l.cursor = max(0, min(to, len(l.shown)-1))
	l.keepInSight(height)
}

// scroll moves what is on the screen; the cursor goes along only where it would be lost from sight.
func (l *list) scroll(n, height int) {
	visible := max(1, height-1)
	l.top = max(0, min(l.top+n, len(l.shown)-visible))
	l.cursor = max(0, min(max(l.cursor, l.top), l.top+visible-1, len(l.shown)-1))
}

// keepInSight scrolls so that the cursor's row, which has two lines, is on the screen.
func (l *list) keepInSight(height int) {
	visible := max(1, height-1) // rows, where one has two lines
	if l.cursor < l.top {
		l.top = l.cursor
	}
	if l.cursor >= l.top+visible {
		l.top = l.cursor - visible + 1
	}
	l.top = max(0, min(l.top, len(l.shown)-visible))
}

// seen are the tasks that are on the screen.
func (l *list) seen(height int) []*task.Task {
	out := make([]*task.Task, 0, max(0, height))
	for i := l.top; i < len(l.shown) && i < l.top+height; i++ {
		out = append(out, l.rows[l.shown[i]].task)
	}
	return out
}
