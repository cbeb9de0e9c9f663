package document

import (
	"strings"

	"orange/internal/lazyregexp"
)

// loneTag is a line that is nothing but one tag, as the parser has it.
var loneTag = lazyregexp.New(`^<(/[ ]*)?([a-zA-Z]+[a-zA-Z0-9\-]*)` +
	`((?:[\r\n \t]+[a-zA-Z_:][a-zA-Z0-9:._-]*(?:[\r\n \t]*=[\r\n \t]*` +
	`(?:[^\"'=<>` + "`" + `\x00-\x20]+|'[^']*'|"[^"]*"))?)*)[ ]*/?>[ ]*$`)

// openHTML opens the HTML block whose first tag is at a place of the line, behind the first so many boxes.
func (s *scanner) openHTML(depth, at int) found {
	if strings.IndexByte(s.rest[:at], '\t') >= 0 {
		return none
	}
	tag := s.rest[at:]
	l := leaf{kind: hidden, html: true}
	switch {
	case strings.HasPrefix(tag, "<!--"):
		l.kind, l.closer = comment, "-->"
	case strings.HasPrefix(tag, "<?"):
		l.closer = "?>"
	case strings.HasPrefix(tag, "<![CDATA["):
		l.closer = "]]>"
	case len(tag) > 2 && tag[1] == '!' && tag[2] >= 'A' && tag[2] <= 'Z':
		l.closer = ">"
	case strings.HasPrefix(tag, "<ſ"): // to the parser it is an s
		s.unsure = true
		return none
	default:
		l.closer = rawTag(tag)
		if l.closer != "" {
			break
		}
		if !s.isBlockTag(tag) {
			return none
		}
		l.kind = prose
	}
	s.put(depth, l)
	if l.closer != "" && s.endsHTML(l.closer, s.rest) {
		s.block = leaf{}
	}
	return single
}

// rawTag is what closes the tag at the beginning of a text when what follows the tag is no Markdown.
func rawTag(tag string) string {
	name := tagName(tag[1:])
	behind := tag[1+len(name):]
	if behind != "" && strings.IndexByte(" \t\f>", behind[0]) < 0 && !strings.HasPrefix(behind, "/>") {
		return ""
	}
	for _, closer := range rawClosers() {
		if strings.EqualFold(name, closer[2:len(closer)-1]) {
			return closer
		}
	}
	return ""
}

func rawClosers() [4]string { return [4]string{"</script>", "</pre>", "</style>", "</textarea>"} }

// tagName is the name at the beginning of a text; empty when there is none.
func tagName(text string) string {
	end := 0
	for end < len(text) && (isLetter(text[end]) || end > 0 && (isDigit(text[end]) || text[end] == '-')) {
		end++
	}
	return text[:end]
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// endsHTML reports whether a line has what closes an HTML block. Each of the four raw tags closes all of them.
func (s *scanner) endsHTML(closer, line string) bool {
	if !strings.HasPrefix(closer, "</") {
		return strings.Contains(line, closer)
	}
	for {
		at := strings.Index(line, "</")
		if at < 0 {
			return false
		}
		line = line[at:]
		s.unsure = s.unsure || strings.HasPrefix(line, "</ſ")
		for _, c := range rawClosers() {
			if len(line) >= len(c) && strings.EqualFold(line[:len(c)], c) {
				return true
			}
		}
		line = line[2:]
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
	if !strings.HasSuffix(strings.TrimRight(tag, " "), ">") || !known && s.block.isParagraph() {
		return false
	}
	match := loneTag().FindStringSubmatchIndex(tag)
	if match == nil {
		return false
	}
	attributes := match[6] != match[7]
	lower := strings.ToLower(name)
	return known || lower != "script" && lower != "style" && lower != "pre" &&
		!(attributes && match[2] >= 0 && tag[match[2]:match[3]] == "/")
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
