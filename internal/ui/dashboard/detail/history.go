package detail

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"orange/internal/rules/eventtext"
	"orange/internal/rules/history"
	"orange/internal/ui/dashboard/screen"
)

// clockWidth is the width of "15:04:05 ".
const clockWidth = 9

// historyLines draws the history of a task, the newest event last.
func (r renderer) historyLines(events []history.Event) []string {
	if len(events) == 0 {
		return []string{r.faint("nothing happened yet")}
	}
	var out []string
	known, day := marks(), ""
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
func (r renderer) eventLines(e *history.Event, at time.Time, known map[string]mark) []string {
	sign, found := known[e.Type]
	if !found {
		sign = mark{"·", faint}
	}
	indent := strings.Repeat(" ", clockWidth+2)
	words := []screen.Fragment{screen.Raw(sign.style(r.style), sign.sign), screen.Raw(nil, " ")}
	if e.IsMove() {
		words = append(words, screen.Text(nil, string(e.From)), screen.Raw(&r.style.Faint, " → "),
			screen.Text(&r.style.Bold, string(e.To)))
	} else {
		words = append(words, screen.Text(nil, eventtext.What(e)))
	}
	words = append(words, screen.Raw(nil, "  "), screen.Text(&r.style.Faint, eventtext.Who(e)))
	if e.Subject.Commit != "" {
		words = append(words, screen.Text(&r.style.Faint, fmt.Sprintf("  at %.7s", e.Subject.Commit)))
	}
	out := r.flow(r.faint(at.Format(time.TimeOnly))+" ", indent, words...)
	if e.Reason != "" {
		for _, line := range screen.CleanRawLines(strings.TrimSpace(e.Reason)) {
			out = append(out, r.flow(indent, indent, screen.Raw(nil, line))...)
		}
	}
	if details := strings.Join(append(eventtext.Evidence(e), eventtext.Details(e)...), " · "); details != "" {
		out = append(out, r.flow(indent, indent, screen.Text(&r.style.Faint, details))...)
	}
	return out
}

// mark is the sign of a kind of event, and its colour.
type mark struct {
	sign  string
	style func(*screen.Style) *lipgloss.Style
}

func good(s *screen.Style) *lipgloss.Style  { return &s.Good }
func bad(s *screen.Style) *lipgloss.Style   { return &s.Bad }
func warn(s *screen.Style) *lipgloss.Style  { return &s.Warn }
func info(s *screen.Style) *lipgloss.Style  { return &s.Info }
func faint(s *screen.Style) *lipgloss.Style { return &s.Faint }

// marks are the signs of the kinds of events that the screen knows.
func marks() map[string]mark {
	return map[string]mark{
		history.Created:            {"+", good},
		history.WorkspaceReady:     {"·", faint},
		history.AgentLimited:       {"◷", warn},
		history.MachineLost:        {"!", warn},
		history.CrashesForgotten:   {"·", faint},
		history.HooksRetried:       {"·", faint},
		history.Rebuilt:            {"!", warn},
		history.ProjectionRestored: {"·", faint},
		history.Updated:            {"~", faint},
		history.QueuedForSpace:     {"◌", faint},
		history.StatusChanged:      {"→", info},
		history.AutoAdvanced:       {"»", info},
		history.AgentSpawned:       {"▶", good},
		history.AgentRespawned:     {"▶", good},
		history.AgentStopped:       {"■", faint},
		history.AgentNotified:      {"·", faint},
		history.PersonSaid:         {"“", info},
		history.AgentCrashed:       {"✗", bad},
		history.WaitBroken:         {"!", bad},
		history.AgentStalled:       {"z", warn},
		history.AgentRefused:       {"!", bad},
		history.OrphanFreed:        {"!", warn},
		history.ReviewStarted:      {"▶", good},
		history.HookFailure:        {"!", bad},
		history.WorkRescued:        {"·", warn},
		history.StartNoted:         {"·", warn},
		history.SharedChanged:      {"!", bad},
		history.MergeBegun:         {"·", faint},
		history.MergeFailed:        {"!", warn},
		history.Merged:             {"✓", good},
		history.DocumentRestored:   {"!", warn},
		history.DocumentAdopted:    {"·", faint},
		history.WorkflowMigrated:   {"~", warn},
		history.BranchPushed:       {"·", faint},
		history.PRRequested:        {"·", faint},
		history.PRCreated:          {"·", good},
		history.PRLeftBehind:       {"!", warn},
		history.PRLanded:           {"✓", good},
		history.PRDropped:          {"✗", warn},
		history.SendBackRefused:    {"!", bad},
		history.PRChecked:          {"·", faint},
		history.ConversationNoted:  {"·", faint},
		history.CheckFinished:      {"·", faint},
		history.TimeoutWarning:     {"◷", warn},
		history.TimeoutAlert:       {"◷", bad},
		history.TimeoutEscalated:   {"◷", bad},
	}
}
