package report

import (
	"bytes"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

const (
	emptyReport = "00 00 00 20" // good
	badReport   = "10 01 00 00 00000000"
	overrun     = "14 28 02 20 50000000 00000000"
	latency     = "10 03 01 00 2000 0000 0000 0000 00000001" // good
)

func TestReports(t *testing.T) {
	for _, tc := range []struct {
		name    string
		hex     string
		reports []error // of each report that Next returned true for
		end     error
		trailer int // bytes
	}{
		{"no report", "", nil, wire.ErrNoReport, 0},
		{"no report but 3 bytes", "000000", nil, wire.ErrNoReport, 0},
		{"one report", latency, []error{nil}, nil, 0},
		{"three reports", latency + emptyReport + latency, []error{nil, nil, nil}, nil, 0},
		{"padding", latency + "ffffff", []error{nil}, nil, 0},
		{
			"a bad report between good ones", latency + badReport + latency,
			[]error{nil, wire.ErrINTContentsMissing, nil},
			nil, 0,
		},
		{"a bad report, then padding", badReport + "00", []error{wire.ErrINTContentsMissing}, nil, 0},
		{"the first report goes past the end", overrun, nil, wire.ErrReportLengthOverrun, 0},
		{"a later report goes past the end", latency + overrun, []error{nil}, nil, 12},
		{"after an opaque report", "20 01 00 00 00000000" + overrun, []error{nil}, nil, 12},
		{
			"after a bad report only", badReport + overrun,
			[]error{wire.ErrINTContentsMissing},
			wire.ErrReportLengthOverrun, 0,
		},
		{"4 bytes that are no report", latency + "00010000", []error{nil}, nil, 4},
		{"nothing behind Report Length 255", "00ff0000" + latency, []error{nil}, nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := wiretest.Hex(t, tc.hex)
			var rs Reports
			var r V20
			var got []error
			rs.Reset(b)
			for rs.Next(&r) {
				got = append(got, rs.Err())
			}
			if !slices.Equal(got, tc.reports) || rs.Err() != tc.end {
				t.Errorf("got reports %v, end %v; want %v, %v", got, rs.Err(), tc.reports, tc.end)
			}
			if !bytes.Equal(rs.Trailer(), b[len(b)-tc.trailer:]) {
				t.Errorf("trailer: got %x, want the last %d bytes", rs.Trailer(), tc.trailer)
			}
			if rs.Next(&r) || rs.Err() != tc.end {
				t.Errorf("Next after the end: got error %v, want %v again", rs.Err(), tc.end)
			}
		})
	}
}

func TestReportsStopsAtMaxReports(t *testing.T) {
	for _, tc := range []struct {
		reports int
		want    error
	}{
		{MaxReports, nil},
		{MaxReports + 1, wire.ErrTooManyReports},
		{16374, wire.ErrTooManyReports}, // a full datagram
	} {
		var rs Reports
		var r V20
		n := 0
		rs.Reset(make([]byte, 4*tc.reports))
		for rs.Next(&r) {
			n++
		}
		if n != MaxReports || rs.Err() != tc.want {
			t.Errorf("%d reports: got %d, %v; want %d, %v", tc.reports, n, rs.Err(), MaxReports, tc.want)
		}
	}
}

func TestReportsResetForgets(t *testing.T) {
	var rs Reports
	var r V20
	rs.Reset(wiretest.Hex(t, latency+overrun))
	for rs.Next(&r) {
	}
	rs.Reset(wiretest.Hex(t, overrun))
	if rs.Next(&r) || rs.Err() != wire.ErrReportLengthOverrun || rs.Trailer() != nil {
		t.Errorf("got %v, trailer %x; want %v, none", rs.Err(), rs.Trailer(), wire.ErrReportLengthOverrun)
	}
}

func TestReportsNoAllocs(t *testing.T) {
	b := wiretest.Hex(t, latency+badReport+emptyReport+overrun)
	var r V20
	allocs := testing.AllocsPerRun(100, func() {
		var rs Reports
		rs.Reset(b)
		for rs.Next(&r) {
		}
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

func BenchmarkReports(b *testing.B) {
	p := wiretest.Hex(b, v20BaselineHex+"\n"+v20AllHex+"\n"+v20DomainHex)
	var rs Reports
	var r V20
	b.ReportAllocs()
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		rs.Reset(p)
		for rs.Next(&r) {
		}
		if rs.Err() != nil {
			b.Fatal(rs.Err())
		}
	}
}
