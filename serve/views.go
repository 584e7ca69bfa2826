package serve

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/internal/datadir"
)

const (
	viewsName = "views.json"
	// maxViews bounds the saved views.
	maxViews = 1000
)

// views are the saved views of the console, by name. All changes are on disk before they are answered.
type views struct {
	dir *datadir.Dir // nil: they end with the process

	mu   sync.Mutex
	list []types.View
}

// openViews reads what was saved. A damaged file is moved aside.
func openViews(dir *datadir.Dir, log *slog.Logger) (*views, error) {
	v := &views{dir: dir}
	content, err := os.ReadFile(dir.Path(viewsName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return v, nil
	case err != nil:
		return nil, fmt.Errorf("data: %w", err)
	}
	if err := json.Unmarshal(content, &v.list); err != nil {
		aside, moveErr := dir.MoveAside(viewsName)
		if moveErr != nil {
			return nil, fmt.Errorf("data: %w", moveErr)
		}
		log.Error("the saved views cannot be read and were moved aside", "error", err, "file", aside)
		v.list = nil
	}
	return v, nil
}

// All implements api.Views.
func (v *views) All() []types.View {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.list)
}

// Save implements api.Views.
func (v *views) Save(view types.View) (types.View, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := slices.Clone(v.list)
	i, found := slices.BinarySearchFunc(list, view, func(a, b types.View) int { return cmp.Compare(a.Name, b.Name) })
	switch {
	case found:
		view.ID = list[i].ID
		list[i] = view
	case len(list) >= maxViews:
		return view, api.ErrManyViews
	default:
		view.ID = rand.Text()[:12]
		list = slices.Insert(list, i, view)
	}
	return view, v.write(list)
}

// Remove implements api.Views.
func (v *views) Remove(id string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	i := slices.IndexFunc(v.list, func(view types.View) bool { return view.ID == id })
	if i < 0 {
		return api.ErrNoView
	}
	return v.write(slices.Delete(slices.Clone(v.list), i, i+1))
}

// write keeps a list once it is on disk. The views are locked.
func (v *views) write(list []types.View) error {
	if v.dir != nil {
		content, err := json.MarshalIndent(list, "", "  ")
		if err == nil {
			err = v.dir.Write(viewsName, content)
		}
		if err != nil {
			return err
		}
	}
	v.list = list
	return nil
}
