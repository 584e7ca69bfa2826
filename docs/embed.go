// Package docs holds the documentation of this version, as pages that can be shown and searched.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed README.md tutorial how-to reference explanation formats images
var embedded embed.FS

// Files returns the documentation as it is in the repository.
func Files() fs.FS { return embedded }
