// Package app wires: it reads the environment, opens what there is to open, and hands every package what it needs.
//
// It decides nothing. Its floor also has what looks at a whole home or machine: doctor and install.
package app
