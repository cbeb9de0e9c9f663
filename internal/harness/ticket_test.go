package harness_test

import (
	"slices"
	"testing"

	"orange/internal/harness"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	pane := []string{"TERM=tmux", "TMUX=/s", "HOME=/pane", "PATH=/pane/bin", "ONLY=pane"}
	tests := []struct {
		name   string
		ticket harness.Ticket
		pane   []string
		want   []string
	}{
		{"without an environment of its own it is the pane's", harness.Ticket{Path: "/o"}, pane, []string{"TERM=tmux", "TMUX=/s", "HOME=/pane", "PATH=/o:/pane/bin", "ONLY=pane"}},
		{"with one, only the terminal comes from the pane", harness.Ticket{Path: "/o", Env: []string{"HOME=/own", "TERM=dumb", "PATH=/own/bin", "TERM_PROGRAM=x"}}, pane, []string{"HOME=/own", "TERM=tmux", "PATH=/o:/own/bin", "TMUX=/s"}},
		{"what is set lies over it", harness.Ticket{Path: "/o", Set: []string{"HOME=/set", "NEW=a=b"}}, pane, []string{"TERM=tmux", "TMUX=/s", "HOME=/set", "PATH=/o:/pane/bin", "ONLY=pane", "NEW=a=b"}},
		{"what is unset is gone", harness.Ticket{Path: "/o", Unset: []string{"ONLY", "TMUX", "NONE"}}, pane, []string{"TERM=tmux", "HOME=/pane", "PATH=/o:/pane/bin"}},
		{"what is unset and set is there once", harness.Ticket{Path: "/o", Unset: []string{"ONLY"}, Set: []string{"ONLY=set"}}, pane, []string{"TERM=tmux", "TMUX=/s", "HOME=/pane", "PATH=/o:/pane/bin", "ONLY=set"}},
		{"a variable that is given twice is there once", harness.Ticket{Path: "/o"}, []string{"A=1", "PATH=/a", "A=2"}, []string{"A=2", "PATH=/o:/a"}},
		{"without a PATH there is no empty element in it", harness.Ticket{Path: "/o"}, []string{"A=1"}, []string{"A=1", "PATH=/o"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.ticket.Environment(test.pane); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
