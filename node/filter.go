package node

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/node/watch"
)

// A Filter says which packets a node drops as they arrive, and until when. What is not set is any. What it drops is
// reported, whatever the watchlists say.
type Filter struct {
	ID       string    `json:"id"`
	Device   string    `json:"device,omitempty"` // MAC address of the sender
	Source   string    `json:"source,omitempty"` // prefix
	Target   string    `json:"target"`           // prefix
	Protocol string    `json:"protocol,omitempty"`
	Port     uint16    `json:"port,omitempty"` // destination
	Until    time.Time `json:"until"`          // it ends then by itself
	Packets  uint64    `json:"packets"`        // that it dropped
}

// A FilterMatch is what a Filter drops.
type FilterMatch struct {
	// Entry has the prefixes, ports and the protocol; the rest of it does not count. It is of one family.
	Entry watch.Entry
	// MAC is the address of the sender, in the lower 48 bits; 0: any.
	MAC uint64
}

// maxFilterTime is how long a filter may hold: one that nobody remembers would be a riddle.
const maxFilterTime = 7 * 24 * time.Hour

// ErrNoFilter says that there is no such filter.
var ErrNoFilter = errors.New("there is no such filter")

// Match returns what f drops, or what is wrong with it.
func (f *Filter) Match(now time.Time) (*FilterMatch, error) {
	b := &FilterMatch{}
	if f.ID == "" || len(f.ID) > 64 {
		return nil, errors.New("id: want 1 to 64 characters")
	}
	if f.Device != "" {
		mac, err := net.ParseMAC(f.Device)
		if err != nil || len(mac) != 6 {
			return nil, fmt.Errorf("device: got %q, want a MAC address", f.Device)
		}
		b.MAC = uint64(binary.BigEndian.Uint16(mac))<<32 | uint64(binary.BigEndian.Uint32(mac[2:]))
	}
	for key, prefix := range map[string]struct {
		text string
		to   *watch.Prefix
	}{"source": {f.Source, &b.Entry.Src}, "target": {f.Target, &b.Entry.Dst}} {
		if prefix.text == "" && key == "source" {
			continue
		}
		p, err := unit.ParsePrefix(prefix.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		*prefix.to = p
	}
	if f.Protocol != "" {
		var p watch.Protocol
		if err := p.UnmarshalText([]byte(f.Protocol)); err != nil {
			return nil, fmt.Errorf("protocol: %w", err)
		}
		b.Entry.Protocol = &p
	}
	if f.Port != 0 {
		b.Entry.DstPort = &watch.PortRange{Low: f.Port, High: f.Port}
	}
	if !now.Before(f.Until) || f.Until.Sub(now) > maxFilterTime {
		return nil, fmt.Errorf("until: got %v, want a time in the next 7 days", f.Until.Format(time.RFC3339))
	}
	return b, nil
}

// Filters are those of a node.
type Filters interface {
	Filters(ctx context.Context) ([]Filter, error)
	// AddFilter adds a filter until its time is over. One with an id that is there already holds until the new time.
	AddFilter(ctx context.Context, f Filter) error
	// RemoveFilter removes a filter; the error is ErrNoFilter if it is not there.
	RemoveFilter(ctx context.Context, id string) error
}

// FilterHandler returns the API of the filters of a node: GET /filter, POST /filter with one, DELETE /filter/ID.
func FilterHandler(n Filters) http.Handler {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, value any, err error) {
		switch {
		case errors.Is(err, ErrNoFilter):
			http.Error(w, err.Error(), http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(value)
		}
	}
	mux.HandleFunc("GET /filter", func(w http.ResponseWriter, r *http.Request) {
		list, err := n.Filters(r.Context())
		answer(w, list, err)
	})
	mux.HandleFunc("POST /filter", func(w http.ResponseWriter, r *http.Request) {
		f := Filter{}
		d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16))
		d.DisallowUnknownFields()
		err := d.Decode(&f)
		if err == nil {
			err = n.AddFilter(r.Context(), f)
		}
		answer(w, struct{}{}, err)
	})
	mux.HandleFunc("DELETE /filter/{id}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, struct{}{}, n.RemoveFilter(r.Context(), r.PathValue("id")))
	})
	return mux
}
