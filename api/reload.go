package api

import (
	"net/http"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
)

// reload answers POST /api/v1/reload.
func (h *handler) reload(w http.ResponseWriter, r *http.Request, _ *params) {
	by := "the API"
	if name := auth.From(r.Context()).Name; name != "" {
		by = name
	}
	answer, err := h.cfg.Reload(r.Context(), by)
	if err != nil {
		types.NewProblem(http.StatusConflict, "the configuration was not reloaded; everything stays as it was: %v",
			err).Write(w)
		return
	}
	writeAnswer(w, answer)
}

func needReload(c *Config) *types.Problem {
	if c.Reload != nil {
		return nil
	}
	return types.NewProblem(http.StatusNotFound, "this server has no configuration to reload")
}
