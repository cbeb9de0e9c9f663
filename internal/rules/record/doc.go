// Package record holds what is kept of a task and what is done with it: snapshots, changes, seats, jobs for hooks,
// and the answers that requests and reports give.
//
// It owns these forms alone. It does not own the rules by which a change comes about (decide), nor how a change is
// committed (sqlite).
package record
