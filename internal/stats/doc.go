// Package stats adds up what histories say: where a task spent its time, and entries for the logs of other programs.
//
// It owns the sums and the form of the log entries. It does not own the histories (history).
package stats
