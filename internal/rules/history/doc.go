// Package history holds the events of a task: what they are, how they are written and linked by hashes, and the
// task that they add up to.
//
// It owns the types of events, the keys of their data, the form of a line of history.jsonl, the chain of hashes and
// the fold. It does not own which event a decision makes (decide), nor where a history is kept (sqlite, mirror).
package history
