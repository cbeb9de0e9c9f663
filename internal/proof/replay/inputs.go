package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/rules/decide"
	"orange/internal/rules/document"
	"orange/internal/rules/edition"
	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// What a decision was about.
const (
	AskCreate  = "create"
	AskPlan    = "create-from-plan"
	AskMove    = "move"
	AskQueue   = "queue"
	AskDeath   = "death"
	AskRespawn = "respawn"
	AskRedo    = "redo"
	AskMigrate = "migrate"
	AskTimeout = "timeout"
	AskRefused = "refused" // an agent was refused again, too often
	AskPR      = "pull-request"
	AskPREnded = "pull-request-ended"
	AskLanded  = "pull-request-landed"
	AskRetry   = "retry"
	AskSettled = "settled"
	AskFree    = "free"
	AskGoOn    = "go-on" // an agent that rested at its provider's limit is to go on
	AskNote    = "note"  // a person or agent did something to the task that moves nothing
	AskBack    = "send-back"
	AskAdopt   = "adopt" // nothing was decided: Orange took a task over from a folder
)

// Inputs are what a decision was made from, in addition to its workflow, the history before it, and what its own
// event says (the reason, the last words of an agent). The event keeps them, so that replay can make the decision
// again from the history alone. The task's evidence keeps the texts that they name by digest.
type Inputs struct {
	Ask      string      `json:"ask"`
	Rules    string      `json:"rules"` // their edition
	Now      time.Time   `json:"now"`
	Role     string      `json:"role,omitempty"`
	As       string      `json:"as,omitempty"`
	Person   string      `json:"person,omitempty"`
	Via      string      `json:"via,omitempty"`
	May      string      `json:"may,omitempty"`
	Rule     bool        `json:"rule,omitempty"`
	To       task.Status `json:"to,omitempty"`
	Override bool        `json:"override,omitempty"`

	Death *Dead    `json:"death,omitempty"`
	Rest  *Resting `json:"rest,omitempty"`
	// the project's own limit of the status, in nanoseconds
	Limit   *time.Duration              `json:"limit,omitempty"`
	Refused *record.Refusals            `json:"refusals,omitempty"`
	NoRoom  bool                        `json:"no_room,omitempty"` // the move of a timeout found no workspace
	Stands  map[task.Status]task.Status `json:"stands,omitempty"`

	Pull    *Pull  `json:"pull_request,omitempty"`
	Against string `json:"against,omitempty"` // what else than the rules prevented the move

	Back *decide.Setback `json:"setback,omitempty"`

	// What the task had that its history does not say.
	Workspace bool `json:"workspace,omitempty"`
	Missing   bool `json:"missing,omitempty"` // the worktree of its workspace, or its branch, was gone
	// what origin had of the branch while a pull request was open; nil while none was
	PRHas   *string   `json:"pr_has,omitempty"`
	Over    bool      `json:"over,omitempty"`
	Entered time.Time `json:"entered,omitzero"`

	// What followed and no other place records: what was there when the new status began, and the digest of the hooks
	// with all their keys.
	Begins []task.Evidence `json:"begins,omitempty"`
	Hooks  string          `json:"hooks,omitempty"`

	// what the project protected then, and what of it the task was allowed to change
	Protected []string `json:"protected,omitempty"`
	MayChange []string `json:"may_change,omitempty"`

	Subject  *task.Subject      `json:"subject,omitempty"` // what the evidence was about at that time
	Trouble  string             `json:"trouble,omitempty"`
	Landed   string             `json:"landed,omitempty"` // the commit that was merged elsewhere
	TooLarge bool               `json:"too_large,omitempty"`
	Names    []string           `json:"sections,omitzero"`       // of the document's sections, if it was read
	More     int                `json:"more_sections,omitempty"` // how many there were besides those
	Read     []Section          `json:"read,omitempty"`          // those that gates ask for
	Problems []document.Problem `json:"problems,omitempty"`
	Facts    map[string]Seen    `json:"facts,omitempty"` // by the digest of the part's Key
}

// Dead is a death as the inputs record it; its last words are in the event.
type Dead struct {
	Role      string `json:"role"`
	Hook      int64  `json:"hook"`
	Known     bool   `json:"known,omitempty"`
	Status    int    `json:"status,omitempty"`
	Signal    int    `json:"signal,omitempty"`
	Unstarted string `json:"unstarted,omitempty"`
	HungUp    bool   `json:"hung_up,omitempty"`
	Limit     *Limit `json:"limit,omitempty"`
	LostWith  string `json:"lost_with,omitempty"`
	Resume    string `json:"resume,omitempty"`
}

// Resting is an agent that rested at its provider's limit, as the inputs record it.
type Resting struct {
	Role  string    `json:"role"`
	Since time.Time `json:"since"`
	Limit Limit     `json:"limit"`
}

// Limit is the limit of an agent's provider as the inputs record it.
type Limit struct {
	Line     string    `json:"line"`
	Until    time.Time `json:"until,omitzero"`
	Provider string    `json:"provider"`
	Work     string    `json:"work"`
	New      bool      `json:"new,omitempty"`
}

// Pull is a pull request as the inputs record it.
type Pull struct {
	URL    string `json:"url"`
	State  string `json:"state"`
	Commit string `json:"commit,omitempty"`
	Merge  string `json:"merge,omitempty"`
	Noted  bool   `json:"noted,omitempty"` // the record already had it in this state
}

// Section is a section of the document as it was read; its text is kept under the digest.
type Section struct {
	Name   string `json:"name"`
	Line   int    `json:"line"`
	Copies int    `json:"copies"`
	Digest string `json:"digest"`
}

// Seen is a Fact as far as a decision can depend on it or report it.
type Seen struct {
	Holds  bool   `json:"holds,omitempty"`
	Source string `json:"source"`
	Digest string `json:"digest,omitempty"`
	Found  string `json:"found,omitempty"` // why it does not hold
	Moved  bool   `json:"moved,omitempty"`
	Files  int    `json:"files,omitempty"`
}

// By returns the inputs with the actor who asked.
func (in Inputs) By(actor task.Actor) Inputs {
	in.Role, in.As, in.Rule, in.Person = actor.Role, actor.As, actor.Rule, actor.Person
	in.Via, in.May = actor.Via, actor.May
	return in
}

// Of returns the inputs with the death that was judged.
func (in Inputs) Of(death task.Death) Inputs {
	e := death.Ending
	in.Death = &Dead{Role: death.Role, Hook: death.Hook, Known: e.Known, Status: e.Status, Signal: e.Signal,
		Unstarted: e.Unstarted, HungUp: e.HungUp}
	if death.Limit.Line != "" {
		in.Death.Limit = new(limitOf(death.Limit))
	}
	in.Death.LostWith, in.Death.Resume = death.LostWith, death.Resume
	return in
}

// Resting returns the inputs with the agent that rested at a limit.
func (in Inputs) Resting(rest record.Rest, limit task.Limit) Inputs {
	in.Rest = &Resting{Role: rest.Role, Since: rest.Since.UTC(), Limit: limitOf(limit)}
	return in
}

func limitOf(limit task.Limit) Limit {
	limit.Until = limit.Until.UTC()
	return Limit(limit)
}

// About returns the inputs with the pull request that was judged, and whether the record already had it in this
// state.
func (in Inputs) About(pr record.PullRequest, noted bool) Inputs {
	in.Pull = &Pull{URL: pr.URL, State: pr.State, Commit: pr.Commit, Merge: pr.Merge, Noted: noted}
	return in
}

// After returns the inputs with what happened to the task's work.
func (in Inputs) After(back decide.Setback) Inputs {
	in.Back = &back
	return in
}

// HooksDigest is the digest of hooks with all their keys; an event has only their names. It is empty if there are
// none.
func HooksDigest(hooks []task.Hook) (string, error) {
	if len(hooks) == 0 {
		return "", nil
	}
	text, err := json.Marshal(hooks)
	if err != nil {
		return "", fmt.Errorf("note the hooks: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Keep puts the inputs into the first event of the change that was decided from them, and notes which texts the
// record has to keep for it. A change without an event keeps none. For a task that is being created, the snapshot is
// empty.
func (in Inputs) Keep(def *workflow.Definition, s record.Snapshot, ev decide.Evidence,
	c record.Change) (record.Change, error) {
	if len(c.Events) == 0 {
		return c, nil
	}
	in.Rules, in.Now = edition.Rules, c.Events[0].Time.UTC()
	if def != nil {
		in.Protected, in.MayChange = def.Protected()
	}
	in.Workspace = s.Task.Workspace != ""
	if s.Task.PRURL != "" && s.Task.PRState == record.PROpen {
		in.PRHas = &s.Task.Pushed
	}
	in.Over = s.Task.Status != "" && !s.Task.Live
	in.Begins, in.Landed = c.Entry, ev.Landed
	var err error
	if in.Hooks, err = HooksDigest(c.Hooks); err != nil {
		return c, err
	}
	if in.Ask == AskTimeout || in.Ask == AskRefused {
		in.Entered = s.Task.EnteredAt.UTC()
	}
	parts := in.parts(def, s.Task)
	if decide.NeedsDocument(parts) {
		in.sections(parts, ev)
	}
	in.facts(parts, ev)
	if ev.Subject != (task.Subject{}) {
		in.Subject = &ev.Subject
	}
	in.clean()
	text, err := json.Marshal(in)
	if err != nil {
		return c, fmt.Errorf("note what the decision was made from: %w", err)
	}
	c.Events = append([]history.Event(nil), c.Events...)
	c.Events[0].Inputs = text
	for _, one := range in.Read {
		e := task.Evidence{Source: "## " + document.Key(one.Name), Digest: one.Digest}
		if !slices.Contains(c.Spent, e) {
			c.Seen = append(c.Seen, e)
		}
	}
	return c, nil
}

// parts are the parts of all gates that the decision can have asked for.
func (in *Inputs) parts(def *workflow.Definition, t task.Task) []workflow.Part {
	switch in.Ask {
	case AskMove:
		return decide.GatesTo(def, t, in.To)
	case AskDeath:
		return decide.GatesOfDeath(def, t, in.death())
	case AskTimeout:
		if in.NoRoom {
			return nil
		}
		state, _ := def.State(t.Status)
		return decide.GatesTo(def, t, state.Timeout.Then)
	case AskRefused:
		if state, _ := def.State(t.Status); !in.NoRoom && state.Refused.Then != "" {
			return decide.GatesTo(def, t, state.Refused.Then)
		}
	case AskPREnded:
		pr, _ := in.pull()
		if to, said := decide.PRMove(def, pr); said && in.Against == "" {
			return decide.GatesTo(def, t, to)
		}
	case AskBack:
		if to, _ := in.setback().Target(def, t); to != "" && in.Against == "" {
			return decide.GatesTo(def, t, to)
		}
	}
	return nil
}

func (in *Inputs) death() task.Death {
	if in.Death == nil {
		return task.Death{}
	}
	d := *in.Death
	death := task.Death{Role: d.Role, Hook: d.Hook, Ending: task.Ending{Known: d.Known, Status: d.Status,
		Signal: d.Signal, Unstarted: d.Unstarted, HungUp: d.HungUp}}
	if d.Limit != nil {
		death.Limit = task.Limit(*d.Limit)
	}
	death.LostWith, death.Resume = d.LostWith, d.Resume
	return death
}

// pull returns the pull request that was judged, and whether the record already had it in this state.
func (in *Inputs) pull() (pr record.PullRequest, noted bool) {
	if p := in.Pull; p != nil {
		return record.PullRequest{URL: p.URL, State: p.State, Commit: p.Commit, Merge: p.Merge}, p.Noted
	}
	return pr, false
}

// setback is what happened to the task's work.
func (in *Inputs) setback() decide.Setback {
	if in.Back == nil {
		return decide.Setback{}
	}
	return *in.Back
}

// sections notes the document as far as the parts look at it.
func (in *Inputs) sections(parts []workflow.Part, ev decide.Evidence) {
	if ev.Document == nil {
		in.Trouble, in.TooLarge = ev.Trouble, ev.TooLarge
		return
	}
	in.Names, in.More = ev.Document.SectionNames(), ev.Document.MoreSections()
	for _, p := range parts {
		if p.Section == "" {
			continue
		}
		s, present := ev.Document.Section(p.Section)
		if !present {
			in.Problems = ev.Document.WhyMissing() // they are part of the text about a missing section
			continue
		}
		known := slices.ContainsFunc(in.Read, func(have Section) bool { return have.Line == s.Line })
		if !known {
			in.Read = append(in.Read, Section{Name: s.Name, Line: s.Line, Copies: s.Copies,
				Digest: document.Digest(s.Text)})
		}
	}
}

func (in *Inputs) facts(parts []workflow.Part, ev decide.Evidence) {
	for _, p := range parts {
		fact, seen := ev.Facts[p.Key()]
		if !seen {
			continue
		}
		if in.Facts == nil {
			in.Facts = map[string]Seen{}
		}
		seenAs := Seen{Holds: fact.Holds, Source: fact.Source, Digest: fact.Digest}
		if !fact.Holds {
			seenAs.Found, seenAs.Moved, seenAs.Files = fact.Found, fact.Moved, fact.Files
		}
		in.Facts[short(p.Key())] = seenAs
	}
}

// clean makes every text that came from outside valid UTF-8, as sealing an event does: JSON has no other. What the
// document says of itself is valid already.
func (in *Inputs) clean() {
	valid := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
	in.Trouble, in.Person, in.Against = valid(in.Trouble), valid(in.Person), valid(in.Against)
	in.Via, in.May = valid(in.Via), valid(in.May)
	if in.Subject != nil {
		s := in.Subject.Valid()
		in.Subject = &s
	}
	if p := in.Pull; p != nil {
		p.URL, p.State, p.Commit, p.Merge = valid(p.URL), valid(p.State), valid(p.Commit), valid(p.Merge)
	}
	if b := in.Back; b != nil {
		b.Commit = valid(b.Commit)
		b.Facts = slices.Clone(b.Facts)
		for i := range b.Facts {
			b.Facts[i] = valid(b.Facts[i])
		}
	}
	if in.Death != nil {
		in.Death.Unstarted = valid(in.Death.Unstarted)
		if l := in.Death.Limit; l != nil {
			l.Line, l.Provider = valid(l.Line), valid(l.Provider)
		}
	}
	if r := in.Rest; r != nil {
		r.Limit.Line, r.Limit.Provider = valid(r.Limit.Line), valid(r.Limit.Provider)
	}
	for key, f := range in.Facts { // each independently
		f.Source, f.Found = valid(f.Source), valid(f.Found)
		in.Facts[key] = f
	}
}

// short is a digest of a part's key, because the key may contain a whole program.
func short(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}
