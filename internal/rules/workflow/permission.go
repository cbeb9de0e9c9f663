package workflow

// What a program that asks for a person may do only if the person allows it.
const (
	MayVerdict  = "verdict"  // a move that rests on a verdict
	MayDone     = "done"     // a move that ends a task well
	MayCancel   = "cancel"   // a move that gives a task up
	MayOverride = "override" // a move in spite of its conditions
)

// Permissions are the words for all of that.
func Permissions() []string { return []string{MayVerdict, MayDone, MayCancel, MayOverride} }

// Overridable reports whether a person may take an edge in spite of its guards and its gate, by name and with a reason:
// that is a right of theirs, but for a verdict in a workflow that is strict.
func (d *Definition) Overridable(e *Transition) bool {
	return e.Override || !d.Strict || len(Verdicts(e.Gate)) == 0
}
