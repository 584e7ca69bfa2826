package report

import "github.com/waybill-int/waybill/wire"

// MaxReports is how many reports of one packet Reports reads. A report can be as short as 4 bytes, and more than 16,000
// of those, all empty, fit in a datagram. The shortest report with any telemetry, one word of metadata, has 16 bytes,
// and at most 4,094 of those fit: the limit stops only packets that are made to keep a collector busy.
const MaxReports = 4096

// Reports walks the individual reports of a packet of version 2.0 (TR 2.0 §3.3). It continues behind a report that is
// unusable but whose length is known, and it keeps what was read before the packet broke. It allocates nothing.
//
//	n, err := group.Decode(payload)
//	...
//	var reports report.Reports
//	reports.Reset(payload[n:])
//	for reports.Next(&r) {
//		if err := reports.Err(); err != nil {
//			// Count err; r is unusable, but the next report may be good.
//			continue
//		}
//		// Use r.
//	}
//	if err := reports.Err(); err != nil {
//		// Count err: from here on the packet is lost.
//	}
type Reports struct {
	rest    []byte
	read    int  // reports that Next returned true for
	good    bool // one of them was usable
	err     error
	trailer []byte
}

// Reset starts at b, which is the UDP payload behind its group header. The views in the reports are views of b.
func (rs *Reports) Reset(b []byte) { *rs = Reports{rest: b} }

// Next decodes the next report into r and tells whether there is one. Then Err is the error of this report (nil if it
// is usable). If there is none, Err is the reason why the rest of the packet is lost, nil if nothing is:
//
//   - ErrNoReport: the packet has no report at all.
//   - ErrReportLengthOverrun: a report goes past the end of the packet, and no report before it was good. After a good
//     one, the bytes are not an error but a trailer.
//   - ErrTooManyReports: there are more than MaxReports.
//
// Up to 3 bytes behind the last report are padding.
func (rs *Reports) Next(r *V20) bool {
	rs.err = nil
	if len(rs.rest) < v20FirstWordLen {
		if rs.read == 0 {
			rs.err = wire.ErrNoReport
		}
		return false
	}
	if rs.read == MaxReports {
		rs.err = wire.ErrTooManyReports
		return false
	}
	n, err := r.Decode(rs.rest)
	if n == 0 { // ErrReportLengthOverrun: the only error that hides where the next report begins
		if rs.good {
			rs.trailer = view(rs.rest, 0, len(rs.rest))
		} else {
			rs.err = err
		}
		return false
	}
	rs.rest = rs.rest[n:]
	rs.read++
	rs.good = rs.good || err == nil
	rs.err = err
	return true
}

// Err returns the error of the last Next.
func (rs *Reports) Err() error { return rs.err }

// Trailer returns the bytes behind the last report that are no report: known senders append some. It is nil before Next
// has returned false, and a view.
func (rs *Reports) Trailer() []byte { return rs.trailer }
