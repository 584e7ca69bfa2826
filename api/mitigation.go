package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/mitigate"
	"github.com/waybill-int/waybill/telemetry"
)

// Mitigation acts on attacks. *mitigate.Manager is one.
type Mitigation interface {
	Mitigate(ctx context.Context, attack string, r mitigate.Request) (*telemetry.Mitigation, error)
	Release(ctx context.Context, attack, who string) (*telemetry.Mitigation, error)
	// Rules and Actions are those of an attack, or of all if it is "".
	Rules(attack string) []telemetry.MitigationRule
	Actions(attack string) []telemetry.MitigationAction
	Counts() map[mitigate.Count]uint64
}

func needMitigation(c *Config) *types.Problem {
	if c.Mitigation != nil {
		return nil
	}
	return types.NewProblem(http.StatusNotFound,
		"nothing that drops is configured: `mitigation` in the configuration wants nodes, bgp or webhook")
}

// mitigate answers POST /api/v1/attacks/ID/mitigate.
func (h *handler) mitigate(w http.ResponseWriter, r *http.Request, p *params) {
	var wanted types.NewMitigation
	if problem := readBody(r, &wanted); problem != nil {
		problem.Write(w)
		return
	}
	request := mitigate.Request{
		By: wanted.By, DryRun: wanted.DryRun, Broad: wanted.Broad, Who: auth.From(r.Context()).Name,
	}
	if wanted.For != "" {
		var err error
		if request.For, err = filter.ParseDuration(wanted.For); err != nil || request.For <= 0 {
			problem := types.NewProblem(http.StatusBadRequest, "for: got %.40q, want a duration such as 1h", wanted.For)
			problem.Parameter = "for"
			problem.Write(w)
			return
		}
	}
	answer, err := h.cfg.Mitigation.Mitigate(r.Context(), p.id, request)
	h.writeMitigation(w, p.id, answer, err)
}

// release answers POST /api/v1/attacks/ID/release.
func (h *handler) release(w http.ResponseWriter, r *http.Request, p *params) {
	answer, err := h.cfg.Mitigation.Release(r.Context(), p.id, auth.From(r.Context()).Name)
	if errors.Is(err, mitigate.ErrNoAttack) {
		types.NewProblem(http.StatusNotFound, "there is no rule against attack %.40q", p.id).Write(w)
		return
	}
	h.writeMitigation(w, p.id, answer, err)
}

func (h *handler) writeMitigation(w http.ResponseWriter, id string, answer *telemetry.Mitigation, err error) {
	switch {
	case err == nil:
		writeStatus(w, http.StatusOK, answer)
	case errors.Is(err, mitigate.ErrNoAttack):
		types.NewProblem(http.StatusNotFound, "there is no attack %.40q that goes on; %sattacks lists them", id,
			api).Write(w)
	case mitigate.IsRefused(err):
		types.NewProblem(http.StatusConflict, "%v", err).Write(w)
	default: // what drops did not take it
		types.NewProblem(http.StatusBadGateway, "%v", err).Write(w)
	}
}
