package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"orange/internal/api/remote"
	"orange/internal/rules/signed"
	"orange/internal/rules/task"
)

// sender is who asks from another host: how the call got here, empty where it comes from this host, and, where a person
// has signed it, who and what.
type sender struct {
	via               string
	person            string
	signed, signature string
}

// senderOf is who sent a call. It refuses one whose signature does not count, and one without, where its task is held
// for a fleet whose requests are signed.
func (a answerer) senderOf(ctx context.Context, h *Services, call remote.Call) (sender, error) {
	unsigned := sender{via: overSSH}
	if !call.NeedsSignature() && call.Signed == nil {
		return unsigned, nil
	}
	joined, err := h.Fleet.Joined()
	switch {
	case err != nil:
		return unsigned, err
	case call.Signed != nil && joined.Fleet == "":
		return unsigned, usage("cannot check who signed the call: this host is in no fleet with a server")
	case call.Signed != nil:
		return signer(ctx, h, joined, call)
	case joined.Fleet == "":
		return unsigned, nil
	}
	return unsigned, a.freeToAll(ctx, h, joined, call)
}

// freeToAll refuses a request without a signature for a task that is held for a fleet. Where the login by ssh is the
// proof, it refuses what would give a task to this host: the custody of the fleet alone does that.
func (a answerer) freeToAll(ctx context.Context, h *Services, joined remote.Joined, call remote.Call) error {
	refuse := func(what string) error {
		return task.Notef(signed.ErrUnsigned, "cannot do %q: %s for the fleet %q, whose people sign what they "+
			"ask for: ask by \"orange fleet\"", call.Argv[1], what, joined.Fleet)
	}
	switch {
	case call.Argv[1] == "restore": // with the next custody of a task that another host may have
		return refuse("the task may be held elsewhere")
	case call.Argv[1] == "create" && call.Flag("epoch") != "":
		return refuse("the task is to be held")
	case call.Argv[1] == "create" || !joined.Signed:
		return nil
	}
	for _, word := range call.Arguments() { // one that is no task is none of a fleet
		found, err := a.tasksNamed(ctx, h, word)
		if err != nil {
			return err
		}
		for _, t := range found {
			epoch, err := h.Snapshots.HeldIn(t.ID)
			if err != nil {
				return err
			}
			if epoch > 0 {
				return refuse("task " + t.ID + " is held")
			}
		}
	}
	return nil
}

// signer is the person who has signed a call, all of it, for this host and for what it has of the task.
func signer(_ context.Context, h *Services, joined remote.Joined, call remote.Call) (sender, error) {
	people, err := h.Fleet.People(joined)
	if err != nil {
		return sender{}, err
	}
	r, err := people.Check(call.Signed.Text, call.Signed.Signature, time.Now())
	if err == nil {
		asked := signed.AskedCommand{Key: call.Key, Stdin: call.Stdin, Files: call.Files}
		if len(call.Argv) > 1 {
			asked.Method, asked.Args = call.Argv[1], call.Argv[2:]
		}
		err = r.Fits(asked)
	}
	if err != nil {
		return sender{}, err
	}
	elsewhere := func(found, here string) error {
		return task.Notef(signed.ErrUnsigned, "%q has signed the request for %s, and this is %s: look at the task and "+
			"ask again", r.Person, found, here)
	}
	switch words := call.Arguments(); {
	case r.Fleet != joined.Fleet:
		return sender{}, elsewhere("the fleet "+r.Fleet, joined.Fleet)
	case r.Method == "create" && r.Task != call.Flag("id"):
		return sender{}, elsewhere("the task "+r.Task, call.Flag("id"))
	case r.Method != "create" && r.Host != joined.Host:
		return sender{}, elsewhere("the host "+r.Host, joined.Host)
	case r.Method != "create" && !slices.Contains(words, r.Task):
		return sender{}, elsewhere("the task "+r.Task, strings.Join(words, " "))
	}
	if r.Method != "create" {
		epoch, err := h.Snapshots.HeldIn(r.Task)
		if err != nil {
			return sender{}, err
		}
		if epoch != r.Epoch {
			return sender{}, task.Notef(signed.ErrUnsigned, "%q has signed the request for the custody %d of task %s, "+
				"which is here in the custody %d: look at the task and ask again", r.Person, r.Epoch, r.Task, epoch)
		}
	}
	return sender{person: r.Person, signed: call.Signed.Text, signature: call.Signed.Signature}, nil
}
