// Package engine is the only writer of the record: load, look at the evidence, decide, commit, perform, settle.
//
// It owns the order of these steps and what happens when one of them is cut short. It does not own the rules (decide),
// the effects of hooks (hook), or the storage (sqlite, mirror). Its parts, and what each may call, are in parts.go.
package engine
