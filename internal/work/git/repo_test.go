package git

import "testing"

func TestNewEnough(t *testing.T) {
	t.Parallel()
	for version, ok := range map[string]bool{
		"git version 2.38.0": true, "git version 2.39.5 (Apple Git-154)": true, "git version 3.0": true,
		"git version 2.47.rc1": true,
		"git version 2.37.9":   false, "git version 1.99": false, "git version x": false, "": false,
	} {
		if got := newEnough(version); got != ok {
			t.Errorf("%q is new enough: %v", version, got)
		}
	}
}
