// Package lazyregexp holds regular expressions until they are needed.
//
// Each short command of Orange is a process of its own, and most of them use few of the expressions of the packages
// that they link: compiling all of them would be a noticeable part of a command.
// It owns nothing about what the expressions mean.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New is the regular expression of a text, compiled by its first use and kept from then on. It panics at that use
// when the text is no regular expression. Many goroutines may call the function that it returns.
func New(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
