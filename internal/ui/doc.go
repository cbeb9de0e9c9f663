// Package ui is the floor of the faces: the command line, the dashboard, the conversation of slash commands, MCP.
//
// A face asks and prints. It writes no record and has no rules.
package ui
