package decide

import "time"

// BackOff is how long a hook waits after its n-th failed attempt.
func BackOff(attempts int) time.Duration { return backOff(attempts) }
