package dashboard

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

// sheet is what a tab is drawn on.
type sheet struct {
	style         *screen.Style
	width, height int
	zone          *time.Location
}

// faint is a line that nobody has to read.
func (s sheet) faint(text string) string { return s.style.Faint.Render(text) }

// day is the heading of a day.
func (s sheet) day(at time.Time) string {
	return screen.Cut(s.faint("── "+at.Format("Monday, 2 January 2006")+" ──"), s.width)
}

// clockWidth is the width of "15:04:05 ".
const clockWidth = 9

// historyLines is a task's past, the newest last.
func (s sheet) historyLines(events []history.Event) []string {
	if len(events) == 0 {
		return []string{s.faint("nothing happened yet")}
	}
	var out []string
	known, day := signs(), ""
	for i := range events {
		at := events[i].Time.In(s.zone)
		if today := at.Format(time.DateOnly); today != day {
			if day != "" {
				out = append(out, "")
			}
			out = append(out, s.day(at))
			day = today
		}
		out = append(out, s.eventLines(&events[i], at, known)...)
	}
	return out
}

// eventLines is one event: when, what and who; beneath it why, and what it rested on.
func (s sheet) eventLines(e *history.Event, at time.Time, known map[string]signOfKind) []string {
	sign, told := known[e.Type]
	if !told {
		sign = signOfKind{"·", looksFaint, e.Type, nil}
	}
	indent := strings.Repeat(" ", clockWidth+2)
	words := []screen.Fragment{screen.Raw(sign.look(s.style), sign.sign), screen.Raw(nil, " ")}
	if e.IsMove() {
		words = append(words, screen.Text(nil, string(e.From)), screen.Raw(&s.style.Faint, " → "),
			screen.Text(&s.style.Bold, string(e.To)))
	} else {
		words = append(words, screen.Text(nil, sign.words(e)))
	}
	words = append(words, screen.Raw(nil, "  "), screen.Text(&s.style.Faint, whoAsked(e)))
	if e.Subject.Commit != "" {
		words = append(words, screen.Text(&s.style.Faint, fmt.Sprintf("  at %.7s", e.Subject.Commit)))
	}
	out := screen.Flow(words, s.width, screen.IndentBy(s.faint(at.Format("15:04:05"))+" ", indent))
	if e.Reason != "" {
		for _, line := range screen.CleanRawLines(strings.TrimSpace(e.Reason)) {
			out = append(out, screen.Flow([]screen.Fragment{screen.Raw(nil, line)}, s.width, screen.IndentBy(indent,
				indent))...)
		}
	}
	if details := eventDetails(e, sign.told); details != "" {
		out = append(out, screen.Flow([]screen.Fragment{screen.Text(&s.style.Faint, details)}, s.width,
			screen.IndentBy(indent, indent))...)
	}
	return out
}

// whoAsked is who asked for an event, and for whom.
func whoAsked(e *history.Event) string {
	who := "by " + e.Actor
	if e.Person != "" {
		who += " (" + screen.OneLine(e.Person, mostDetail) + ")"
	}
	switch {
	case e.Actor == task.ActorEngine && !e.IsMove():
		return ""
	case e.Actor == "":
		return ""
	case e.Type == history.AutoAdvanced && e.Actor == task.ActorEngine:
		return "by itself"
	case e.ActingAs != "" && e.ActingAs != e.Actor:
		who += " for the " + e.ActingAs
	}
	return who
}

// mostDetail is how much of one datum of an event is shown.
const mostDetail = 120

// eventDetails is what an event rested on, what it set going, and those of its data that people want and that are
// not told already.
func eventDetails(e *history.Event, told []string) string {
	var parts []string
	for _, one := range e.Evidence {
		parts = append(parts, one.Source)
	}
	if len(parts) > 0 {
		word := "evidence: "
		if e.Type == history.AgentSpawned || e.Type == history.ReviewStarted {
			word = "found: " // it rests on none of them
		}
		parts = []string{word + strings.Join(parts, ", ")}
	}
	if len(e.Hooks) > 0 {
		parts = append(parts, "sets going: "+strings.Join(e.Hooks, ", "))
	}
	data := e.Told()
	for _, name := range wantedData() {
		value := data[name]
		if value == "" || value == e.Subject.Commit || slices.Contains(told, name) || e.Type == history.Created &&
			name != history.DataBranch && name != "workflow" {
			continue
		}
		if value = screen.OneLine(value, mostDetail); name == task.DataLastWords {
			value = lastWords(data[name], mostDetail)
		}
		parts = append(parts, strings.ReplaceAll(name, "_", " ")+": "+value)
	}
	if unreviewed := e.Data[history.DataUnreviewed]; unreviewed != "" {
		parts = append(parts, screen.OneLine(unreviewed, mostDetail))
	}
	if up := e.Subject.PutUp(); up != "" {
		parts = append(parts, screen.OneLine(up, mostDetail))
	}
	if ignored := e.Data[history.DataOverride]; ignored != "" {
		parts = append(parts, "in spite of: "+screen.OneLine(ignored, mostDetail))
	}
	return strings.Join(parts, " · ")
}

// lastWords is the end of what an agent said, on one line.
func lastWords(text string, most int) string {
	letters := []rune(strings.Join(strings.Fields(screen.CleanRaw(text)), " "))
	if len(letters) <= most {
		return string(letters)
	}
	return "…" + string(letters[len(letters)-most+1:])
}

// wantedData are the data of events that people want, in the order in which they are told.
func wantedData() []string {
	return []string{
		"workflow", history.DataBranch, "role", history.DataNamedHarness, "window", "how", "status", "since", "ended",
		task.DataUnstarted, task.DataLastWords, history.DataCrashCount,
		"hook", "field", "file", "problem", "found", "kept", "ref", "taken_back", "for", history.DataAfter,
		history.DataInState, history.DataRefused, history.DataFailure, history.DataUnreviewed, history.DataRedo,
		"url", "checks", "check", "verdict", "exit", "commit",
	}
}

// signOfKind is how one kind of event is told.
type signOfKind struct {
	sign string
	look func(*screen.Style) *lipgloss.Style
	say  string   // with "%s" for the first of told
	told []string // the data that the words tell
}

func (k signOfKind) words(e *history.Event) string {
	if !strings.Contains(k.say, "%s") {
		return k.say
	}
	value := "agent"
	if len(k.told) > 0 && e.Data[k.told[0]] != "" {
		value = screen.OneLine(e.Data[k.told[0]], mostDetail)
	}
	return fmt.Sprintf(k.say, value)
}

func looksGood(s *screen.Style) *lipgloss.Style  { return &s.Good }
func looksBad(s *screen.Style) *lipgloss.Style   { return &s.Bad }
func looksWarn(s *screen.Style) *lipgloss.Style  { return &s.Warn }
func looksInfo(s *screen.Style) *lipgloss.Style  { return &s.Info }
func looksFaint(s *screen.Style) *lipgloss.Style { return &s.Faint }

// signs tell kinds of events apart.
func signs() map[string]signOfKind {
	role := []string{"role"}
	return map[string]signOfKind{
		history.Created:          {"+", looksGood, "created in %s", []string{"status"}},
		history.Updated:          {"~", looksFaint, "changed", nil},
		history.QueuedForSpace:   {"◌", looksFaint, "waits for a workspace, then %s", []string{"for"}},
		history.StatusChanged:    {"→", looksInfo, "", nil},
		history.AutoAdvanced:     {"»", looksInfo, "", nil},
		history.AgentSpawned:     {"▶", looksGood, "%s started", role},
		history.AgentRespawned:   {"▶", looksGood, "%s started again", role},
		history.AgentStopped:     {"■", looksFaint, "%s ended", role},
		history.AgentNotified:    {"·", looksFaint, "%s told", role},
		history.AgentCrashed:     {"✗", looksBad, "%s died", []string{"role", "status", "hook", "ended"}},
		history.AgentStalled:     {"z", looksWarn, "the agent does nothing", nil},
		history.OrphanFreed:      {"!", looksWarn, "its workspace and session were freed", nil},
		history.ReviewStarted:    {"▶", looksGood, "review started", nil},
		history.HookFailure:      {"!", looksBad, "%s failed", []string{"hook"}},
		history.WorkRescued:      {"·", looksWarn, "work rescued", nil},
		history.MergeBegun:       {"·", looksFaint, "merge begun", nil},
		history.Merged:           {"✓", looksGood, "merged", nil},
		history.DocumentRestored: {"!", looksWarn, "TASK.md restored", nil},
		history.DocumentAdopted:  {"·", looksFaint, "TASK.md taken over", nil},
		history.WorkflowMigrated: {"~", looksWarn, "under a new workflow", nil},
		history.BranchPushed:     {"·", looksFaint, "branch pushed", nil},
		history.PRRequested:      {"·", looksFaint, "a pull request is wanted", nil},
		history.PRCreated:        {"·", looksGood, "pull request opened", nil},
		history.PRLanded:         {"✓", looksGood, "pull request merged", nil},
		history.PRDropped:        {"✗", looksWarn, "pull request closed", nil},
		history.PRChecked: {"·", looksFaint, "checks of the pull request: %s", []string{
			history.DataChecks, "url"}},
		history.CheckFinished:    {"·", looksFaint, "check %s", []string{history.DataCheck}},
		history.TimeoutWarning:   {"◷", looksWarn, "80 per cent of its time in the status are over", nil},
		history.TimeoutAlert:     {"◷", looksBad, "its time in the status is over", nil},
		history.TimeoutEscalated: {"◷", looksBad, "it is in the status for half as long again as it should", nil},
	}
}
