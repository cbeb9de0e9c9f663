package yaml

import "testing"

func TestDistanceCountsLetters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ab", 1},
		{"ab", "ba", 2},
		{"kitten", "sitting", 3},
	}
	for _, test := range tests {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) is %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestNearestGuessesOnlyWhatIsClose(t *testing.T) {
	t.Parallel()
	allowed := []string{"working", "stuck", "PASS"}
	tests := []struct{ found, want string }{
		{"workng", "working"},
		{"Stuck", "stuck"},
		{"pass", "PASS"},
		{"elsewhere", ""},
		{"x", ""},
		{"", ""},
	}
	for _, test := range tests {
		if got := nearest(test.found, allowed); got != test.want {
			t.Errorf("nearest(%q) is %q, want %q", test.found, got, test.want)
		}
	}
}
