// Package work is the floor of the work itself: git repositories, their worktrees, the pool that lends them to tasks,
// pull requests and snapshots.
//
// It decides no move of a task. Before it removes work, it keeps that work under refs/orange/rescue.
package work
