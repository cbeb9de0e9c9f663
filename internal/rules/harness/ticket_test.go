package harness_test

import (
	"slices"
	"strings"
	"testing"

	"orange/internal/rules/harness"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	pane := []string{"TERM=tmux", "HOME=/pane", "PATH=/pane/bin", "ONLY=pane"}
	tests := []struct {
		name   string
		ticket harness.Ticket
		kept   []string
		pane   []string
		want   []string
	}{
		{"where nothing is kept it is the pane's, which leads nowhere", harness.Ticket{Path: "/o"}, nil, pane,
			[]string{"TERM=tmux", "HOME=/pane", "PATH=/o:/pane/bin", "ONLY=pane"}},
		{"with one that is kept, only the terminal comes from the pane", harness.Ticket{Path: "/o"}, []string{
			"HOME=/own", "TERM=dumb", "PATH=/own/bin", "TERM_PROGRAM=x"}, pane,
			[]string{"HOME=/own", "PATH=/o:/own/bin", "TERM=tmux"}},
		{"what is set lies over it", harness.Ticket{Path: "/o", Set: []string{"HOME=/set", "NEW=a=b"}}, nil, pane,
			[]string{"TERM=tmux", "HOME=/set", "PATH=/o:/pane/bin", "ONLY=pane", "NEW=a=b"}},
		{"what is set lies over what is kept", harness.Ticket{
			Path: "/o", Set: []string{"HOME=/set", "PATH=/set/bin"}}, []string{"HOME=/own", "PATH=/own/bin"}, nil,
			[]string{"HOME=/set", "PATH=/o:/set/bin"}},
		{"what is unset is gone", harness.Ticket{Path: "/o", Unset: []string{"ONLY", "NONE"}}, nil, pane,
			[]string{"TERM=tmux", "HOME=/pane", "PATH=/o:/pane/bin"}},
		{"what is unset is gone from what is kept", harness.Ticket{Path: "/o", Unset: []string{"ONLY"}}, []string{
			"ONLY=kept", "PATH=/p"}, nil, []string{"PATH=/o:/p"}},
		{"what is unset and set is there once", harness.Ticket{Path: "/o", Unset: []string{"ONLY"}, Set: []string{
			"ONLY=set"}}, nil, pane, []string{"TERM=tmux", "HOME=/pane", "PATH=/o:/pane/bin", "ONLY=set"}},
		{"a variable that is given twice is there once", harness.Ticket{Path: "/o"}, nil, []string{
			"A=1", "PATH=/a", "A=2"}, []string{"A=2", "PATH=/o:/a"}},
		{"without a PATH there is no empty element in it", harness.Ticket{Path: "/o"}, nil, []string{"A=1"},
			[]string{"A=1", "PATH=/o"}},
		{"a value with lines and equal signs stays whole", harness.Ticket{Path: "/o"}, []string{
			"KEY=a\nb=c\n", "PATH=/p"}, nil, []string{"KEY=a\nb=c\n", "PATH=/o:/p"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.ticket.Environment(test.kept, nil, test.pane); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestEnvironment_prefersHarnessThenPersonThenKeptValues(t *testing.T) {
	t.Parallel()
	given := []string{"KEY=given", "MODEL=given", "SECRET=given", "PATH=/given"}
	ticket := harness.Ticket{Path: "/o", Unset: []string{"SECRET"}, Set: []string{"MODEL=file"}}
	want := []string{"KEY=given", "HOME=/own", "PATH=/o:/given", "TERM=tmux", "MODEL=file"}
	got := ticket.Environment([]string{"KEY=old", "HOME=/own", "PATH=/own"}, given, []string{"TERM=tmux", "KEY=pane"})
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	want = []string{"KEY=given", "TERM=tmux", "MODEL=file", "PATH=/o:/given"}
	if got := ticket.Environment(nil, given, []string{"KEY=pane", "TERM=tmux"}); !slices.Equal(got, want) {
		t.Errorf("where nothing is kept: got %q, want %q", got, want)
	}
}

func TestCheckVariable_refusesBadNamesAndOrangesOwnVariables(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]string{
		"KEY": "", "_a1": "", "http_proxy": "", "PATH": "", "ORANGES": "",
		"": "letters, digits", "1KEY": "no digit first", "A B": "letters", "A-B": "letters", "KEY\n": "letters",
		"ORANGE_SEAT": "Orange sets them for each program", "TMUX": "a window or a repository that is not its own",
		"GIT_DIR":   "a repository",
		"TMUX_PANE": "window", "TMUX_TMPDIR": "where the terminal server of Orange is",
	} {
		err := harness.CheckVariable(name)
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%q: found %v, want %q", name, err, why)
		}
	}
}
