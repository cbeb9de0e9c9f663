// Command orange-mcp offers Orange's tasks as tools of the Model Context Protocol. "orange mcp" starts it.
package main

import (
	"os"

	"orange/internal/app/server"
	"orange/internal/rules/printable"
	"orange/internal/run/proc"
)

func main() { os.Exit(server.Main(proc.ThisCall(), printable.NewWriter(os.Stderr))) }
