//go:build !race

package simulation

// raced says that the race detector is on, with which everything takes several times as long.
const raced = false
