package detail

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"orange/internal/dashboard/screen"
	"orange/internal/history"
	"orange/internal/task"
)

// clockWidth is the width of "15:04:05 ".
const clockWidth = 9

// historyLines draws the history of a task, the newest event last.
func (r renderer) historyLines(events []history.Event) []string {
	if len(events) == 0 {
		return []string{r.faint("nothing happened yet")}
	}
	var out []string
	known, day := eventKinds(), ""
	for i := range events {
		at := events[i].Time.In(r.zone)
		if today := at.Format(time.DateOnly); today != day {
			if day != "" {
				out = append(out, "")
			}
			out = append(out, r.day(at))
			day = today
		}
		out = append(out, r.eventLines(&events[i], at, known)...)
	}
	return out
}

// eventLines draws one event: when, what and who; below it the reason and the details.
func (r renderer) eventLines(e *history.Event, at time.Time, known map[string]eventKind) []string {
	sign, found := known[e.Type]
	if !found {
		sign = eventKind{"·", faint, e.Type, nil}
	}
	indent := strings.Repeat(" ", clockWidth+2)
	words := []screen.Fragment{screen.Raw(sign.style(r.style), sign.sign), screen.Raw(nil, " ")}
	if e.IsMove() {
		words = append(words, screen.Text(nil, string(e.From)), screen.Raw(&r.style.Faint, " → "),
			screen.Text(&r.style.Bold, string(e.To)))
	} else {
		words = append(words, screen.Text(nil, sign.words(e)))
	}
	words = append(words, screen.Raw(nil, "  "), screen.Text(&r.style.Faint, whoAsked(e)))
	if e.Subject.Commit != "" {
		words = append(words, screen.Text(&r.style.Faint, fmt.Sprintf("  at %.7s", e.Subject.Commit)))
	}
	out := r.flow(r.faint(at.Format(time.TimeOnly))+" ", indent, words...)
	if e.Reason != "" {
		for _, line := range screen.CleanRawLines(strings.TrimSpace(e.Reason)) {
			out = append(out, r.flow(indent, indent, screen.Raw(nil, line))...)
		}
	}
	if details := eventDetails(e, sign.covers); details != "" {
		out = append(out, r.flow(indent, indent, screen.Text(&r.style.Faint, details))...)
	}
	return out
}

// whoAsked is who asked for an event, and on whose behalf.
func whoAsked(e *history.Event) string {
	who := "by " + e.Actor
	if e.Person != "" {
		who += " (" + screen.OneLine(e.Person, maxDetail) + ")"
	}
	switch {
	case e.Actor == task.ActorEngine && !e.IsMove(), e.Actor == "":
		return ""
	case e.Type == history.AutoAdvanced && e.Actor == task.ActorEngine:
		return "by itself"
	case e.ActingAs != "" && e.ActingAs != e.Actor:
		who += " for the " + e.ActingAs
	}
	return who
}

// maxDetail is how many letters of one value are shown.
const maxDetail = 120

// eventDetails has the evidence of an event, the hooks that it started, and those of its data that people want. covered
// names the data that the event's words have already.
func eventDetails(e *history.Event, covered []string) string {
	var parts []string
	for _, one := range e.Evidence {
		parts = append(parts, one.Source)
	}
	if len(parts) > 0 {
		word := "evidence: "
		if e.Type == history.AgentSpawned || e.Type == history.ReviewStarted {
			word = "found: " // the event does not depend on it
		}
		parts = []string{word + strings.Join(parts, ", ")}
	}
	if len(e.Hooks) > 0 {
		parts = append(parts, "sets going: "+strings.Join(e.Hooks, ", "))
	}
	data := e.Told()
	for _, name := range wantedData() {
		value := data[name]
		if value == "" || value == e.Subject.Commit || slices.Contains(covered, name) || e.Type == history.Created &&
			name != history.DataBranch && name != "workflow" {
			continue
		}
		if value = screen.OneLine(value, maxDetail); name == task.DataLastWords {
			value = lastWords(data[name], maxDetail)
		}
		parts = append(parts, strings.ReplaceAll(name, "_", " ")+": "+value)
	}
	if unreviewed := e.Data[history.DataUnreviewed]; unreviewed != "" {
		parts = append(parts, screen.OneLine(unreviewed, maxDetail))
	}
	if up := e.Subject.UnreviewedText(); up != "" {
		parts = append(parts, screen.OneLine(up, maxDetail))
	}
	if ignored := e.Data[history.DataOverride]; ignored != "" {
		parts = append(parts, "in spite of: "+screen.OneLine(ignored, maxDetail))
	}
	return strings.Join(parts, " · ")
}

// lastWords is the end of an agent's output, on one line.
func lastWords(text string, most int) string {
	letters := []rune(strings.Join(strings.Fields(screen.CleanRaw(text)), " "))
	if len(letters) <= most {
		return string(letters)
	}
	return "…" + string(letters[len(letters)-most+1:])
}

// wantedData names the data of events that people want, in the order of the screen.
func wantedData() []string {
	return []string{
		"workflow", history.DataBranch, "role", history.DataNamedHarness, "window", history.DataResumed, "how",
		"status", "since", "ended", task.DataUnstarted, task.DataLastWords, task.CrashCount,
		"hook", "field", "file", "problem", "found", "kept", "ref", "files", "may_change", "aside", "taken_back", "for",
		history.DataAfter,
		history.DataInState, history.DataRefused, history.DataFailure, history.DataUnreviewed, history.DataRedo,
		"url", "checks", "check", "verdict", "exit", "commit",
	}
}

// eventKind is how the screen shows one kind of event.
type eventKind struct {
	sign   string
	style  func(*screen.Style) *lipgloss.Style
	say    string   // with "%s" for the value of the first of covers
	covers []string // the data that the words have
}

func (k eventKind) words(e *history.Event) string {
	if !strings.Contains(k.say, "%s") {
		return k.say
	}
	value := "agent"
	if len(k.covers) > 0 && e.Data[k.covers[0]] != "" {
		value = screen.OneLine(e.Data[k.covers[0]], maxDetail)
	}
	return fmt.Sprintf(k.say, value)
}

func good(s *screen.Style) *lipgloss.Style  { return &s.Good }
func bad(s *screen.Style) *lipgloss.Style   { return &s.Bad }
func warn(s *screen.Style) *lipgloss.Style  { return &s.Warn }
func info(s *screen.Style) *lipgloss.Style  { return &s.Info }
func faint(s *screen.Style) *lipgloss.Style { return &s.Faint }

// eventKinds are the kinds of events that the screen knows.
func eventKinds() map[string]eventKind {
	role := []string{"role"}
	return map[string]eventKind{
		history.Created:          {"+", good, "created in %s", []string{"status"}},
		history.Updated:          {"~", faint, "changed", nil},
		history.QueuedForSpace:   {"◌", faint, "waits for a workspace, then %s", []string{"for"}},
		history.StatusChanged:    {"→", info, "", nil},
		history.AutoAdvanced:     {"»", info, "", nil},
		history.AgentSpawned:     {"▶", good, "%s started", role},
		history.AgentRespawned:   {"▶", good, "%s started again", role},
		history.AgentStopped:     {"■", faint, "%s ended", role},
		history.AgentNotified:    {"·", faint, "%s told", role},
		history.PersonSaid:       {"“", info, "said to the %s", []string{"role", history.DataHow}},
		history.AgentCrashed:     {"✗", bad, "%s died", []string{"role", "status", "hook", "ended"}},
		history.WaitBroken:       {"!", bad, "waits for what will not come", nil},
		history.AgentStalled:     {"z", warn, "the agent does nothing", nil},
		history.AgentRefused:     {"!", bad, "the agent was refused again and again", nil},
		history.OrphanFreed:      {"!", warn, "its workspace and session were freed", nil},
		history.ReviewStarted:    {"▶", good, "review started", nil},
		history.HookFailure:      {"!", bad, "%s failed", []string{"hook"}},
		history.WorkRescued:      {"·", warn, "work rescued", nil},
		history.StartNoted:       {"·", warn, "", nil},
		history.SharedChanged:    {"!", bad, "settings that all worktrees share have changed", nil},
		history.MergeBegun:       {"·", faint, "merge begun", nil},
		history.MergeFailed:      {"!", warn, "nothing was merged", nil},
		history.Merged:           {"✓", good, "merged", nil},
		history.DocumentRestored: {"!", warn, "TASK.md restored", nil},
		history.DocumentAdopted:  {"·", faint, "TASK.md taken over", nil},
		history.WorkflowMigrated: {"~", warn, "under a new workflow", nil},
		history.BranchPushed:     {"·", faint, "branch pushed", nil},
		history.PRRequested:      {"·", faint, "a pull request is wanted", nil},
		history.PRCreated:        {"·", good, "pull request opened", nil},
		history.PRLeftBehind:     {"!", warn, "pull request left behind", nil},
		history.PRLanded:         {"✓", good, "pull request merged", nil},
		history.PRDropped:        {"✗", warn, "pull request closed", nil},
		history.SendBackRefused:  {"!", bad, "not sent back", []string{history.DataRefused}},
		history.PRChecked: {"·", faint, "checks of the pull request: %s", []string{
			history.DataChecks, "url"}},
		history.ConversationNoted: {"·", faint, "%s named its conversation", role},
		history.CheckFinished:     {"·", faint, "check %s", []string{history.DataCheck}},
		history.TimeoutWarning:    {"◷", warn, "80 per cent of its time in the status are over", nil},
		history.TimeoutAlert:      {"◷", bad, "its time in the status is over", nil},
		history.TimeoutEscalated:  {"◷", bad, "it is in the status for half as long again as it should", nil},
	}
}
