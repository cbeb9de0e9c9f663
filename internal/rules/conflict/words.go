package conflict

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// With names the other branch, and whose it is.
func (c Conflict) With() string {
	if c.Task == "" {
		return plain(c.Branch) + " (the default branch)"
	}
	return plain(c.Branch) + " (task " + c.Task + ")"
}

// In names the files, as many as are known.
func (c Conflict) In() string {
	names := make([]string, len(c.Files))
	for i, file := range c.Files {
		names[i] = plain(file)
	}
	return strings.Join(names, ", ") + c.others()
}

func (c Conflict) others() string {
	if c.More == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", c.More)
}

// plain is a name as it is, or in quotation marks where it would not be seen as it is.
func plain(name string) string {
	quoted := strconv.Quote(name)
	if quoted == `"`+name+`"` && !strings.ContainsAny(name, " ,") {
		return name
	}
	return quoted
}

// Mark is the conflicts of a task in a line of a list; empty where there are none.
func Mark(all []Conflict, now time.Time) string {
	if len(all) == 0 {
		return ""
	}
	first, oldest := all[0], all[0].At
	for _, c := range all {
		if c.At.Before(oldest) {
			oldest = c.At
		}
	}
	text := plain(first.Branch)
	if n := len(first.Files) + first.More; n == 1 {
		text += " (1 file)"
	} else {
		text += fmt.Sprintf(" (%d files)", n)
	}
	if len(all) > 1 {
		text += fmt.Sprintf(" and %d more", len(all)-1)
	}
	return text + ", " + Ago(now.Sub(oldest))
}

// Ago says how long ago something was, in few words.
func Ago(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/day)
}

// mostForAgents is how many conflicts an agent reads of at its start.
const mostForAgents = 5

// ForAgent tells an agent at its start what its branch conflicts with; empty where that is nothing.
func ForAgent(all []Conflict) string {
	var b strings.Builder
	for i, c := range all {
		if i == 0 {
			b.WriteString("\n\nConflicts that Orange has seen with your branch:\n")
		}
		if i == mostForAgents {
			fmt.Fprintf(&b, "- %d other branches\n", len(all)-i)
			break
		}
		names := make([]string, len(c.Files))
		for n, file := range c.Files {
			names[n] = strconv.Quote(file)
		}
		files := strings.Join(names, ", ") + c.others()
		if c.Task == "" {
			fmt.Fprintf(&b, "- %q, the default branch, has changed the same lines of %s; merge it into your branch "+
				"and solve the conflict there.\n", c.Branch, files)
			continue
		}
		fmt.Fprintf(&b, "- %q (task %s) changes the same lines of %s; keep your change small there.\n", c.Branch,
			c.Task, files)
	}
	return b.String()
}
