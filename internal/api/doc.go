// Package api is the table of operations: what can be asked of a home, what a repeat of it does, and who else than a
// person at the command line may ask for it.
//
// It owns the table, and nothing of what an operation does or how it looks. Each face offers what its column says and
// nothing else: a new operation gets a row here first.
package api
