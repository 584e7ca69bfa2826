package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// Who may operate acknowledges an event, with their name, and takes it back.
func TestAcknowledge(t *testing.T) {
	cfg, tokens, _ := guarded(t)
	_, cfg.Events = happened(t)
	h := New(cfg)
	events := func(query string) (list types.EventList) {
		json.Unmarshal(ask(h, "GET", "/api/v1/events"+query, bearing(tokens[auth.Read])).Body.Bytes(), &list)
		return list
	}
	all := events("").Events
	path := "/api/v1/events/" + all[0].ID + "/acknowledge"
	for _, c := range []struct {
		role         auth.Role
		method, path string
		status       int
		by           string
	}{
		{auth.Nobody, "POST", path, 401, ""},
		{auth.Read, "POST", path, 403, ""},
		{auth.Operate, "GET", path, 405, ""},
		{auth.Operate, "POST", "/api/v1/events/nothing/acknowledge", 404, ""},
		{auth.Operate, "POST", "/api/v1/events/" + all[0].ID, 404, ""},
		{auth.Operate, "POST", "/api/v1/events//acknowledge", 404, ""},
		{auth.Operate, "DELETE", path, 200, ""},
		{auth.Operate, "POST", path, 200, "the-operate"},
		{auth.Admin, "POST", path, 200, "the-operate"}, // who was first stays
	} {
		w := ask(h, c.method, c.path, bearing(tokens[c.role]))
		var e telemetry.Event
		if w.Code == http.StatusOK {
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.ID != all[0].ID {
				t.Errorf("%+v: %s", c, w.Body)
			}
		}
		by := ""
		if e.Acknowledged != nil {
			by = e.Acknowledged.By
		}
		if w.Code != c.status || by != c.by {
			t.Errorf("%+v: got %d %q: %s", c, w.Code, by, w.Body)
		}
	}
	if got := events("?acknowledged=true").Events; len(got) != 1 || got[0].ID != all[0].ID {
		t.Errorf("acknowledged: %+v", got)
	}
	if got := events("?acknowledged=false"); got.Total != len(all)-1 {
		t.Errorf("not acknowledged: %d of %d", got.Total, len(all))
	}
}
