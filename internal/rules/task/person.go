package task

import (
	"strings"
	"unicode"
)

// mostOfName is how many characters of a person's name, and of their address, are kept.
const mostOfName = 100

// PersonName is what history calls a person: the name and the address of their git configuration, or whichever
// there is. It comes from a file, and is shown on terminals forever: what moves a cursor or turns the direction
// of text is left out, and what is too long is cut. Empty where nothing is left.
func PersonName(name, address string) string {
	name, address = show(name), show(address)
	switch {
	case address == "":
		return name
	case name == "":
		return address
	}
	return name + " <" + address + ">"
}

func show(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar, !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, text)
	letters := []rune(strings.Join(strings.Fields(text), " "))
	if len(letters) > mostOfName {
		letters = append(letters[:mostOfName-1:mostOfName-1], '…')
	}
	return string(letters)
}
