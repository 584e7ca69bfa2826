package test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Eventually waits until f is true: reports are on their way through sockets and goroutines. What takes long to answer
// is asked less often, or the processors would have little time left for what f waits for.
func Eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	const limit = 15 * time.Minute // how long it takes on a busy machine is not what is tested
	for began := time.Now(); time.Since(began) < limit; {
		asked := time.Now()
		if f() {
			return
		}
		time.Sleep(min(max(4*time.Since(asked), 10*time.Millisecond), 500*time.Millisecond))
	}
	t.Fatalf("%s did not happen", what)
}

// handed are the addresses that FreePort has returned.
var handed sync.Map

// FreePort returns an address that nobody uses. Its port is none of those that a connection gets which is made between
// that and when somebody listens there: on a busy machine it would be taken sooner or later.
func FreePort(t testing.TB, network string) string {
	t.Helper()
	const lowest, below = 10_000, 32_768 // Linux takes those above for connections
	for {
		address := fmt.Sprintf("127.0.0.1:%d", lowest+rand.IntN(below-lowest))
		if _, twice := handed.LoadOrStore(address, nil); !twice && free(network, address) {
			return address
		}
	}
}

func free(network, address string) bool {
	if network == "udp" {
		c, err := net.ListenPacket("udp", address)
		return err == nil && c.Close() == nil
	}
	l, err := net.Listen("tcp", address)
	return err == nil && l.Close() == nil
}

// Captured returns the telemetry reports of captures of real switches.
func Captured(t testing.TB, names ...string) (payloads [][]byte) {
	t.Helper()
	for _, name := range names {
		for _, frame := range Packets(t, name+"_reports.pcap") {
			if d, ok := UDP(frame); ok && slices.Contains([]uint16{556, 6000, 32766}, d.DstPort) {
				payloads = append(payloads, d.Payload)
			}
		}
	}
	return payloads
}

// Again returns reports of version 0.5 or 1.0 so many times, each time with the sequence numbers that follow, as a
// switch would send them: the same datagram again is a copy that counts once.
func Again(payloads [][]byte, times int) (list [][]byte) {
	number := func(p []byte) uint32 { return binary.BigEndian.Uint32(p[4:]) }
	first, last := number(payloads[0]), number(payloads[0])
	for _, p := range payloads {
		first, last = min(first, number(p)), max(last, number(p))
	}
	for n := range uint32(times) {
		for _, p := range payloads {
			p = bytes.Clone(p)
			binary.BigEndian.PutUint32(p[4:], number(p)+n*(last-first+1))
			list = append(list, p)
		}
	}
	return list
}

// CannedServer answers each list of the API with the text of its name, or else with the golden file of the API: what a
// server says about captures of real switches.
func CannedServer(t testing.TB, texts map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/api/v1/")
		text, ok := texts[name]
		if !ok {
			content, err := os.ReadFile(filepath.Join(Root(), "api/testdata", name+".json"))
			if err != nil {
				http.NotFound(w, r)
				return
			}
			text = string(content)
		}
		media := map[string]string{
			"ndjson": "application/x-ndjson", "csv": "text/csv", "parquet": "application/vnd.apache.parquet",
			"arrow": "application/vnd.apache.arrow.stream",
		}[r.URL.Query().Get("format")] // whatever the text is
		w.Header().Set("Content-Type", cmp.Or(media, "application/json"))
		w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s
}
