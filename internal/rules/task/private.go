package task

// Modes of everything that the program makes below $ORANGE_HOME: what people and agents write there is no one
// else's on the machine.
const (
	PrivateFolder = 0o700
	PrivateFile   = 0o600
)
