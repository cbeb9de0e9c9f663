package tmux

import (
	"strings"
	"syscall"
)

// signalNumber knows the signals by which programs end in practice, with or without "SIG". Others are 0.
func signalNumber(name string) int {
	switch strings.TrimPrefix(strings.ToUpper(name), "SIG") {
	case "HUP":
		return int(syscall.SIGHUP)
	case "INT":
		return int(syscall.SIGINT)
	case "QUIT":
		return int(syscall.SIGQUIT)
	case "ILL":
		return int(syscall.SIGILL)
	case "TRAP":
		return int(syscall.SIGTRAP)
	case "ABRT":
		return int(syscall.SIGABRT)
	case "BUS":
		return int(syscall.SIGBUS)
	case "FPE":
		return int(syscall.SIGFPE)
	case "KILL":
		return int(syscall.SIGKILL)
	case "USR1":
		return int(syscall.SIGUSR1)
	case "SEGV":
		return int(syscall.SIGSEGV)
	case "USR2":
		return int(syscall.SIGUSR2)
	case "PIPE":
		return int(syscall.SIGPIPE)
	case "ALRM":
		return int(syscall.SIGALRM)
	case "TERM":
		return int(syscall.SIGTERM)
	case "XCPU":
		return int(syscall.SIGXCPU)
	}
	return 0
}
