package ledger

import "github.com/waybill-int/waybill/telemetry"

// A Cursor is how far a reader has read the accounts of Exporters. It is the reader's own; the zero value has read
// nothing.
type Cursor struct{ accounts []accountReading }

// An accountReading is what was read of an exporter.
type accountReading struct {
	counts
	lost uint64
}

// AppendSince appends what exporters sent since the last time, and what was lost of it, as records of the interval that
// began at startNs (nanoseconds since 1970). If advance is set it notes them as read.
func (e *Exporters) AppendSince(list []telemetry.ExporterInterval, last *Cursor, startNs int64,
	advance bool,
) []telemetry.ExporterInterval {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, x := range e.accounts {
		if i == len(last.accounts) {
			last.accounts = append(last.accounts, accountReading{})
		}
		if x.forgotten {
			continue
		}
		now, before := accountReading{x.counts().corrected(), 0}, last.accounts[i]
		known := x.lossKnown()
		if known == lossIsKnown {
			now.lost = x.lost()
		}
		n := now.minus(before.counts)
		if advance {
			last.accounts[i] = now
		}
		if n.received == 0 {
			continue
		}
		r := telemetry.ExporterInterval{
			StartNs: startNs, Source: x.key.Source, Node: x.key.Node, HWID: x.key.HWID, HasNode: x.key.HasNode,
			HasHWID: x.key.Header,
			Dialect: x.dialect, LossKnown: known, Received: n.received, Reports: n.reports,
			Lost:      int64(now.lost - before.lost),
			Reordered: int64(n.reordered), Restarted: int64(n.restarted), Malformed: n.malformed, Damaged: n.damaged,
		}
		if known == lossIsKnown { // else nothing tells of duplicates either
			r.Duplicate = int64(n.duplicate)
		}
		if x.key.Header {
			r.Version = x.key.Version.String()
		}
		list = append(list, r)
	}
	return list
}
