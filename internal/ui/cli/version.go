package cli

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(p *Program) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: between(0, 0), Example: "  orange version",
		RunE: func(*cobra.Command, []string) error { return p.printVersion() },
	}
}

func (p *Program) printVersion() error {
	if p.json {
		return p.printJSON(map[string]any{"version": p.Version})
	}
	p.say("orange %s", p.Version)
	return nil
}

// BuildVersion is the version of the running program, as Go built it in.
func BuildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "development build"
	}
	return info.Main.Version
}
