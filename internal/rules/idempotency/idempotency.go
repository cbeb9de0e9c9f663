// Package idempotency is a request with a key: done once, and answered again from the task's history.
//
// It owns what a key may look like, which request a key stands for, which event of a history answers it, and what the
// record keeps of a request that had nothing to do. It performs no request: package engine does, and asks here first.
package idempotency

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/rules/history"
	"orange/internal/rules/record"
	"orange/internal/rules/task"
)

// ErrReused says that a key stands for another request already.
var ErrReused = errors.New("the key stands for another request")

// MostOfKey is how many characters a key has at most.
const MostOfKey = 64

const keyAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

// Check refuses what is no key.
func Check(key string) error {
	strange := strings.Trim(key, keyAlphabet)
	if key != "" && len(key) <= MostOfKey && strange == "" {
		return nil
	}
	return task.Notef(task.ErrUsage, "cannot use %q as the key of a request: expected 1 to %d letters, digits, "+
		"dots, underscores and dashes", key, MostOfKey)
}

// CheckID refuses what cannot be the id of a new task.
func CheckID(id string) error {
	strange := strings.Trim(id, strings.Trim(keyAlphabet, "._-"))
	if len(id) == task.IDLength && strange == "" {
		return nil
	}
	return task.Notef(task.ErrUsage, "cannot give a task the id %q: expected %d letters and digits", id,
		task.IDLength)
}

// Digest is what the record keeps of a request, to tell it from another one under the same key.
func Digest(words ...string) string {
	var b strings.Builder
	for _, word := range words { // with its length: "a b" is another request than "a" and "b"
		b.WriteString(strconv.Itoa(len(word)) + ":" + word)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// ID is the id of the task that is created under a key: the same key of the same home leads to the same task.
func ID(key string) (string, error) {
	sum := sha256.Sum256([]byte("orange task create\n" + key))
	return task.NewID(sum[:])
}

// Lock is the name of the lock that a request with a key holds while it is done: a repeat waits for it. A task has a
// few of them, so that no file is left behind for every key.
func Lock(id, key string) string {
	const few = 16
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%s.key-%x", id, sum[0]%few)
}

// Earlier is what a history says of a request that was made before.
type Earlier struct {
	Found bool
	Event history.Event   // what the request came to, where it was done
	Steps []history.Event // what it did on the way
}

// How is the text of the merge that the request made; empty where it made none.
func (a Earlier) How() string {
	for _, step := range slices.Backward(a.Steps) {
		if step.Type == history.Merged {
			return step.Reason
		}
	}
	return ""
}

// Find looks for the request of an actor's key in a history. A merge is not done before the task has moved: what is
// there of one that was cut short are steps, and the request goes on. The error is an ErrReused where the key stands
// for another request.
//
// An actor without a key has asked for the events with the numbers of seqs, if any.
func Find(events []history.Event, actor task.Actor, seqs []int) (Earlier, error) {
	var a Earlier
	for _, e := range events {
		key, asked := e.Asked()
		switch {
		case actor.Key == "" && !slices.Contains(seqs, e.Seq), actor.Key != "" && key != actor.Key:
		case actor.Key != "" && asked != actor.Asked:
			return Earlier{}, task.Notef(ErrReused, "cannot do this under the key %q: the key stands for another "+
				"request, which was made at %s (event %d); give each request a key of its own", key,
				task.FormatTime(e.Time), e.Seq)
		case slices.Contains([]string{history.MergeBegun, history.Merged, history.PRLanded}, e.Type):
			a.Steps = append(a.Steps, e)
		default:
			a.Found, a.Event = true, e
		}
	}
	return a, nil
}

// Nothing is the change of a request that had nothing to do: its event keeps the key, so that a repeat does nothing
// either, whatever the task is then. It resets no counters, as the request would not without a key. Failed is what a
// request failed with that cannot be done again all the same; empty where it did not fail.
func Nothing(s record.Snapshot, actor task.Actor, failed string, now time.Time) record.Change {
	t := s.Task
	t.UpdatedAt = now
	event := history.Event{Time: now, Type: history.Updated, Reason: "there was nothing to do"}
	if failed != "" {
		event.Reason, event.Data = failed, map[string]string{dataFailed: "true"}
	}
	return record.Change{Task: t, Expect: s.Task.Version, Events: []history.Event{history.Sign(actor, event)}}
}

const dataFailed = "request_failed"

// Failed is the error that the request failed with after it could not be done again any more; nil where it did not.
func (a Earlier) Failed() error {
	if !a.Found || a.Event.Data[dataFailed] == "" {
		return nil
	}
	return errors.New(a.Event.Reason)
}

// Task is the task as the answer tells of it: as it is now, or, where it has moved on since, as its history had it
// before that. Live reports whether a status is not the end of a task.
func (a Earlier) Task(events []history.Event, now task.Task, live func(task.Status) bool) (task.Task, error) {
	next := slices.IndexFunc(events, func(e history.Event) bool { return e.Seq > a.Event.Seq && e.IsMove() })
	if next < 0 {
		return now, nil
	}
	then, _, err := history.Fold(events[:next])
	if err != nil {
		return now, err
	}
	t := now
	t.Status, t.Previous, t.Counters, t.Subject = then.Status, then.Previous, then.Counters, then.Subject
	t.QueuedFor, t.After, t.Overdue, t.Attention = then.QueuedFor, then.After, then.Overdue, ""
	t.Branch, t.Summary, t.EnteredAt, t.UpdatedAt = then.Branch, then.Summary, then.EnteredAt, then.UpdatedAt
	t.Session, t.StalledAt, t.Live = then.Session, time.Time{}, live(then.Status)
	return t, nil
}
