package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
)

// viewsOfTest keeps one view.
type viewsOfTest struct {
	view *types.View
	fail error
}

func (v *viewsOfTest) All() (list []types.View) {
	if v.view != nil {
		list = append(list, *v.view)
	}
	return list
}

func (v *viewsOfTest) Save(view types.View) (types.View, error) {
	if v.fail != nil {
		return view, v.fail
	}
	view.ID = "1"
	v.view = &view
	return view, nil
}

func (v *viewsOfTest) Remove(id string) error {
	if v.view == nil || v.view.ID != id {
		return ErrNoView
	}
	v.view = nil
	return v.fail
}

// Pages of the console are saved with a name and nothing else: an address that leads elsewhere is refused.
func TestViews(t *testing.T) {
	cfg := testConfig(newFeed().Collector)
	views := &viewsOfTest{}
	cfg.Views = views
	h := New(cfg)
	for _, c := range []struct {
		name, address string
		status        int
		want          string
	}{
		{" drops of leaf1 ", "drops?filter=node+%3D+leaf1", 201, `"name":"drops of leaf1","page":"drops"`},
		{"queues", "queues", 201, `"page":"queues","address":"queues"`},
		{" ", "queues", 400, "name: "},
		{strings.Repeat("x", 101), "queues", 400, "name: "},
		{"two\nlines", "queues", 400, "name: "},
		{"x", "https://example.com/", 400, "address: "},
		{"x", "//example.com", 400, "address: "},
		{"x", "#/queues", 400, "address: "},
		{"x", "queues?a b", 400, "address: "},
		{"x", "queues?" + strings.Repeat("x", maxViewAddress), 400, "address: "},
		{"x", "", 400, "address: "},
	} {
		content, err := json.Marshal(types.NewView{Name: c.name, Address: c.address})
		if err != nil {
			t.Fatal(err)
		}
		w := ask(h, "POST", "/api/v1/views", body(string(content)))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%q at %q: %d %s", c.name, c.address, w.Code, w.Body)
		}
	}
	var list types.ViewList
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/views?filter=page+%3D+queues").Body.Bytes(), &list); err != nil ||
		list.Total != 1 || list.Views[0].Name != "queues" || list.Views[0].At.IsZero() {
		t.Errorf("got %+v, %v", list, err)
	}
	for _, c := range []struct {
		method, path string
		fail         error
		status       int
	}{
		{"DELETE", "views/2", nil, http.StatusNotFound},
		{"DELETE", "views/1", nil, http.StatusNoContent},
		{"DELETE", "views/1", nil, http.StatusNotFound},
		{"POST", "views", ErrManyViews, http.StatusConflict},
		{"POST", "views", errors.New("no room"), http.StatusInternalServerError},
	} {
		views.fail = c.fail
		if w := ask(h, c.method, "/api/v1/"+c.path, body(`{"name":"x","address":"queues"}`)); w.Code != c.status {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, w.Code, w.Body, c.status)
		}
	}
	cfg.Views = nil
	if w := ask(New(cfg), "GET", "/api/v1/views"); w.Code != http.StatusNotFound {
		t.Errorf("a server without views: %d", w.Code)
	}
}
