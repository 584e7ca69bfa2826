package telemetry

// An Origin says where the accounts of the exporters are kept that the reports of a batch came from. Whoever takes the
// reports counts there what becomes of them.
type Origin struct {
	Socket   uint32 // number of the socket that they came by
	Turn     uint32 // number of the interval of its ledger in which they arrived; 0: nobody keeps accounts
	Accounts uint32 // accounts that there are: no Report.Account is larger
	Repeated int    // datagrams that came again
}

// Attribute notes where the reports of the batch came from, and takes those of datagrams that came again out of it.
// headers are those of all datagrams that were decoded into it, in order, and no others.
func (b *Batch) Attribute(o Origin, headers []Header) {
	b.Origin = o
	if o.Repeated > 0 {
		b.dropRepeated(headers)
	}
	next := 0
	for i := range headers {
		h := &headers[i]
		if h.Repeated {
			continue
		}
		for range h.Reports {
			b.Reports[next].Account = h.Account
			next++
		}
	}
}

// dropRepeated takes the reports of datagrams that came again out of the batch.
func (b *Batch) dropRepeated(headers []Header) {
	kept, next := 0, 0
	for i := range headers {
		h := &headers[i]
		if !h.Repeated {
			if kept != next {
				copy(b.Reports[kept:], b.Reports[next:next+h.Reports])
			}
			kept += h.Reports
		}
		next += h.Reports
	}
	b.Reports = b.Reports[:kept]
}
