// Package postgres has a fleet on the full server with PostgreSQL: what it costs, which figures.txt shows,
// and what only this server has, such as certificates and a database that comes back from a backup.
//
// It runs the built programs: a server, a core worker, hosts with orange behind them, and a person. Only the 10,000
// tasks of the figures are at a host that answers from memory. It has tests alone.
package postgres
