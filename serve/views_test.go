package serve

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill-int/waybill/api"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/internal/datadir"
)

// What was saved is there after a restart, a name stands once, and there are no more than there is room for.
func TestViews(t *testing.T) {
	dir, err := datadir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	open := func() *views {
		t.Helper()
		v, err := openViews(dir, log)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := open()
	save := func(name, address string) types.View {
		t.Helper()
		view, err := v.Save(types.View{Name: name, Address: address})
		if err != nil {
			t.Fatal(err)
		}
		return view
	}
	first := save("queues", "queues")
	save("drops of leaf1", "drops?filter=node+%3D+leaf1")
	again := save("queues", "queues?order=depth")
	if again.ID != first.ID {
		t.Errorf("a view that was saved again has the id %s, want %s", again.ID, first.ID)
	}
	if v = open(); len(v.All()) != 2 || v.All()[0].Name != "drops of leaf1" || v.All()[1] != again {
		t.Errorf("after a restart: %+v", v.All())
	}
	for i := range maxViews - 2 {
		v.list = append(v.list, types.View{ID: fmt.Sprint(i), Name: fmt.Sprintf("view %04d", i)})
	}
	if _, err := v.Save(types.View{Name: "one more"}); !errors.Is(err, api.ErrManyViews) {
		t.Errorf("more than %d views: %v", maxViews, err)
	}
	save("queues", "queues") // takes no room
	if err := v.Remove(first.ID); err != nil {
		t.Error(err)
	}
	if err := v.Remove(first.ID); !errors.Is(err, api.ErrNoView) {
		t.Errorf("removed twice: %v", err)
	}
	if v = open(); len(v.All()) != maxViews-1 {
		t.Errorf("%d views, want %d", len(v.All()), maxViews-1)
	}
	if err := os.WriteFile(dir.Path(viewsName), []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v = open(); len(v.All()) != 0 {
		t.Errorf("of a damaged file: %+v", v.All())
	}
	if aside, err := filepath.Glob(dir.Path(viewsName + ".damaged-*")); err != nil || len(aside) != 1 {
		t.Errorf("moved aside: %v, %v", aside, err)
	}
}
