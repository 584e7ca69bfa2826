package api

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
)

// fakeDemo notes what it is told.
type fakeDemo struct {
	running bool
	wrong   error
}

func (d *fakeDemo) Start() error {
	d.running = d.wrong == nil
	return d.wrong
}
func (d *fakeDemo) Stop()                  { d.running = false }
func (d *fakeDemo) State() types.DemoState { return types.DemoState{Running: d.running} }

func TestDemo(t *testing.T) {
	cfg, tokens, _ := guarded(t)
	demo := &fakeDemo{}
	cfg.Demo = demo
	h := New(cfg)
	for _, c := range []struct {
		role    auth.Role
		method  string
		status  int
		running bool
	}{
		{auth.Read, "POST", 403, false},
		{auth.Read, "GET", 200, false},
		{auth.Operate, "POST", 200, true},
		{auth.Operate, "POST", 200, true},
		{auth.Read, "DELETE", 403, true},
		{auth.Read, "GET", 200, true},
		{auth.Operate, "DELETE", 200, false},
		{auth.Operate, "PUT", 405, false},
	} {
		w := ask(h, c.method, "/api/v1/demo", bearing(tokens[c.role]))
		var state types.DemoState
		json.Unmarshal(w.Body.Bytes(), &state)
		if w.Code != c.status || demo.running != c.running || w.Code == 200 && state.Running != c.running {
			t.Errorf("%+v: got %d, running %v, %s", c, w.Code, demo.running, w.Body)
		}
	}
	demo.wrong = errors.New("no room")
	if w := ask(h, "POST", "/api/v1/demo", bearing(tokens[auth.Operate])); w.Code != 500 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	cfg.Demo = nil
	h = New(cfg)
	for _, method := range []string{"GET", "POST", "DELETE"} {
		if w := ask(h, method, "/api/v1/demo", bearing(tokens[auth.Operate])); w.Code != 404 {
			t.Errorf("%s without a demo: got %d", method, w.Code)
		}
	}
}
