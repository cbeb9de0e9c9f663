// Package api is the table of operations: what can be asked of a home, what a repeat of it does, and who else than a
// person at the command line may ask for it.
//
// It owns the table, and nothing of what an operation does or how it looks. Each face offers what its column says and
// nothing else: a new operation gets a row here first. Its floor has the ways by which a request comes from elsewhere:
// another host, a confined agent, and what can be known of the process that asks.
package api
