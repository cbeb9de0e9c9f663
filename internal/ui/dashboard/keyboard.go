package dashboard

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/dashboard/command"
	"orange/internal/ui/dashboard/palette"
	"orange/internal/ui/dashboard/screen"
	"orange/internal/ui/dashboard/tasks"
)

// keyboard does what the keys say on the page that the person is on, and has their names at the foot.
type keyboard struct {
	keys  keymap
	style *screen.Style
	tasks *tasks.Set
	pages *pages
	foot  *foot
	asks  *asks

	pending pendingKey
	warned  bool // the person knows that to quit would lose something
}

// pendingKey is a key that was pressed before what it depends on was known. The screen presses it again then, so that a
// quick person need not.
type pendingKey struct{ key, task, answer string }

// why is why a key is closed; empty when it is open.
func (b *keyboard) why(k key) string {
	if k.closed == nil || k.many != nil && b.pages.marking() {
		return ""
	}
	return k.closed()
}

// do does what a key does on this page. A key that is closed says why.
func (b *keyboard) do(name string) tea.Cmd {
	b.tasks.GivenUp, b.tasks.Touched = "", true
	b.foot.clear()
	b.pending = pendingKey{} // any key replaces it
	if name != "q" {
		b.warned = false
	}
	k, found := b.keys.find(name, b.pages.page)
	if !found {
		b.foot.answer = b.keys.moved(name, b.pages.page)
		return nil
	}
	return b.perform(k)
}

// perform does what a key does, or says why it does nothing.
func (b *keyboard) perform(k key) tea.Cmd {
	if why := b.why(k); why != "" {
		b.foot.answer = k.name() + ": " + why
		if t, found := b.tasks.Selected(); found && (why == command.ReadingWorkflow ||
			why == command.CheckingTerminal) {
			b.pending = pendingKey{key: k.names[0], task: t.ID, answer: b.foot.answer}
		}
		return nil
	}
	b.foot.failures.passed = true
	if k.many != nil && b.pages.marking() {
		return b.asks.begin(k.many(b.asks.commands, b.asks.marked()))
	}
	return k.press()
}

// pressPending presses the pending key, unless the person selected another task since. Any other key that they pressed
// replaced it. The messages that came meanwhile stay: the person has not read them yet.
func (b *keyboard) pressPending() tea.Cmd {
	t, found := b.tasks.Selected()
	if b.pending.key == "" || !found || t.ID != b.pending.task {
		return nil
	}
	answer, news, passed := b.foot.answer, b.foot.news, b.foot.failures.passed
	if answer == b.pending.answer {
		answer = ""
	}
	cmd := b.do(b.pending.key)
	b.foot.news, b.foot.failures.passed = news, passed
	if answer != "" && (b.foot.answer == "" || b.pending.key != "") {
		b.foot.answer = answer
	}
	return cmd
}

// mayQuit reports whether the dashboard may end now. While that would cut work short or lose text, it first says so
// once.
func (b *keyboard) mayQuit() bool {
	lost := ""
	switch {
	case b.pages.form != nil && b.pages.form.Unsent():
		lost = "what you wrote is not sent"
	case len(b.foot.jobs.running) > 0:
		lost = b.foot.jobs.running[0].what + " is still at work"
	}
	if lost == "" || b.warned {
		return true
	}
	b.warned, b.foot.answer = true, lost+"; press again to leave it"
	return false
}

// openPalette opens the list of all actions.
func (b *keyboard) openPalette() {
	p := &palette.Model{Style: b.style}
	for _, group := range groups() {
		for _, k := range b.keys {
			if k.group != group || k.usual == ":" {
				continue
			}
			one := palette.Entry{Name: k.action, Key: k.name(), Does: k.does, Group: k.group,
				Press: func() tea.Cmd { return b.perform(k) }, Closed: "it works in " + k.pages[0].String()}
			if k.works(b.pages.page) {
				one.Closed = b.why(k)
			}
			p.All = append(p.All, one)
		}
	}
	b.pages.open(p)
}

// open are the keys that do something on the page that a page was opened from, those first that people use most, and
// those last that move about.
func (b *keyboard) open() []key {
	out := slices.DeleteFunc(slices.Clone(b.keys), func(k key) bool {
		return !k.works(b.pages.top()) || b.why(k) != ""
	})
	place := func(k key) int {
		if k.group == groupMove {
			return len(b.keys)
		}
		return k.place
	}
	slices.SortStableFunc(out, func(a, b key) int { return cmp.Compare(place(a), place(b)) })
	return out
}

// line has the keys of the foot, those of a form or of a search where the person types.
func (b *keyboard) line(width int, typing []string) string {
	if b.pages.page == pageForm && b.pages.form != nil {
		typing = b.pages.form.Keys()
	}
	if typing != nil {
		return screen.Cut(strings.Join(pairsThatFit(b.style, typing, width), partGap), width)
	}
	var parts []string
	for _, one := range b.footer(width) {
		parts = append(parts, one.text)
	}
	return strings.Join(parts, partGap)
}

// withFooter are the keys of the page that have words for the footer, in its order.
func (b *keyboard) withFooter() []key {
	out := slices.DeleteFunc(slices.Clone(b.keys), func(k key) bool {
		return k.footer == "" || !k.works(b.pages.page)
	})
	slices.SortStableFunc(out, func(a, b key) int { return cmp.Compare(a.place, b.place) })
	return out
}

// footKey is a key in the footer, and the cells that it has there.
type footKey struct {
	key, text string
	from, to  int
}

// footer are the keys of the page that do something now, as many as fit, none of them in part. Help and quit are always
// there.
func (b *keyboard) footer(width int) []footKey {
	var open, last []footKey
	room := width
	for _, k := range b.withFooter() {
		label := k.footer
		if k.label != nil {
			label = k.label()
		}
		if label == "" {
			continue
		}
		one := footKey{key: k.names[0], text: b.style.Key.Render(k.name()) + " " + label}
		if k.usual == "!" {
			one.text = b.style.Bad.Render(k.name() + " " + label)
		}
		switch {
		case k.usual == "?" || k.usual == "q":
			last = append(last, one)
			room -= screen.Width(one.text) + len(partGap)
		case b.why(k) == "":
			open = append(open, one)
		}
	}
	var out []footKey
	for _, one := range open {
		if width := screen.Width(one.text) + len(partGap); width <= room {
			out = append(out, one)
			room -= width
		}
	}
	at := 0
	out = append(out, last...)
	for i := range out {
		out[i].from, out[i].to = at, at+screen.Width(out[i].text)
		at = out[i].to + len(partGap)
		if out[i].to > width {
			return out[:i]
		}
	}
	return out
}

// footerAt is the name of the key in the footer at a cell.
func (b *keyboard) footerAt(x, width int) (name string, found bool) {
	for _, k := range b.footer(width) {
		if x >= k.from && x < k.to {
			return k.key, true
		}
	}
	return "", false
}
