package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orange/internal/keyed"
	"orange/internal/task"
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
	if err := keyed.Check(k.key); err != nil {
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
	actor.Key, actor.Asked = k.key, keyed.Digest(append(asked, words...)...)
	return actor, nil
}

// orID refuses a key next to an id, which is one already.
func (k *requestKey) orID(id string) error {
	if id == "" {
		return nil
	}
	if k.given() {
		return usage("found --id and --key, expected one of them: an id is the key of its task")
	}
	return keyed.CheckID(id)
}

// ofNew is sign for a new task, with the texts as they were read.
func (k *requestKey) ofNew(words ...string) func(task.Actor) (task.Actor, error) {
	return func(actor task.Actor) (task.Actor, error) { return k.sign(actor, words...) }
}
