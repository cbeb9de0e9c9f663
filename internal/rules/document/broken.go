package document

import "fmt"

// Broken names what is wrong with a frontmatter that is there and cannot be trusted; empty when nothing is.
// A block without its closing line may have swallowed sections of the body, so nothing may be written over it.
func (d *Document) Broken() string {
	for _, p := range d.Problems {
		if d.FrontLen > 0 && p.Line <= d.frontLines {
			return fmt.Sprintf("line %d: %s", p.Line, p.Text)
		}
	}
	return ""
}
