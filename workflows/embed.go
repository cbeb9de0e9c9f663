// Package workflows carries the workflow files that ship with the program.
// The same files serve as examples and as fixtures; a user's file of the same name wins over one of these.
package workflows

import "embed"

// Files holds the workflows, one file each, named after the workflow, and in passed.json what a task has passed at the
// ends of each.
//
//go:embed default.yml classic.yml minimal.yml build.yml phases.yml passed.json
var Files embed.FS

// Usual is the file of names that a workflow means where it says nothing.
//
//go:embed usual.yml
var Usual []byte

// Schema is the JSON Schema of a workflow file, for editors.
//
//go:embed schema.json
var Schema []byte
