// Package console holds the pages that show in a browser what a collector knows.
//
// They are TypeScript and Svelte in src/, which "make build" compiles with Vite into dist/ before the program is built.
// The program embeds dist/. Where it was built without Node, dist/ is empty and a page says how to get the console.
//
// The console asks the API under api/v1/ next to it and holds no absolute address, so it works under any path prefix
// that ends in a slash. Parts: src/api asks, src/lib computes and knows no page, src/components are shared by the files
// of src/pages.
//
// To add a page: 1. a component in src/pages; 2. its line in src/pages/index.ts; 3. names of what it needs of
// the API in src/api/types.ts; 4. what it must show in test/e2e/pages.spec.js, or history.spec.js if it is about a time
// range (ranged in index.ts).
package console

import (
	"embed"
	"io/fs"
)

// ContentSecurityPolicy is the header value that the console is made for: no other host, no inline script or style.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"

// dist has a hidden file beside the console, so that it can be embedded where it is empty.
//
//go:embed all:dist placeholder
var built embed.FS

// Built reports whether the program has the console, and not only the page that says how to get it.
func Built() bool {
	_, err := fs.Stat(built, "dist/index.html")
	return err == nil
}

// Files returns the files of the console, with index.html at the root.
func Files() fs.FS {
	dir := "placeholder"
	if Built() {
		dir = "dist"
	}
	files, err := fs.Sub(built, dir)
	if err != nil { // only an invalid name, which neither is
		return built
	}
	return files
}
