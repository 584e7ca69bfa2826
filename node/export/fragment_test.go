package export

import (
	"bytes"
	"maps"
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/report"
)

// A fragment ends at a word boundary, or is padded where a reader can tell the padding from the packet.
func TestFragmentLength(t *testing.T) {
	arp := make([]byte, 45)
	arp[12], arp[13] = 8, 6
	whole := func(payload int) []byte { p := newPacket(1, false, 0, payload); return p.frame[14:] }
	for _, tc := range []struct {
		name         string
		kind         uint8
		fragment     []byte
		truncate     int
		words, bytes int // of the fragment in the report, of the packet in it
	}{
		{"whole words", report.InIPv4, whole(32), 0, 15, 60},
		{"a byte more", report.InIPv4, whole(33), 0, 16, 61},
		{"two bytes more", report.InIPv4, whole(34), 0, 16, 62},
		{"three bytes more", report.InIPv4, whole(35), 0, 16, 63},
		{"cut by the node before", report.InIPv4, whole(100)[:63], 0, 15, 60},
		{"cut by the node at a word", report.InIPv4, whole(100)[:64], 0, 16, 64},
		{"a byte behind the packet", report.InIPv4, append(whole(33), 1), 0, 16, 61},
		{"two bytes behind the packet", report.InIPv4, append(whole(33), 1, 2), 0, 16, 61},
		{"as many as make words", report.InIPv4, append(whole(33), 1, 2, 3), 0, 16, 61},
		{"two bytes more and one behind", report.InIPv4, append(whole(34), 1), 0, 16, 62},
		{"more behind it than words need", report.InIPv4, append(whole(35), 1, 2, 3), 0, 16, 63},
		{"no IP to tell the length", report.InEthernet, arp, 0, 11, 44},
		{"truncated", report.InIPv4, whole(100), 100, 25, 100},
		{"truncated between words", report.InIPv4, whole(100), 103, 25, 100},
		{"as long as the limit", report.InIPv4, whole(75), 103, 26, 103},
		{"a byte longer than the limit", report.InIPv4, whole(76), 103, 25, 100},
	} {
		c := config(TR20)
		c.Truncate = tc.truncate
		r := newRig(t, c)
		v := r.only(r.one(Report{Kind: tc.kind, Fragment: tc.fragment, Keep: 80}))
		padding := report.FragmentPadding(v.Inner, tc.kind)
		if len(v.Inner) != 4*tc.words || len(v.Inner)-padding != tc.bytes ||
			!bytes.Equal(v.Inner[:tc.bytes], tc.fragment[:tc.bytes]) {
			t.Errorf("%s: got %d bytes, %d of them padding, want %d words with %d bytes", tc.name, len(v.Inner),
				padding, tc.words, tc.bytes)
		}
		cut, short := uint64(0), uint64(0)
		if 4*tc.words < len(tc.fragment) {
			cut = 1
		}
		if tc.bytes < 80 {
			short = 1
		}
		if s := r.Stats(); s.Cut != cut || s.CutShort != short {
			t.Errorf("%s: got %d cut, %d cut short, want %d, %d", tc.name, s.Cut, s.CutShort, cut, short)
		}
	}
}

// Older versions have no length, so the fragment needs no padding.
func TestFragmentOfOlderVersions(t *testing.T) {
	for _, f := range []Format{TR05, TR10} {
		c := config(f)
		r := newRig(t, c)
		p := newPacket(1, false, 0, 33)
		d := r.one(p.report(report.InEthernet))
		if !bytes.HasSuffix(d.Payload, p.frame) {
			t.Errorf("%s: got %x, want it to end in %x", f, d.Payload, p.frame)
		}
		c.Truncate = 70
		d = newRig(t, c).one(p.report(report.InEthernet))
		if !bytes.HasSuffix(d.Payload, p.frame[:68]) {
			t.Errorf("%s: got %x, want it to end in %x", f, d.Payload, p.frame[:68])
		}
	}
}

// A report of 255 words or more runs to the end of the datagram, without padding, and is the last in it.
func TestReportLength255(t *testing.T) {
	c := config(TR20)
	c.CoalesceNs = 1000
	for _, tc := range []struct {
		fragment int
		length   uint8
		inner    int
	}{
		{1015, 254, 1016},
		{1016, 254, 1016},
		{1017, 255, 1017},
		{1018, 255, 1018},
		{1020, 255, 1020},
		{1021, 255, 1021},
		{1400, 255, 1400},
		{1460, 255, 1460},
		{1461, 255, 1460},
		{1500, 255, 1460},
	} {
		r := newRig(t, c)
		p := newPacket(1, false, 0, tc.fragment-28)
		big, small := p.report(report.InIPv4), Report{Flow: p.flow.Hash()}
		for _, about := range []*Report{&big, &small} {
			if err := r.Add(about, 0); err != nil {
				t.Fatal(err)
			}
		}
		r.Drain(0)
		first := r.sent.Datagrams()[0]
		var rs report.Reports
		var v report.V20
		rs.Reset(first.Payload[groupLen:])
		if !rs.Next(&v) || v.ReportLength != tc.length || len(v.Inner) != tc.inner {
			t.Errorf("%d bytes: got Report Length %d with %d bytes, want %d with %d", tc.fragment, v.ReportLength,
				len(v.Inner), tc.length, tc.inner)
		}
		together := tc.length < 255
		if rs.Next(&v) != together || len(r.sent.Datagrams()) == 1 != together {
			t.Errorf("%d bytes: got %d datagrams", tc.fragment, len(r.sent.Datagrams()))
		}
	}
}

// An empty report has 4 bytes: more of them than a collector reads fit in a large datagram.
func TestReportsInADatagram(t *testing.T) {
	c := config(TR20)
	c.CoalesceNs, c.MTU = 1000, 65535
	r := newRig(t, c)
	for range report.MaxReports + 1 {
		if err := r.Add(&Report{}, 0); err != nil {
			t.Fatal(err)
		}
	}
	r.Drain(0)
	if got := r.sent.Datagrams(); len(got) != 2 || got[0].Reports != report.MaxReports || got[1].Reports != 1 {
		t.Errorf("got %d datagrams, the first with %d reports", len(got), got[0].Reports)
	}
}

func TestRefusals(t *testing.T) {
	p := newPacket(1, false, 0, 100)
	for _, tc := range []struct {
		format Format
		report Report
		want   Error
	}{
		{TR20, Report{HWID: 64}, ErrHWID},
		{TR05, Report{}, ErrNoFragment},
		{TR10, Report{}, ErrNoFragment},
		{TR05, p.report(report.InIPv4), ErrFragmentKind},
		{TR20, Report{Kind: report.InTLV, Fragment: p.frame}, ErrFragmentKind},
		{TR10, Report{Kind: report.InIPv6, Fragment: p.frame[14:]}, ErrFragmentStart},
		{TR20, Report{Kind: report.InIPv4, Fragment: p.frame[14:30]}, ErrFragmentStart},
		{TR20, Report{DomainID: 0x1234, DSMdBits: 0x2000}, ErrDomainMetadata},
		{TR20, Report{DomainID: 0x7777, DSMdBits: 0x8000, DSMetadata: make([]byte, 124)}, ErrTooLong},
		{TR20, Report{
			DomainID: 0x1234, DSMdBits: 0xA400, DSMetadata: make([]byte, 24), Kind: report.InIPv4,
			Fragment: p.frame[14:], Metadata: report.Metadata{Bits: sendable},
		}, ErrTooLong},
	} {
		c := config(tc.format)
		c.MTU, c.Domains = 128, maps.Clone(testDomains)
		c.Domains[0x7777] = &codepoint.Domain{0: {Bytes: 124}}
		r := newRig(t, c)
		if err := r.Add(&tc.report, 0); err != tc.want || r.Stats().Refused[tc.want] != 1 || r.Stats().Reports != 0 {
			t.Errorf("%s, %+v: got %v, %+v, want %v", tc.format, tc.report, err, r.Stats(), tc.want)
		}
		if _, waits := r.Deadline(); waits || len(r.sent.Datagrams()) != 0 {
			t.Errorf("%s: a refused report left something", tc.want)
		}
	}
	if Error(0).Error() != "unknown error" || NumErrors.Error() != "unknown error" {
		t.Error("got a text for an error that is none")
	}
	for e := Error(1); e < NumErrors; e++ {
		if e.Error() == "" {
			t.Errorf("error %d has no text", e)
		}
	}
}
