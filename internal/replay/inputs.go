package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/decide"
	"orange/internal/document"
	"orange/internal/history"
	"orange/internal/record"
	"orange/internal/task"
	"orange/internal/workflow"
)

// Edition is that of the rules in this room. It is raised by hand when a rule comes to mean something else, or
// asks for more: what an earlier edition has decided is not made again by this one.
const Edition = 2

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
	AskPR      = "pull-request"
	AskPREnded = "pull-request-ended"
	AskLanded  = "pull-request-landed"
	AskRetry   = "retry"
	AskSettled = "settled"
	AskFree    = "free"
	AskNote    = "note"  // somebody did something to the task that moves nothing
	AskAdopt   = "adopt" // nothing was decided: a task was taken over from a folder
)

// Inputs are what a decision was made from, beside its workflow, the history before it, and what its own event
// says (the reason, the last words of an agent). They are kept with the event, so that the decision can be made
// again from the history alone. The texts that they name by their digests are kept in the task's evidence.
type Inputs struct {
	Ask      string      `json:"ask"`
	Edition  int         `json:"edition"`
	Now      time.Time   `json:"now"`
	Role     string      `json:"role,omitempty"`
	As       string      `json:"as,omitempty"`
	Person   string      `json:"person,omitempty"`
	Rule     bool        `json:"rule,omitempty"`
	To       task.Status `json:"to,omitempty"`
	Override bool        `json:"override,omitempty"`

	Death *Dead `json:"death,omitempty"`
	// of the status by the project's own word, in nanoseconds
	Limit  *time.Duration              `json:"limit,omitempty"`
	NoRoom bool                        `json:"no_room,omitempty"` // the move of a timeout found no workspace
	Stands map[task.Status]task.Status `json:"stands,omitempty"`

	Pull    *Pull  `json:"pull_request,omitempty"`
	Against string `json:"against,omitempty"` // what spoke against the move of a pull request's end, beside the rules

	// What the task had that its history does not say.
	Workspace bool      `json:"workspace,omitempty"`
	Over      bool      `json:"over,omitempty"`
	Entered   time.Time `json:"entered,omitzero"`

	// What followed and stands nowhere else: what was there when the new status began, and the digest of the
	// hooks with all their words.
	Begins []task.Evidence `json:"begins,omitempty"`
	Hooks  string          `json:"hooks,omitempty"`

	Subject  *task.Subject      `json:"subject,omitempty"` // what the evidence of the moment was about
	Trouble  string             `json:"trouble,omitempty"`
	Names    []string           `json:"sections,omitzero"`       // of the document's sections, where it was read
	More     int                `json:"more_sections,omitempty"` // how many there were beside those
	Read     []Section          `json:"read,omitempty"`          // those that gates ask for
	Problems []document.Problem `json:"problems,omitempty"`
	Facts    map[string]Seen    `json:"facts,omitempty"` // by the digest of the part's Key
}

// Dead is a death as the inputs have it; its last words are in the event.
type Dead struct {
	Role      string `json:"role"`
	Hook      int64  `json:"hook"`
	Known     bool   `json:"known,omitempty"`
	Status    int    `json:"status,omitempty"`
	Signal    int    `json:"signal,omitempty"`
	Unstarted string `json:"unstarted,omitempty"`
}

// Pull is a pull request as the inputs have it.
type Pull struct {
	URL    string `json:"url"`
	State  string `json:"state"`
	Commit string `json:"commit,omitempty"`
	Merge  string `json:"merge,omitempty"`
	Noted  bool   `json:"noted,omitempty"` // the record had it so already
}

// Section is a section of the document as it was read; its text is kept under the digest.
type Section struct {
	Name   string `json:"name"`
	Line   int    `json:"line"`
	Copies int    `json:"copies"`
	Digest string `json:"digest"`
}

// Seen is a Fact as far as a decision can depend on it, or tell of it.
type Seen struct {
	Holds  bool   `json:"holds,omitempty"`
	Source string `json:"source"`
	Digest string `json:"digest,omitempty"`
	Found  string `json:"found,omitempty"` // why it does not hold
	Moved  bool   `json:"moved,omitempty"`
}

// By are inputs with whoever asked.
func (in Inputs) By(actor task.Actor) Inputs {
	in.Role, in.As, in.Rule, in.Person = actor.Role, actor.As, actor.Rule, actor.Person
	return in
}

// Of are inputs with the death that was judged.
func (in Inputs) Of(death task.Death) Inputs {
	e := death.Ending
	in.Death = &Dead{Role: death.Role, Hook: death.Hook, Known: e.Known, Status: e.Status, Signal: e.Signal,
		Unstarted: e.Unstarted}
	return in
}

// About are inputs with the pull request that was judged, and whether the record had it so already.
func (in Inputs) About(pr record.PullRequest, noted bool) Inputs {
	in.Pull = &Pull{URL: pr.URL, State: pr.State, Commit: pr.Commit, Merge: pr.Merge, Noted: noted}
	return in
}

// HooksDigest stands for hooks with all their words; an event has the names alone. It is empty where there are none.
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

// Keep puts the inputs into the first event of the change that was decided from them, and says which texts have
// to be kept for that. A change without an event keeps none. Of a task that is being born the snapshot is empty.
func (in Inputs) Keep(def *workflow.Definition, s record.Snapshot, ev decide.Evidence,
	c record.Change) (record.Change, error) {
	if len(c.Events) == 0 {
		return c, nil
	}
	in.Edition, in.Now = Edition, c.Events[0].Time.UTC()
	in.Workspace = s.Task.Workspace != ""
	in.Over = s.Task.Status != "" && !s.Task.Live
	in.Begins = c.Entry
	var err error
	if in.Hooks, err = HooksDigest(c.Hooks); err != nil {
		return c, err
	}
	if in.Ask == AskTimeout {
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

// parts are the parts of all gates that the decision can have asked.
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
	case AskPREnded:
		pr, _ := in.pull()
		if to, said := decide.PRMove(def, pr); said && in.Against == "" {
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
	return task.Death{Role: d.Role, Hook: d.Hook, Ending: task.Ending{Known: d.Known, Status: d.Status,
		Signal: d.Signal, Unstarted: d.Unstarted}}
}

// pull is the pull request that was judged, and whether the record had it so already.
func (in *Inputs) pull() (pr record.PullRequest, noted bool) {
	if p := in.Pull; p != nil {
		return record.PullRequest{URL: p.URL, State: p.State, Commit: p.Commit, Merge: p.Merge}, p.Noted
	}
	return pr, false
}

// sections notes the document as far as the parts look at it.
func (in *Inputs) sections(parts []workflow.Part, ev decide.Evidence) {
	if ev.Document == nil {
		in.Trouble = ev.Trouble
		return
	}
	in.Names, in.More = ev.Document.SectionNames(), ev.Document.MoreSections()
	for _, p := range parts {
		if p.Section == "" {
			continue
		}
		s, present := ev.Document.Section(p.Section)
		if !present {
			in.Problems = ev.Document.Problems // they are told where a section is missing
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
			seenAs.Found, seenAs.Moved = fact.Found, fact.Moved
		}
		in.Facts[short(p.Key())] = seenAs
	}
}

// clean makes every text that came from outside valid, as the seal of an event does: JSON has no other.
func (in *Inputs) clean() {
	valid := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
	in.Trouble, in.Person, in.Against = valid(in.Trouble), valid(in.Person), valid(in.Against)
	if in.Subject != nil {
		s := in.Subject.Valid()
		in.Subject = &s
	}
	if p := in.Pull; p != nil {
		p.URL, p.State, p.Commit, p.Merge = valid(p.URL), valid(p.State), valid(p.Commit), valid(p.Merge)
	}
	if in.Death != nil {
		in.Death.Unstarted = valid(in.Death.Unstarted)
	}
	for i := range in.Names {
		in.Names[i] = valid(in.Names[i])
	}
	in.Problems = slices.Clone(in.Problems)
	for i := range in.Problems {
		in.Problems[i].Text = valid(in.Problems[i].Text)
	}
	for key, f := range in.Facts { // each for itself
		f.Source, f.Found = valid(f.Source), valid(f.Found)
		in.Facts[key] = f
	}
}

// short stands for a part's key, which may hold a whole program.
func short(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:8])
}
