// Command orange-mcp offers Orange's tasks as tools of the Model Context Protocol. "orange mcp" starts it.
package main

import (
	"os"

	"orange/internal/app/server"
	"orange/internal/rules/printable"
)

func main() { os.Exit(server.Main(os.Args[1:], printable.NewWriter(os.Stderr))) }
