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
