// Package edition names the edition of the rules.
//
// It owns one name. Decisions of one edition are made again by the same program text, and what one edition has proved
// of a workflow holds. It implements docs/proof.md, "The past can be decided again: replay".
package edition

// Rules is the edition of the rules: a digest of the code of the packages that only compute. A test of internal/arch
// compares it with them, and writes it here where it is asked to.
const Rules = "ce421188551e"
