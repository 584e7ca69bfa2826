package api

import (
	"io/fs"
	"net/http"
	"path"
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
		newProblem(http.StatusNotFound, "there is no %s; this server has no console, lists are below /api/v1/", r.URL.Path).write(w)
		return
	}
	w.Header().Set("Cache-Control", "no-cache") // another version of Waybill has other files of the same names
	h.console.ServeHTTP(w, r)
}
