package forge

import (
	"net/url"
	"os"
	"strings"
)

// There reports whether gh is on this machine.
func (g GH) There() bool {
	_, err := g.find()
	return err == nil
}

// OnGitHub reports whether the address of a remote leads to GitHub: to a host that is named after it, or to the one
// that GH_HOST names.
func OnGitHub(address string) bool {
	host := hostOf(address)
	if host == "" {
		return false
	}
	if own := os.Getenv("GH_HOST"); own != "" && strings.EqualFold(host, own) {
		return true
	}
	return strings.HasSuffix(host, ".ghe.com") || strings.Contains("."+host+".", ".github.")
}

// hostOf is the host in an address as git takes it: https://host/path, ssh://user@host:port/path or user@host:path.
func hostOf(address string) string {
	if strings.Contains(address, "://") {
		parsed, err := url.Parse(address)
		if err != nil || parsed.Scheme == "file" {
			return ""
		}
		return strings.ToLower(parsed.Hostname())
	}
	host, _, found := strings.Cut(address, ":")
	if !found || strings.Contains(host, "/") {
		return "" // a folder
	}
	return strings.ToLower(host[strings.LastIndex(host, "@")+1:])
}
