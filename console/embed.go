// Package console holds the page that shows in a browser what a collector knows: topology, events, flows with their
// paths, drops and exporters.
//
// The page is HTML, CSS and JavaScript modules as they are; there is no build step. It asks the API under api/v1/ next to
// it, once a second, and holds no absolute address, so it works under any path prefix that ends in a slash.
//
// To add a table: 1. a file in page/ with its columns, as drops.js has them; 2. a section in page/index.html; 3. a line
// in page/app.js; 4. a canned answer in testdata/api.
package console

import (
	"embed"
	"io/fs"
)

// ContentSecurityPolicy is the header value that the page is made for: no other host, no inline script or style.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"

//go:embed page
var page embed.FS

// Files returns the files of the page, with index.html at the root.
func Files() fs.FS {
	files, err := fs.Sub(page, "page")
	if err != nil { // only an invalid name, which "page" is not
		return page
	}
	return files
}
