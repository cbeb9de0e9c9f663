//go:build !race

package engine_test

// raced reports that the race detector is on, with which everything takes several times as long.
const raced = false
