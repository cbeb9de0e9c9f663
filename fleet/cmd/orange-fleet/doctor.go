package main

import "github.com/spf13/cobra"

func doctor() *cobra.Command { return &cobra.Command{Use: "doctor"} }
