package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

const (
	// maxStreams is how many streams are written at a time, maxFlowStreams how many of them are of flows, for each of
	// which the tables are read once a second. Half of the requests at a time (maxRequests) are for others.
	maxStreams, maxFlowStreams = 128, 64
	// streamEvery is how often a stream looks for what is new.
	streamEvery = time.Second
	// streamWrite is how long a client may take for what it is sent; who is slower is cut off, and may come back with
	// Last-Event-ID.
	streamWrite = 10 * time.Second
)

// streamEvents answers GET /api/v1/events/stream with server-sent events: each event when it begins, when its severity,
// text or acknowledgement changes, and when it is over. A client that cannot keep up holds up nobody: what is over and
// forgotten meanwhile is counted.
func (h *handler) streamEvents(w http.ResponseWriter, r *http.Request, p *params) {
	p.accepted(r.Header, types.MediaStream)
	matches := filtered(h, p.filter(), filter.EventTable.Row)
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	h.streamChanges(w, r, "", func(s *stream) eventFollower {
		told := map[string]string{} // states of open events that were sent
		send := func(e *telemetry.Event) error {
			e.Attack, e.Extent = nil, nil // as in lists of events
			if matches == nil || matches(e) {
				return s.send("event", e)
			}
			return nil
		}
		ended := func(e *telemetry.Event) error {
			delete(told, e.ID)
			return send(e)
		}
		open := func(list []telemetry.Event) error {
			still := make(map[string]string, len(list))
			for i := range list {
				e := &list[i]
				state := e.Severity.String() + e.Text
				if e.Acknowledged != nil {
					state += e.Acknowledged.At.String()
				}
				still[e.ID] = state
				if told[e.ID] != state {
					if err := send(e); err != nil {
						return err
					}
				}
			}
			told = still
			return nil
		}
		return eventFollower{ended, open}
	})
}

// An eventFollower sends what changes with the events of the log.
type eventFollower struct {
	ended func(*telemetry.Event) error  // called once for each event that is over
	open  func([]telemetry.Event) error // called each second behind ended, with the events that are not over
}

// streamChanges answers with what a follower sends. Events that are over and forgotten before it saw them are counted,
// beside none of what is lost, unless that is empty.
func (h *handler) streamChanges(w http.ResponseWriter, r *http.Request, lost string,
	begin func(*stream) eventFollower,
) {
	h.stream(w, r, func(s *stream) func() error {
		_, _, seen := h.cfg.Events.Since(1<<64 - 1) // none that is over by now
		if last, ok := h.lastID(r); ok && last < seen {
			seen = last
		}
		follower := begin(s)
		return func() error {
			list, over, now := h.cfg.Events.Since(seen)
			s.id = h.streamID(seen)
			if forgotten := now - seen - uint64(len(over)); forgotten > 0 {
				counts := map[string]uint64{"events": forgotten}
				if lost != "" {
					counts[lost] = 0
				}
				if err := s.send("lost", counts); err != nil {
					return err
				}
			}
			for i := range over {
				// not more than really ended up to this one: who comes back misses nothing
				s.id = h.streamID(seen + uint64(i) + 1)
				if err := follower.ended(&over[i]); err != nil {
					return err
				}
			}
			seen = now
			s.id = h.streamID(seen)
			return follower.open(list)
		}
	})
}

// streamID says how far a client has come: how many events had ended.
func (h *handler) streamID(ended uint64) string { return fmt.Sprintf("%d-%d", h.begun, ended) }

// lastID returns how far a client had come when it lost its stream, if it says so of this process: how many events had
// ended, or when the latest report about a flow came.
func (h *handler) lastID(r *http.Request) (uint64, bool) {
	begun, last, _ := strings.Cut(r.Header.Get("Last-Event-ID"), "-")
	n, err := strconv.ParseInt(last, 10, 64)
	if err != nil || n < 0 || begun != strconv.FormatInt(h.begun, 10) {
		return 0, false
	}
	return uint64(n), true
}

// flowOverlap is how much of the time before a stream of flows looks at again: reports wait for their turn, and one may
// be counted after others that came later.
const flowOverlap = time.Second

// streamFlows answers GET /api/v1/flows/stream with server-sent events: once a second the flows about which reports
// came since, at most limit of them; the others are counted.
func (h *handler) streamFlows(w http.ResponseWriter, r *http.Request, p *params) {
	p.accepted(r.Header, types.MediaStream)
	q := h.flowFilter(p)
	limit := q.Limit
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	release, ok := h.flowStreams.try()
	if !ok {
		tooManyStreams(w, maxFlowStreams, "streams of flows")
		return
	}
	defer release()
	h.stream(w, r, func(s *stream) func() error {
		newest, ok := h.lastID(r) // when the latest report about a flow came that was looked at, ns since 1970
		if !ok {
			newest = uint64(h.cfg.Now().UnixNano())
		}
		// the latest report about the flows that were sent, or need not be, in the last look
		told := map[string]time.Time{}
		return func() error {
			q.After, q.Limit = max(0, int64(newest)-flowOverlap.Nanoseconds()), limit+len(told)
			var flows []telemetry.Flow // the latest first
			var total int
			if !h.gathering.during(r.Context(), func() { flows, total = h.cfg.Collector.Flows(q) }) {
				return r.Context().Err()
			}
			now := make(map[string]time.Time, len(flows))
			n := 0
			for i := range flows {
				f := &flows[i]
				switch {
				case told[f.ID].Equal(f.Last):
				case n == limit:
					continue
				default:
					if err := s.send("flow", f); err != nil {
						return err
					}
					n++
				}
				now[f.ID] = f.Last
			}
			told = now
			if len(flows) > 0 { // not before: who comes back gets what was not sent
				newest = max(newest, uint64(flows[0].Last.UnixNano()))
				s.id = fmt.Sprintf("%d-%d", h.begun, newest)
			}
			if lost := total - len(now); lost > 0 {
				return s.send("lost", map[string]int{"flows": lost})
			}
			return nil
		}
	})
}

func tooManyStreams(w http.ResponseWriter, n int, what string) {
	retryAfter(w, time.Minute)
	types.NewProblem(http.StatusServiceUnavailable, "too many %s (limit %d)", what, n).Write(w)
}

// A stream is an answer of server-sent events.
type stream struct {
	w    http.ResponseWriter
	id   string // of what is sent now, if one can go on from there
	sent bool   // something, since the last look at it
}

// send writes an event.
func (s *stream) send(kind string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	id := ""
	if s.id != "" {
		id = "id: " + s.id + "\n"
	}
	s.sent = true
	_, err = fmt.Fprintf(s.w, "%sevent: %s\ndata: %s\n\n", id, kind, text)
	return err
}

// stream calls what begin returns once a second until the client is gone, too slow, or the server stops.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, begin func(*stream) func() error) {
	release, ok := h.streams.try()
	if !ok {
		tooManyStreams(w, maxStreams, "streams")
		return
	}
	defer release()
	w.Header().Set("Content-Type", types.MediaStream)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would wait for more
	if r.Method == http.MethodHead {
		return
	}
	control := http.NewResponseController(w)
	s := &stream{w: w}
	look := begin(s)
	ticker := time.NewTicker(streamEvery)
	defer ticker.Stop()
	fmt.Fprint(w, "retry: 3000\n\n")
	for said := time.Now(); ; {
		_ = control.SetWriteDeadline(time.Now().Add(streamWrite)) // where there is none, the server has its own
		_, err := h.cfg.Access.Identify(r, h.cfg.Now())           // who was let in may have been locked out since
		if err == nil {
			err = look()
		}
		if now := time.Now(); s.sent || now.Sub(said) >= types.HeartbeatEvery {
			said = now
			if !s.sent && err == nil {
				_, err = fmt.Fprint(w, ": nothing new\n\n")
			}
			s.sent = false
		}
		if err == nil {
			err = control.Flush()
		}
		if err != nil {
			h.cfg.Logger.Debug("stream ended", "path", r.URL.Path, "error", err)
			return
		}
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return
		case <-h.cfg.Stopping:
			return
		}
	}
}
