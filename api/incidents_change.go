package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/analyze/incident"
	"github.com/waybill-int/waybill/api/auth"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// maxNote is how long a note is at most, in bytes.
const maxNote = 2000

// acknowledgeIncident answers POST /api/v1/incidents/ID/acknowledge: the cause is acknowledged, with which it is kept.
func (h *handler) acknowledgeIncident(w http.ResponseWriter, r *http.Request, p *params) {
	var note types.NewNote
	n, ok := h.changedIncident(w, p.id)
	if !ok || !readNote(w, r, &note) {
		return
	}
	by, at := auth.From(r.Context()).Name, h.cfg.Now().UTC()
	h.cfg.Events.Acknowledge(n.Events[0].ID, telemetry.Acknowledgement{By: by, At: at})
	if note.Text != "" {
		h.cfg.Events.AddNote(n.Events[0].ID, telemetry.Note{By: by, At: at, Text: note.Text})
	}
	h.writeIncident(w, p.id)
}

// takeBackIncident answers DELETE /api/v1/incidents/ID/acknowledge: that of all its events is taken back.
func (h *handler) takeBackIncident(w http.ResponseWriter, _ *http.Request, p *params) {
	n, ok := h.changedIncident(w, p.id)
	if !ok {
		return
	}
	for i := range n.Events {
		h.cfg.Events.TakeBack(n.Events[i].ID)
	}
	h.writeIncident(w, p.id)
}

// noteIncident answers POST /api/v1/incidents/ID/notes.
func (h *handler) noteIncident(w http.ResponseWriter, r *http.Request, p *params) {
	var note types.NewNote
	n, ok := h.changedIncident(w, p.id)
	if !ok || !readNote(w, r, &note) {
		return
	}
	if note.Text == "" {
		problem := types.NewProblem(http.StatusBadRequest, "text: a note is missing")
		problem.Parameter = "text"
		problem.Write(w)
		return
	}
	h.cfg.Events.AddNote(n.Events[0].ID,
		telemetry.Note{By: auth.From(r.Context()).Name, At: h.cfg.Now().UTC(), Text: note.Text})
	h.writeIncident(w, p.id)
}

// silenceIncident answers POST /api/v1/incidents/ID/silence with the silence that it made.
func (h *handler) silenceIncident(w http.ResponseWriter, r *http.Request, p *params) {
	var wanted types.SilenceIncident
	n, ok := h.changedIncident(w, p.id)
	if !ok {
		return
	}
	if problem := readBody(r, &wanted); problem != nil {
		problem.Write(w)
		return
	}
	h.silence(w, types.NewSilence{
		Filter: silenceFilter(n), For: wanted.For,
		Reason: cmp.Or(wanted.Reason, "incident "+n.ID+": "+n.Text),
	})
}

// silenceFilter selects the events of an incident, and what its cause may begin again at the same place.
func silenceFilter(n *telemetry.Incident) string {
	ids := make([]string, len(n.Events))
	for i := range n.Events {
		ids[i] = fmt.Sprintf("%q", n.Events[i].ID)
	}
	selects := "id in (" + strings.Join(ids, ", ") + ")"
	if n.Node == nil {
		return selects
	}
	again := fmt.Sprintf("kind = %s and node = %d", n.Kind, *n.Node)
	if n.Port != nil {
		again += fmt.Sprintf(" and egress_port = %d", *n.Port)
	}
	return selects + " or (" + again + ")"
}

// changedIncident returns an incident of now, or answers that there is none.
func (h *handler) changedIncident(w http.ResponseWriter, id string) (*telemetry.Incident, bool) {
	n, ok := incident.Find(h.cfg.Incidents.Incidents(), id)
	if !ok {
		types.NewProblem(http.StatusNotFound, "there is no incident with an event %.40q in memory", id).Write(w)
	}
	return n, ok
}

func readNote(w http.ResponseWriter, r *http.Request, note *types.NewNote) bool {
	problem := readBody(r, note)
	if problem == nil && len(note.Text) > maxNote {
		problem = types.NewProblem(http.StatusBadRequest, "text: longer than %d bytes", maxNote)
		problem.Parameter = "text"
	}
	if problem != nil {
		problem.Write(w)
	}
	return problem == nil
}

// writeIncident answers with an incident as it is now.
func (h *handler) writeIncident(w http.ResponseWriter, id string) {
	if n, ok := h.changedIncident(w, id); ok {
		h.writeOneIncident(w, n)
	}
}

// streamIncidents answers GET /api/v1/incidents/stream with server-sent events: each incident when it begins, whenever
// more belongs to it or it is acknowledged, and when it is over. It is as streamEvents else.
func (h *handler) streamIncidents(w http.ResponseWriter, r *http.Request, p *params) {
	p.accepted(r.Header, types.MediaStream)
	matches := filtered(h, p.filter(), filter.IncidentTable.Row)
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	h.streamChanges(w, r, "incidents", func(s *stream) eventFollower {
		told, first := map[string]string{}, true // states of incidents that were sent, or need not be
		news := map[string]bool{}                // events that are over since the last look
		ended := func(e *telemetry.Event) error {
			news[e.ID] = true
			return nil
		}
		isNews := func(e telemetry.IncidentEvent) bool { return news[e.ID] }
		open := func([]telemetry.Event) error {
			list := h.cfg.Incidents.Incidents()
			var changed []telemetry.Incident
			still := make(map[string]string, len(list))
			for i := range list {
				n := &list[i]
				state := incidentState(n)
				still[n.ID] = state
				if told[n.ID] == state || first && n.End != nil && !slices.ContainsFunc(n.Events, isNews) {
					continue
				}
				if matches == nil || matches(n) {
					changed = append(changed, *n)
				}
			}
			for i := range changed {
				if err := s.send("incident", &changed[i]); err != nil {
					return err
				}
			}
			told, first = still, false
			clear(news)
			return nil
		}
		return eventFollower{ended, open}
	})
}

// incidentState differs when something of an incident does that people are told of.
func incidentState(n *telemetry.Incident) string {
	state := fmt.Sprint(n.Severity, n.Text, n.End, len(n.Events), len(n.Notes))
	if n.Acknowledged != nil {
		state += n.Acknowledged.At.String()
	}
	return state
}
