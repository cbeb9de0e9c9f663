package document

import (
	"strings"

	"orange/internal/lazyregexp"
)

// loneTag is a line that is nothing but one tag, as the parser has it.
var loneTag = lazyregexp.New(`^<(/[ ]*)?([a-zA-Z]+[a-zA-Z0-9\-]*)` +
	`((?:[\r\n \t]+[a-zA-Z_:][a-zA-Z0-9:._-]*(?:[\r\n \t]*=[\r\n \t]*` +
	`(?:[^\"'=<>` + "`" + `\x00-\x20]+|'[^']*'|"[^"]*"))?)*)[ ]*/?>[ ]*$`)

// html is what a block of HTML is, by its first tag.
type html uint8

const (
	noHTML      html = iota
	shownHTML        // tags such as <details>, which end at a blank line and whose text is shown
	commentHTML      // <!--
	instruction      // <?
	declaration      // <!X
	characters       // <![CDATA[
	script
	pre
	style
	textarea
)

// closer is what closes a block of HTML; empty when nothing has to.
func (h html) closer() string {
	switch h {
	case commentHTML:
		return "-->"
	case instruction:
		return "?>"
	case declaration:
		return ">"
	case characters:
		return "]]>"
	case script:
		return "</script>"
	case pre:
		return "</pre>"
	case style:
		return "</style>"
	case textarea:
		return "</textarea>"
	default:
		return ""
	}
}

// openHTML opens the HTML block whose first tag is at a place of the line, behind the first so many boxes.
func (s *scanner) openHTML(depth, at int) found {
	if strings.IndexByte(s.text[s.pos:at], '\t') >= 0 {
		return none
	}
	tag, k := s.text[at:s.stop], hidden
	var h html
	switch {
	case strings.HasPrefix(tag, "<!--"):
		k, h = comment, commentHTML
	case strings.HasPrefix(tag, "<?"):
		h = instruction
	case strings.HasPrefix(tag, "<![CDATA["):
		h = characters
	case len(tag) > 2 && tag[1] == '!' && tag[2] >= 'A' && tag[2] <= 'Z':
		h = declaration
	case strings.HasPrefix(tag, "<ſ"): // to the parser it is an s
		s.unsure = true
		return none
	default:
		h = rawHTML(tag)
		if h == noHTML && s.isBlockTag(tag) {
			k, h = prose, shownHTML
		}
	}
	if h == noHTML {
		return none
	}
	s.put(depth, k)
	s.block.html = h
	s.open = !s.endsHTML()
	return single
}

// rawHTML is the tag at the beginning of a text when what follows such a tag is no Markdown.
func rawHTML(tag string) html {
	name := tagName(tag[1:])
	behind := tag[1+len(name):]
	if behind != "" && strings.IndexByte(" \t\f>", behind[0]) < 0 && !strings.HasPrefix(behind, "/>") {
		return noHTML
	}
	for h := script; h <= textarea; h++ {
		if closer := h.closer(); strings.EqualFold(name, closer[2:len(closer)-1]) {
			return h
		}
	}
	return noHTML
}

// tagName is the name at the beginning of a text; empty when there is none.
func tagName(text string) string {
	end := 0
	for end < len(text) && (isLetter(text[end]) || end > 0 && (isDigit(text[end]) || text[end] == '-')) {
		end++
	}
	return text[:end]
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// endsHTML reports whether the line has what closes the block of HTML.
func (s *scanner) endsHTML() bool {
	h, text := s.block.html, s.rest()
	if h == shownHTML {
		return false
	}
	if h < script {
		return strings.Contains(text, h.closer())
	}
	for { // each of the four closes all of them
		at := strings.Index(text, "</")
		if at < 0 {
			return false
		}
		text = text[at:]
		s.unsure = s.unsure || strings.HasPrefix(text, "</ſ")
		for h := script; h <= textarea; h++ {
			if c := h.closer(); len(text) >= len(c) && strings.EqualFold(text[:len(c)], c) {
				return true
			}
		}
		text = text[2:]
	}
}

// isBlockTag reports whether the tag at the beginning of a text opens a block that ends at a blank line: one of the
// tags that do, or any other that is alone on the line and not inside a paragraph.
func (s *scanner) isBlockTag(tag string) bool {
	name, closing := tag[1:], strings.HasPrefix(tag, "</")
	if closing {
		name = strings.TrimLeft(tag[2:], " ")
	}
	name = tagName(name)
	if name == "" {
		return false
	}
	known := isBlockName(name)
	behind := tag[strings.Index(tag, name)+len(name):]
	if known && (behind == "" || behind[0] == ' ' || behind[0] == '>' || strings.HasPrefix(behind, "/>")) {
		return true
	}
	if !strings.HasSuffix(strings.TrimRight(tag, " "), ">") || !known && s.inParagraph() {
		return false
	}
	match := loneTag().FindStringSubmatchIndex(tag)
	if match == nil {
		return false
	}
	attributes := match[6] != match[7]
	lower := strings.ToLower(name)
	return known || lower != "script" && lower != "style" && lower != "pre" &&
		(!attributes || match[2] < 0 || tag[match[2]:match[3]] != "/")
}

// isBlockName reports whether a tag of that name opens a block wherever it begins a line.
func isBlockName(name string) bool {
	if len(name) > len("blockquote") {
		return false
	}
	switch strings.ToLower(name) {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col",
		"colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer",
		"form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe",
		"legend", "li", "link", "main", "menu", "menuitem", "meta", "nav", "noframes", "ol", "optgroup", "option",
		"p", "param", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr",
		"track", "ul":
		return true
	}
	return false
}
