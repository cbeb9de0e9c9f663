// Package harnesses carries the descriptions of the agent programs that ship with Orange.
// A user's file of the same name in $ORANGE_HOME/harnesses wins over one of these.
package harnesses

import "embed"

// Files holds one file a harness.
//
//go:embed *.yml
var Files embed.FS
