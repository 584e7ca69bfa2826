package api

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/api/types"
)

// silencePath is what the id of a silence stands behind.
const silencePath = "/api/v1/silences/"

// changes returns what can be done at a path besides asking, by method; nil if nothing can.
func (h *handler) changes(path string) map[string]http.HandlerFunc {
	switch {
	case path == decodePath:
		return map[string]http.HandlerFunc{http.MethodPost: h.decode}
	case path == "/api/v1/alerts/test":
		return map[string]http.HandlerFunc{http.MethodPost: h.testAlert}
	case path == demoPath:
		return map[string]http.HandlerFunc{http.MethodPost: h.startDemo, http.MethodDelete: h.stopDemo}
	case path == "/api/v1/silences":
		return map[string]http.HandlerFunc{http.MethodPost: h.addSilence}
	case strings.HasPrefix(path, silencePath) && path != silencePath:
		return map[string]http.HandlerFunc{http.MethodDelete: h.removeSilence}
	}
	if _, ok := acknowledgedEvent(path); ok {
		return map[string]http.HandlerFunc{http.MethodPost: h.acknowledge, http.MethodDelete: h.takeBack}
	}
	return nil
}

// needsAlerts reports whether a path is about alerts, which a server without rules has none of.
func needsAlerts(path string) bool {
	for _, about := range []string{"alerts", "silences", "rules", "outputs"} {
		if strings.HasPrefix(path, "/api/v1/"+about) {
			return true
		}
	}
	return false
}

// change answers a request that may change something, and reports whether it was one.
func (h *handler) change(w http.ResponseWriter, r *http.Request) bool {
	changes := h.changes(r.URL.Path)
	_, canAsk := h.routes[r.URL.Path]
	asks := r.Method == http.MethodGet || r.Method == http.MethodHead
	if changes == nil || asks && canAsk {
		return false
	}
	do := changes[r.Method]
	switch {
	case do == nil:
		methods := slices.Sorted(maps.Keys(changes))
		if canAsk {
			methods = append([]string{http.MethodGet, http.MethodHead}, methods...)
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		types.NewProblem(http.StatusMethodNotAllowed, "%s is not possible, only %s", r.Method, strings.Join(methods, ", ")).Write(w)
	case h.cfg.Alerts == nil && needsAlerts(r.URL.Path):
		noAlerts().Write(w)
	default:
		do(w, r)
	}
	return true
}

// readBody reads a body of JSON into v: one value, without keys that are not known.
func readBody(r *http.Request, v any) *types.Problem {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return types.NewProblem(http.StatusUnsupportedMediaType, "want a body of application/json")
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more than one value")
		}
	}
	if err != nil {
		return types.NewProblem(http.StatusBadRequest, "the body cannot be read: %v", err)
	}
	return nil
}

// writeStatus writes an answer with a status.
func writeStatus(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that who asked is gone
}
