package yaml

import (
	"time"

	"go.yaml.in/yaml/v4"
)

// Duration reads a length of time such as "90s", "30m" or "1h30m", of whole seconds from one up to most; 0 when
// it was none.
func (r *Reader) Duration(n *Node, what string, most time.Duration) time.Duration {
	node := resolve(n)
	if node.Kind != yaml.ScalarNode {
		r.Problem(PosOf(n), "type", "found %s as %s, expected a length of time such as %q", kindOf(n), what, "30m")
		return 0
	}
	d, err := time.ParseDuration(node.Value)
	switch {
	case err != nil || d%time.Second != 0:
		r.Problem(PosOf(n), "value", "found %q as %s, expected a length of time in whole seconds such as %q",
			node.Value, what, "30m")
		return 0
	case d < time.Second || d > most:
		r.Problem(PosOf(n), "value", "found %q as %s, expected one from 1s to %s", node.Value, what, most)
		return 0
	}
	return d
}
