// Package stophook answers whether an agent may end its turn, for programs that ask before they do.
//
// It owns the count of how often an agent was kept from it. It decides no move: whose act is next, decide says, and an
// agent that ends its turn all the same changes nothing.
package stophook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"

	"orange/internal/rules/decide"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
	"orange/internal/rules/workflow"
)

// mostKept is how often an agent is kept without new evidence: it knows by then what is missing, and a person sees that
// it rests.
const mostKept = 3

// Keeper knows whose act is next. Every field is required.
type Keeper struct {
	Why   func(ctx context.Context, id string) (decide.Explanation, error)
	Needs func(ctx context.Context, t task.Task) (record.Need, error)
	Tip   func(ctx context.Context, t task.Task) (string, error) // the commit of the task's branch
	Rules rules
	Files files
	Texts texts
	Seat  string // the secret of the one who asks
}

// texts takes over what an agent has left in its workspace, such as a document that a program has put in the place of
// the link to it. Without that an agent would hear that a text is missing that it has written.
type texts interface {
	Refresh(ctx context.Context, id string) (record.Snapshot, decide.Evidence, error)
}

type rules interface {
	Pinned(ctx context.Context, ref task.WorkflowRef) (*workflow.Definition, error)
}

// files has the folders of tasks. The count is there, because it is no part of the record, which is the fold of the
// task's history, and is to go when the task goes. An agent that changes it only deceives itself.
type files interface {
	Projection(t task.Task, file string) (record.ProjectionFile, error)
	Project(t task.Task, file string, text []byte) error
}

// Next says whose act is next, for an agent of a role: the ways of the explanation are its own moves; if there are
// none, awaits says whose act is next.
func (k Keeper) Next(ctx context.Context, id, role string) (own decide.Explanation, awaits string, err error) {
	if _, _, err := k.Texts.Refresh(ctx, id); err != nil {
		return own, "", err
	}
	e, err := k.Why(ctx, id)
	if err != nil {
		return e, "", err
	}
	def, err := k.Rules.Pinned(ctx, e.Task.Workflow)
	if err != nil {
		return e, "", err
	}
	need, _ := k.Needs(ctx, e.Task) // an agent that asks is at no dialog: its screen may be unread
	own, awaits = e.Turn(def, need, role)
	return own, awaits, nil
}

// keepCount is what the file of a role has: how often its agent was kept, with the same evidence.
type keepCount struct {
	Evidence string `json:"evidence"`
	Times    int    `json:"times"`
}

// End is Next for an agent that wants to end its turn now. It counts: an agent that was kept three times and has left
// no new commit and no new text since is not kept again.
func (k Keeper) End(ctx context.Context, id, role string) (own decide.Explanation, awaits string, err error) {
	own, awaits, err = k.Next(ctx, id, role)
	if err != nil || len(own.Ways) == 0 {
		return own, awaits, err
	}
	evidence, err := k.evidence(ctx, own)
	if err != nil {
		return own, "", err
	}
	name := "turn-" + url.PathEscape(role) + ".json"
	was, err := k.Files.Projection(own.Task, name)
	if err != nil {
		return own, "", err
	}
	var count keepCount
	if unread := json.Unmarshal(was.Text, &count); unread != nil || count.Evidence != evidence {
		count = keepCount{Evidence: evidence} // what is there is about other evidence, or of no use
	}
	if count.Times++; count.Times > mostKept {
		own.Ways = nil
		return own, "a person has to look after the task: its agent was kept several times without new evidence", nil
	}
	text, err := json.Marshal(count)
	if err == nil {
		err = k.Files.Project(own.Task, name, append(text, '\n'))
	}
	if err != nil { // an agent that is not counted could be kept without end
		return own, "", fmt.Errorf("count how often the agent was kept: %w", err)
	}
	return own, "", nil
}

// evidence is a digest of all that counts as new evidence: the commit, the texts that gates look at, and the move into
// the present status; and of the seat, because another agent was never kept.
func (k Keeper) evidence(ctx context.Context, e decide.Explanation) (string, error) {
	tip := ""
	if e.Task.Workspace != "" {
		var err error
		if tip, err = k.Tip(ctx, e.Task); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"tip": tip, "seen": e.Seen, "status": e.Task.Status,
		"entered": e.Task.EnteredAt, "seat": k.Seat})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}
