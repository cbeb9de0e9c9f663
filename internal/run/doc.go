// Package run is the floor of running programs: processes, windows of tmux, the environment that a program gets, and
// the agents in them.
//
// It knows no record. Package proc is the only one that starts other programs.
package run
