package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orange/internal/rules/idempotency"
	"orange/internal/rules/task"
)

// requestKey is the key of a request, under which it is done once.
type requestKey struct {
	key string
	of  *cobra.Command
}

func (k *requestKey) flag(c *cobra.Command) {
	k.of = c
	c.Flags().StringVar(&k.key, "key", "",
		"do this once: the same request under the same key is answered from the history")
}

func (k *requestKey) given() bool { return k.of.Flags().Changed("key") }

// sign adds to the actor the key and what is asked for: the command, who asks, the flags, and these words. Flags that
// do not change what is done are left out, and the name of the task: a key is of one task.
func (k *requestKey) sign(actor task.Actor, words ...string) (task.Actor, error) {
	if !k.given() {
		return actor, nil
	}
	if err := idempotency.Check(k.key); err != nil {
		return actor, err
	}
	asked := []string{strings.TrimPrefix(k.of.CommandPath(), "orange "), actor.Role, actor.As, actor.Via}
	inherited := k.of.InheritedFlags()
	k.of.Flags().Visit(func(f *pflag.Flag) {
		apart := slices.Contains([]string{"key", "yes", "attach"}, f.Name) || inherited.Lookup(f.Name) != nil
		if !apart {
			asked = append(asked, f.Name+"="+f.Value.String())
		}
	})
	actor.Key, actor.Asked = k.key, idempotency.Digest(append(asked, words...)...)
	return actor, nil
}

// actor is who asks for something about a task, with the key and what is asked for. As is the role that a person acts
// for.
func (k *requestKey) actor(ctx context.Context, h *Services, id, as string, words ...string) (task.Actor, error) {
	actor, err := h.Identity.Actor(ctx, id, as)
	if err != nil {
		return actor, err
	}
	return k.sign(actor, words...)
}

// actorAndText is actor for a request whose word is its text, or "-" for that at the standard input. Orange reads an
// input when it knows who asks, and not before: it may never end.
func (k *requestKey) actorAndText(ctx context.Context, p *input, h *Services, id, as, word string) (actor task.Actor,
	text string, err error) {
	if actor, err = h.Identity.Actor(ctx, id, as); err != nil {
		return actor, "", err
	}
	if text, err = p.dashOr(word); err != nil {
		return actor, "", err
	}
	actor, err = k.sign(actor, text)
	return actor, text, err
}

// newKey is the key of a request for a new task, or the id of that, with the epoch in which a fleet gives it to this
// home.
type newKey struct {
	requestKey
	epoch int
}

func (k *newKey) flags(c *cobra.Command, n *task.New) {
	k.flag(c)
	c.Flags().StringVar(&n.ID, "id", "", "the id that it gets; a task that has it already is the answer")
	c.Flags().IntVar(&k.epoch, "epoch", 0, "with --id: hold it for a fleet, in this epoch")
}

// hold refuses a key next to an id, which is one already, and notes the epoch of a task with that id. It does so
// before the task is there: none of its acts outside of this machine comes first.
func (k *newKey) hold(ctx context.Context, h *Services, id string) error {
	switch {
	case k.epoch < 0 || k.epoch > 0 && id == "":
		return usage("found --epoch %d, expected a number from 1 together with --id", k.epoch)
	case id == "":
		return nil
	case k.given():
		return usage("found --id and --key, expected one of them: an id is the key of its task")
	}
	if err := idempotency.CheckID(id); err != nil || k.epoch == 0 {
		return err
	}
	if err := h.Identity.Person(ctx, "hold a task for a fleet"); err != nil {
		return err
	}
	return h.Snapshots.Hold(ctx, id, k.epoch)
}
