package cli

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func logCommand(p *Program) *cobra.Command {
	var level, component, grep string
	var lines int
	c := &cobra.Command{
		Use: "log", Short: "Show what the program logged", Args: between(0, 0),
		Example: "  orange log --lines 50 --level warn\n  orange log --component hook --grep spawn",
		RunE: p.run(func(_ context.Context, h *Services, _ []string) error {
			pattern, err := regexp.Compile(grep)
			if err != nil {
				return usage("found %q as --grep, expected a regular expression: %v", grep, err)
			}
			levels := []string{"DEBUG", "INFO", "WARN", "ERROR"}
			least := slices.Index(levels, strings.ToUpper(level))
			if least < 0 {
				return usage("found %q as --level, expected one of debug, info, warn, error", level)
			}
			if lines < 1 {
				return usage("found %d as --lines, expected a number above 0", lines)
			}
			p.lend()
			return h.Monitor.Log(func(line []byte) bool {
				return keeps(line, levels[least:], component, pattern)
			}, lines, p.Out)
		}),
	}
	c.Flags().StringVar(&level, "level", "debug", "the least level: debug, info, warn, error")
	c.Flags().StringVar(&component, "component", "", "only this part of the program: engine, hook")
	c.Flags().StringVar(&grep, "grep", "", "only lines that match this regular expression")
	c.Flags().IntVar(&lines, "lines", 200, "how many, from the end")
	return c
}

func keeps(line []byte, levels []string, component string, pattern *regexp.Regexp) bool {
	var entry struct{ Level, Component string }
	if json.Unmarshal(line, &entry) != nil || !pattern.Match(line) {
		return false
	}
	return (component == "" || entry.Component == component) && slices.Contains(levels, strings.ToUpper(entry.Level))
}
