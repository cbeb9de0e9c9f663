// Package skills carries what coding agents are taught about Orange: one folder a skill, in the form of the Agent
// Skills standard. "orange install" writes them to where agent programs look for skills.
package skills

import "embed"

// Files holds one folder a skill.
//
//go:embed */SKILL.md
var Files embed.FS
