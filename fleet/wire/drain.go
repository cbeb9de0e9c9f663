package wire

// What a request of the method drain may ask of a host.
const (
	DrainOn  = "on"  // take no new tasks
	DrainOff = "off" // take tasks again
)
