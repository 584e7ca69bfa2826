package api

import (
	"cmp"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/waybill-int/waybill/api/types"
)

// newConsole returns the handler of the console's files, or nil if there are none.
func newConsole(files fs.FS) http.Handler {
	if files == nil {
		return nil
	}
	return http.FileServerFS(noListing{files})
}

// noListing is a file system whose directories without index.html do not exist: http.FileServerFS would list them.
type noListing struct{ fs.FS }

func (n noListing) Open(name string) (fs.File, error) {
	file, err := n.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		_, err = fs.Stat(n.FS, path.Join(name, "index.html"))
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func (h *handler) serveConsole(w http.ResponseWriter, r *http.Request) {
	if h.console == nil {
		types.NewProblem(http.StatusNotFound, "there is no %s; this server has no console, lists are below /api/v1/",
			r.URL.Path).Write(w)
		return
	}
	// files are small, and an impossible range would be answered with plain text
	r.Header.Del("Range")
	w.Header().Set("Cache-Control", "no-cache") // another version of Waybill has other files of the same names
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if strings.HasPrefix(name, "assets/") {
		if _, err := fs.Stat(h.cfg.Console, name); err == nil {
			// their names change with their content
			w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		}
	}
	file, err := noListing{h.cfg.Console}.Open(cmp.Or(name, "."))
	if err != nil {
		types.NewProblem(http.StatusNotFound, "the console has no file %.100q; lists are below /api/v1/", name).Write(w)
		return
	}
	file.Close()
	h.console.ServeHTTP(w, r)
}
