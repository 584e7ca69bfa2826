package api

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
)

// Views keeps pages that were given a name.
type Views interface {
	// All returns the views by name.
	All() []types.View
	// Save keeps a view in the place of one with its name, if there is one, and returns it with its id. An error that
	// is not ErrManyViews says that it could not be written.
	Save(types.View) (types.View, error)
	// Remove removes a view; ErrNoView if there is none with that id.
	Remove(id string) error
}

// Errors of Views.
var (
	ErrManyViews = errors.New("there are too many saved views; remove some first")
	ErrNoView    = errors.New("there is no such view")
)

const (
	maxViewName    = 100 // characters
	maxViewAddress = 4096
)

// viewAddress is a page of the console with settings or none. Nothing else: who opens a view goes where it says.
var viewAddress = regexp.MustCompile(`^([a-z][a-z-]*)(\?[\x21-\x7e]*)?$`)

func (h *handler) allViews() []types.View { return h.cfg.Views.All() }

// addView answers POST /api/v1/views.
func (h *handler) addView(w http.ResponseWriter, r *http.Request, _ *params) {
	var wanted types.NewView
	if problem := readBody(r, &wanted); problem != nil {
		problem.Write(w)
		return
	}
	name := strings.TrimSpace(wanted.Name)
	wrong := func(parameter, format string, args ...any) {
		problem := types.NewProblem(http.StatusBadRequest, format, args...)
		problem.Parameter = parameter
		problem.Write(w)
	}
	page := viewAddress.FindStringSubmatch(wanted.Address)
	switch {
	case name == "" || utf8.RuneCountInString(name) > maxViewName || strings.ContainsFunc(name, unicode.IsControl):
		wrong("name", "name: got %.40q, want up to %d characters", wanted.Name, maxViewName)
		return
	case page == nil || len(wanted.Address) > maxViewAddress:
		wrong("address", "address: got %.40q, want a page of the console and its settings, such as explore?of=drops&by=node",
			wanted.Address)
		return
	}
	v, err := h.cfg.Views.Save(types.View{
		Name: name, Page: page[1], Address: wanted.Address, By: auth.From(r.Context()).Name, At: h.cfg.Now().UTC(),
	})
	switch {
	case errors.Is(err, ErrManyViews):
		types.NewProblem(http.StatusConflict, "%v", err).Write(w)
	case err != nil:
		h.cfg.Logger.ErrorContext(context.WithoutCancel(r.Context()), "a view cannot be saved", "error", err)
		types.NewProblem(http.StatusInternalServerError, "the view could not be written to disk").Write(w)
	default:
		w.Header().Set("Location", "views/"+v.ID)
		writeStatus(w, http.StatusCreated, v)
	}
}

// removeView answers DELETE /api/v1/views/ID.
func (h *handler) removeView(w http.ResponseWriter, r *http.Request, p *params) {
	switch err := h.cfg.Views.Remove(p.id); {
	case errors.Is(err, ErrNoView):
		types.NewProblem(http.StatusNotFound, "there is no view %.40q", p.id).Write(w)
	case err != nil:
		h.cfg.Logger.ErrorContext(context.WithoutCancel(r.Context()), "a view cannot be removed", "error", err)
		types.NewProblem(http.StatusInternalServerError, "the change could not be written to disk").Write(w)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
