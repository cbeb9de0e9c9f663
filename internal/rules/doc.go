// Package rules is the floor of what only computes: the nouns, the formats and every decision about a task.
//
// Its packages touch no file, clock, network, goroutine or dice. Each imports only those that stand before it in the
// list of internal/arch. The same values give the same answer, so a decision can be made again years later.
package rules
