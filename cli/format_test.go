package cli

import (
	"bufio"
	"bytes"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

func TestDuration(t *testing.T) {
	v, ascii := view{unicode: true}, view{}
	for ns, want := range map[float64]string{
		0: "0ns", 1: "1ns", 999: "999ns", 999.4: "999ns", 999.5: "1.00µs", 1000: "1.00µs", 9994: "9.99µs",
		9996: "10.0µs", 12345: "12.3µs",
		99940: "99.9µs", 99960: "100µs", 999400: "999µs", 999600: "1.00ms", 12345678: "12.3ms", 2.5e9: "2.50s",
		3.6e12: "3600s",
	} {
		if got := v.duration(ns); got != want {
			t.Errorf("%v: got %s, want %s", ns, got, want)
		}
	}
	if got := ascii.duration(12345); got != "12.3us" {
		t.Errorf("ascii: got %s", got)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0B", 999: "999B", 1000: "1.00kB", 123456: "123kB", 1 << 40: "1.10TB",
		1<<64 - 1: "18.4EB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	v := view{now: now}
	for d, want := range map[time.Duration]string{
		-time.Hour: "just now", 0: "just now", 400 * time.Millisecond: "just now", time.Second: "1s ago",
		59 * time.Second: "59s ago",
		90 * time.Second: "1m ago", 59 * time.Minute: "59m ago", time.Hour: "1h ago", 47 * time.Hour: "1d ago",
	} {
		if got := v.age(now.Add(-d)).text; got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{
		0.999: "100%", 0.5: "50%", 0.0125: "1.25%", 0.0001: "0.01%",
		0.00001: "<0.01%",
	} {
		if got := percentText(share); got != want {
			t.Errorf("%v: got %s, want %s", share, got, want)
		}
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "s1": 2, "s1 → s2 ✗": 9, "µs": 2, "東京": 4, "e\u0301": 1, "ｆ": 2,
		"한": 2, "🚦": 2,
	} {
		if got := width(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// Columns are aligned by what the terminal shows; colours take no room and are off where they are not wanted.
func TestTable(t *testing.T) {
	columns := []tableColumn[string]{
		{title: "NAME", cell: func(_ *view, s *string) Cell { return PlainCell(*s) }},
		{title: "WIDE", wide: true, cell: func(_ *view, s *string) Cell { return PlainCell("w") }},
		{title: "N", right: true, cell: func(_ *view, s *string) Cell { return badCell(uint64(len(*s))) }},
		{title: "END", cell: func(_ *view, s *string) Cell { return PlainCell("x\ty") }},
	}
	items := []string{"東京", "s1", ""}
	for name, c := range map[string]struct {
		view view
		want string
	}{
		"plain": {view{}, "NAME  N  END\n東京  6  x?y\ns1    2  x?y\n      0  x?y\n"},
		"wide":  {view{wide: true}, "NAME  WIDE  N  END\n東京  w     6  x?y\ns1    w     2  x?y\n      w     0  x?y\n"},
		"color": {
			view{color: true},
			"\x1b[1mNAME\x1b[0m  \x1b[1mN\x1b[0m  \x1b[1mEND\x1b[0m\n東京  \x1b[31m6\x1b[0m  x?y\ns1    \x1b[31m2\x1b[0m  x?y\n      0  x?y\n",
		},
	} {
		var b bytes.Buffer
		w := bufio.NewWriter(&b)
		writeTable(w, &c.view, columns, items)
		w.Flush()
		if b.String() != c.want {
			t.Errorf("%s: got\n%q\nwant\n%q", name, b.String(), c.want)
		}
	}
}

// Colours need a terminal.
func TestViewOfPipe(t *testing.T) {
	t.Setenv("LC_ALL", "")
	t.Setenv("LC_CTYPE", "")
	t.Setenv("LANG", "de_DE.UTF-8")
	if v := newView(&bytes.Buffer{}, false); v.color || v.terminal || !v.unicode {
		t.Errorf("got %+v", v)
	}
	t.Setenv("LC_ALL", "C")
	if v := newView(&bytes.Buffer{}, true); v.unicode || !v.wide {
		t.Errorf("got %+v", v)
	}
}

// What can be off by more than a fifth is marked; what is not kept is not shown.
func TestPercentilesThatAreAbout(t *testing.T) {
	v := &view{unicode: true}
	for relativeError, want := range map[float64]string{
		0: "- -", 0.001: "134ms 187ms", 0.2: "134ms 187ms",
		0.201: "~134ms ~187ms", 3: "~134ms ~187ms",
	} {
		d := &telemetry.Distribution{Count: 2, P50: 134e6, P99: 187e6, RelativeError: relativeError}
		if got := v.p50(d) + " " + v.p99(d); got != want {
			t.Errorf("%v: got %s, want %s", relativeError, got, want)
		}
	}
}
