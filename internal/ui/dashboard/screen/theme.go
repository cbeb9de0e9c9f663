package screen

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
)

// styles are the styles that a person can change, by the names that config.yml has for them.
func (s *Style) styles() map[string]*lipgloss.Style {
	return map[string]*lipgloss.Style{
		"title": &s.Title, "faint": &s.Faint, "bold": &s.Bold, "selection": &s.Chosen, "good": &s.Good, "bad": &s.Bad,
		"warn": &s.Warn, "info": &s.Info, "added": &s.Added, "removed": &s.Removed, "header": &s.Header, "key": &s.Key,
		"closed-key": &s.ClosedKey, "code": &s.Code, "keyword": &s.Keyword, "string": &s.String, "number": &s.Number,
		"comment": &s.Comment,
	}
}

// ThemeNames are the names of all styles that a person can change.
func ThemeNames() []string { return slices.Sorted(maps.Keys(NewStyle().styles())) }

// Theme is what a person changes about the styles, by their names.
type Theme map[string]lipgloss.Style

// Paint changes the styles that a theme has.
func (s *Style) Paint(theme Theme) {
	all := s.styles()
	for name, style := range theme {
		if one, known := all[name]; known {
			*one = style
		}
	}
}

// colourNames are the sixteen colours of a terminal, in their order.
func colourNames() []string {
	dark := []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
	out := slices.Clone(dark)
	for _, name := range dark {
		out = append(out, "bright-"+name)
	}
	return out
}

func attributes() map[string]func(lipgloss.Style) lipgloss.Style {
	return map[string]func(lipgloss.Style) lipgloss.Style{
		"plain":     func(s lipgloss.Style) lipgloss.Style { return s },
		"bold":      func(s lipgloss.Style) lipgloss.Style { return s.Bold(true) },
		"faint":     func(s lipgloss.Style) lipgloss.Style { return s.Faint(true) },
		"italic":    func(s lipgloss.Style) lipgloss.Style { return s.Italic(true) },
		"underline": func(s lipgloss.Style) lipgloss.Style { return s.Underline(true) },
		"reverse":   func(s lipgloss.Style) lipgloss.Style { return s.Reverse(true) },
	}
}

// StyleWords are the words from which a person makes a style.
func StyleWords() []string {
	return append(colourNames(), slices.Sorted(maps.Keys(attributes()))...)
}

// ParseStyle reads a style such as "bright-red bold" or "black on 220". wrong is the first word that means nothing.
func ParseStyle(text string) (style lipgloss.Style, wrong string) {
	style = lipgloss.NewStyle()
	words, behind := strings.Fields(text), false
	for _, word := range words {
		colour, isColour := colourOf(word)
		change, isAttribute := attributes()[word]
		switch {
		case word == "on" && !behind:
			behind = true
		case isColour && behind:
			style = style.Background(lipgloss.Color(colour))
		case isColour:
			style = style.Foreground(lipgloss.Color(colour))
		case isAttribute:
			style = change(style)
		default:
			return style, word
		}
	}
	return style, ""
}

func colourOf(word string) (string, bool) {
	if at := slices.Index(colourNames(), word); at >= 0 {
		return fmt.Sprint(at), true
	}
	if digits, hex := strings.CutPrefix(word, "#"); hex {
		_, err := strconv.ParseUint(digits, 16, 32)
		return word, err == nil && len(digits) == 6
	}
	number, err := strconv.ParseUint(word, 10, 8)
	return fmt.Sprint(number), err == nil
}
