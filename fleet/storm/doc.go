// Package storm has a fleet live through what can happen to machines, networks and people at once: three hosts, a
// server, a repository and a person, each with a network of its own, with the programs as they are built.
//
// It owns what happens to them, and what has to be true in the end. It has tests alone.
package storm
