// Command orange runs coding agents on tasks and lets them move on evidence only.
package main

import (
	"os"

	"orange/internal/app"
)

func main() { os.Exit(app.Main()) }
