package fabric

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"
)

func be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// frames is a Tap that keeps the frames of one link.
type frames struct {
	link string
	list []tapped
}

type tapped struct {
	fromFirst bool
	atNs      uint64
	frame     []byte
}

func (t *frames) Frame(link string, fromFirst bool, atNs uint64, frame []byte) error {
	if link == t.link {
		t.list = append(t.list, tapped{fromFirst, atNs, slices.Clone(frame)})
	}
	return nil
}

// A rater is a Tap that finds links which carry more than they can.
type rater struct {
	t    *testing.T
	f    *Fabric
	free map[string]uint64 // when the last bit of the last frame was in the link
	sent map[string]uint64 // bits with framing
	from uint64
}

func (r *rater) Frame(name string, fromFirst bool, atNs uint64, frame []byte) error {
	var l *link
	for _, l = range r.f.links {
		if l.name == name {
			break
		}
	}
	if fromFirst {
		name += " forth"
	}
	bits := uint64(max(len(frame)+24, 84) * 8)
	if atNs < r.free[name] {
		r.t.Errorf("%s: a frame at %d, the link is free at %d", name, atNs, r.free[name])
	}
	r.free[name] = atNs + (bits*1e9+l.bps-1)/l.bps
	r.sent[name] += bits
	if elapsed := r.free[name] - r.from; float64(r.sent[name]) > float64(l.bps)*float64(elapsed)/1e9+1 {
		r.t.Errorf("%s: %d bits in %d ns", name, r.sent[name], elapsed)
	}
	return nil
}

// Frames do not overlap on a link, and no link carries more than its rate, also when switches become faster.
func TestLinkRate(t *testing.T) {
	r := &rater{t: t, free: map[string]uint64{}, sent: map[string]uint64{}, from: 1e18}
	r.f = newFabric(t, everything, Options{Tap: r, EpochNs: 1e18})
	run(t, r.f, 250*time.Millisecond)
	if len(r.sent) != 2*len(r.f.links) {
		t.Errorf("%d of %d directions were used", len(r.sent), 2*len(r.f.links))
	}
}

// A link takes the time of the frame with its framing, rounded up.
func TestSerial(t *testing.T) {
	for _, test := range []struct {
		bps  uint64
		n    int
		want int64
	}{
		{1e9, 1514, 12304},
		{100e9, 1514, 124}, // 123.04
		{10e9, 60, 68},     // 67.2: the smallest
		{10e9, 40, 68},
		{1000, 9014, 72304e6},
	} {
		l := link{bps: test.bps}
		if got := l.serialNs(test.n); got != test.want {
			t.Errorf("%d bytes at %d bit/s: got %d ns, want %d", test.n, test.bps, got, test.want)
		}
	}
}

// A meter says what left in the last period.
func TestMeter(t *testing.T) {
	var m meter
	for i := range int64(1000) {
		m.add(i*1000, 125) // 1 Gbit/s
	}
	if got := m.rate(1e6); got < 99e7 || got > 101e7 {
		t.Errorf("got %d", got)
	}
	if got := m.rate(100e6); got > 2e6 {
		t.Errorf("after a pause: %d", got)
	}
	if got := m.rate(200e6); got != 0 {
		t.Errorf("after a long pause: %d", got)
	}
}
