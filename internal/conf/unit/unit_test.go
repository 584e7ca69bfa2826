package unit

import (
	"encoding"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		text string
		to   encoding.TextUnmarshaler
		want string // how fmt prints what is read, or how the error begins
	}{
		{"0", new(Duration), "0s"},
		{"500ns", new(Duration), "500ns"},
		{"1.5ms", new(Duration), "1.5ms"},
		{"90m", new(Duration), "1h30m"},
		{"48h", new(Duration), "2d"},
		{"2w1d12h", new(Duration), "15d12h"},
		{"1.5d", new(Duration), "1d12h"},
		{"", new(Duration), "want a duration with its unit"},
		{"10", new(Duration), "want a duration with its unit"},
		{"-1s", new(Duration), "want a duration"},
		{"1d-1h", new(Duration), "want a duration"},
		{"1d1w", new(Duration), "want a duration"},
		{"d", new(Duration), "want a duration"},
		{"NaNd", new(Duration), "want a duration"},
		{"1000000w", new(Duration), "want a duration"},
		{"7d7y", new(Duration), "want a duration"},
		{"-20us", new(Offset), "-20000"},
		{"1ms", new(Offset), "1000000"},
		{"--1s", new(Offset), "want a duration"},
		{"1500", new(Bytes), "1500"},
		{"64kB", new(Bytes), "64kB"},
		{"0.5GiB", new(Bytes), "512MiB"},
		{"512 MiB", new(Bytes), "512MiB"},
		{"1G", new(Bytes), "1GiB"},
		{"1GB", new(Bytes), "1GB"},
		{"1kb", new(Bytes), "want a number of bytes"},
		{"-1", new(Bytes), "want a number of bytes"},
		{"nan", new(Bytes), "want a number of bytes"},
		{"2000000TiB", new(Bytes), "want a number of bytes"},
		{"1.5M", new(Count), "1500000"},
		{"0", new(Count), "0"},
		{"10Q", new(Count), "want a number up to 1000T"},
		{"2.5G", new(Rate), "2500000000"},
		{"10", new(Rate), "want a rate"},
		{"11T", new(Rate), "want a rate"},
		{"2%", new(Share), "0.02"},
		{"1", new(Share), "1"},
		{"101%", new(Share), "want a share"},
		{"10.0.0.0/8", new(Prefix), "10.0.0.0/8"},
		{"::1", new(Prefix), "::1/128"},
		{"10.0.0.1/8", new(Prefix), "want 10.0.0.0/8, without"},
		{"::ffff:10.0.0.1", new(Prefix), "want an IPv4 prefix in IPv4"},
		{"fe80::1%eth0", new(Prefix), "want an address or a prefix"},
		{"443", new(Range[uint16]), "443"},
		{"8000-0x1f90", new(Range[uint16]), "8000-8080"},
		{"9-8", new(Range[uint16]), "want the lower end"},
		{"65536", new(Range[uint16]), "want a number from 0 to 65535 or a range"},
		{"1-2-3", new(Range[uint8]), "want a number from 0 to 255 or a range"},
	} {
		err := c.to.UnmarshalText([]byte(c.text))
		got := strings.TrimPrefix(fmt.Sprint(c.to), "&")
		if s, ok := c.to.(*Offset); ok {
			got = fmt.Sprint(int64(*s))
		} else if n, ok := c.to.(*Count); ok {
			got = fmt.Sprint(uint64(*n))
			if text, err := n.MarshalText(); err == nil {
				var again Count
				if again.UnmarshalText(text) != nil || again != *n {
					t.Errorf("%s is not read again", text)
				}
			}
		} else if n, ok := c.to.(*Rate); ok {
			got = fmt.Sprint(uint64(*n))
		} else if n, ok := c.to.(*Share); ok {
			got = fmt.Sprint(float64(*n))
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%T %q: got %s, want %s", c.to, c.text, got, c.want)
		}
	}
}

// What String says is read as the same value.
func FuzzUnits(f *testing.F) {
	for _, n := range []int64{0, 1, 999, 1 << 10, 1 << 30, 3600e9, 86400e9, 86400e9 + 1, 1e18} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		n = max(n&(1<<60-1), 0)
		for _, v := range []interface {
			fmt.Stringer
			encoding.TextMarshaler
		}{Duration(n), Bytes(n & (1<<50 - 1)), Range[uint32]{0, uint32(n)}} {
			text, _ := v.MarshalText()
			var got fmt.Stringer
			var err error
			switch v.(type) {
			case Duration:
				got, err = ParseDuration(string(text))
			case Bytes:
				got, err = ParseBytes(string(text))
			default:
				var r Range[uint32]
				err = r.UnmarshalText(text)
				got = r
			}
			if err != nil || got != v {
				t.Errorf("%T %d is written as %q and read as %v, %v", v, n, text, got, err)
			}
		}
	})
}

func TestDurationIsAsGoHasIt(t *testing.T) {
	for _, text := range []string{"1h2m3s", "1us", "0.5s", "3h"} {
		want, _ := time.ParseDuration(text)
		if got, err := ParseDuration(text); err != nil || time.Duration(got) != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
}

// A rate has three digits, also where they are rounded up to the next unit.
func TestRateText(t *testing.T) {
	for bps, want := range map[uint64]string{
		0: "0 bit/s", 999: "999 bit/s", 1000: "1 kbit/s", 16_100_000: "16.1 Mbit/s", 999_400_000: "999 Mbit/s",
		999_700_000: "1 Gbit/s", 12_345_000_000: "12.3 Gbit/s", 400e12: "400 Tbit/s", 1<<64 - 1: "18.4 Ebit/s",
	} {
		if got := RateText(bps, " "); got != want {
			t.Errorf("%d: got %q, want %q", bps, got, want)
		}
	}
}
