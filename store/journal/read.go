package journal

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"hash/crc32"
	"io"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

var (
	errDamaged = errors.New("the journal is damaged")
	errNewer   = errors.New("not a journal that this version can read")
)

// frames reads what is in the frames of a file, up to the first that is not whole.
type frames struct {
	from *bufio.Reader
	left []byte
	size int64 // of the frames that were read
	err  error
}

func (r *frames) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		if r.err == nil {
			r.err = r.next()
		}
		if r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

func (r *frames) next() error {
	var h [frameHead]byte
	if _, err := io.ReadFull(r.from, h[:]); err != nil {
		return io.EOF
	}
	n := int(binary.LittleEndian.Uint32(h[:]))
	if n > 2*maxFile {
		return errDamaged
	}
	body, err := io.ReadAll(io.LimitReader(r.from, int64(n))) // which takes no more memory than there is in the file
	if err != nil || len(body) < n {
		return io.EOF
	}
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(h[4:]) {
		return errDamaged
	}
	r.left = body
	r.size += int64(frameHead + n)
	return nil
}

// A flowRecords is what is known of a flow of the interval.
type flowRecords struct{ gone, open []telemetry.FlowInterval }

// read puts together what a file says of its interval, up to the note with the number until; later is where in the file
// the notes behind that begin, 0 if there are none. The error says why it ends before its end; what is before that is
// valid.
func read(from io.Reader, until uint64) (all *telemetry.SoFar, later int64, err error) {
	b := bufio.NewReaderSize(from, 1<<20)
	line := make([]byte, len(head))
	if _, err := io.ReadFull(b, line); err != nil {
		return nil, 0, errDamaged // the process was killed as it began
	}
	if string(line) != head {
		return nil, 0, errNewer
	}
	in := &frames{from: b}
	decoder := gob.NewDecoder(in)
	all = &telemetry.SoFar{}
	flows := map[telemetry.FlowKey]*flowRecords{}
	for {
		var r telemetry.SoFar
		begin := int64(len(head)) + in.size
		if err = decoder.Decode(&r); err != nil {
			break
		}
		if r.Number > until {
			later, err = begin, nil
			break
		}
		all.StartNs = r.StartNs
		merge(all, &r, flows)
	}
	for _, f := range flows {
		all.Flows = append(append(all.Flows, f.gone...), f.open...)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return all, later, err
}

// merge takes what was noted later.
func merge(all, r *telemetry.SoFar, flows map[telemetry.FlowKey]*flowRecords) {
	of := func(k *telemetry.FlowKey) *flowRecords {
		f := flows[*k]
		if f == nil {
			f = &flowRecords{}
			flows[*k] = f
		}
		return f
	}
	for i := range r.Gone {
		f := of(&r.Gone[i].Key)
		f.gone, f.open = append(f.gone, r.Gone[i]), nil
	}
	for i := range r.Flows {
		of(&r.Flows[i].Key).open = nil
	}
	for i := range r.Flows {
		f := of(&r.Flows[i].Key)
		f.open = append(f.open, r.Flows[i])
	}
	before := all.Intervals
	all.Intervals = r.Intervals
	all.Flows, all.Routes = nil, append(before.Routes, r.Routes...)
	// Of hops and queues there is more than one interval.
	all.Hops = later(before.Hops, r.Hops, func(h *telemetry.HopInterval) int64 { return h.StartNs })
	all.Queues = later(before.Queues, r.Queues, func(q *telemetry.QueueInterval) int64 { return q.StartNs })
}

// later puts records in the place of those of the same interval.
func later[R any](before, now []R, startNs func(*R) int64) []R {
	if len(now) == 0 {
		return before
	}
	start := startNs(&now[0])
	return append(slices.DeleteFunc(before, func(r R) bool { return startNs(&r) == start }), now...)
}
