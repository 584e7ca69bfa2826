package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

// Following the ledger prints an exporter when something happened to its reports, and not when one more arrived.
func TestFollowLoss(t *testing.T) {
	account := func(node uint32, sent, lost uint64, malformed map[string]uint64) telemetry.Loss {
		arrived := sent - lost
		l := telemetry.Loss{Source: netip.MustParseAddr("192.0.2.1"), Node: &node, Version: "2.0", LossKnown: "yes"}
		l.Sent, l.Lost, l.Arrived, l.Received, l.Malformed = &sent, &lost, &arrived, arrived, malformed
		return l
	}
	answers := [][]telemetry.Loss{
		{account(1, 100, 0, nil), account(2, 100, 0, nil)},
		{account(1, 110, 0, nil), account(2, 110, 0, nil)},
		{account(1, 120, 3, nil), account(2, 120, 0, nil)},
		{account(1, 130, 3, nil), account(2, 130, 0, map[string]uint64{"no_report": 1})},
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if len(answers) == 0 {
			cancel()
			return
		}
		list := client.LossList{Loss: answers[0]}
		answers = answers[1:]
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(&list)
	}))
	t.Cleanup(s.Close)
	stdout, stderr, code := runQueryIn(t, ctx, "C.UTF-8", "loss", "--server", s.URL, "--follow", "-o", "csv")
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(stdout), "\n")[1:] {
		columns := strings.Split(line, ",")
		got = append(got, columns[2]+" "+columns[6]+" "+columns[8]) // node, sent, lost
	}
	const want = "2 100 0, 1 100 0, 1 120 3, 2 130 0" // the first of the list last, as in all that is followed
	if list := strings.Join(got, ", "); code != 0 || list != want {
		t.Errorf("code %d, said %q, got %s, want %s\n%s", code, stderr, list, want, stdout)
	}
}

// Where records are lost, and nobody knows how many datagrams, tables say so.
func TestLostRecords(t *testing.T) {
	for lost, want := range map[int64]Cell{7: {"7 records", red}, 0: PlainCell("0 records"), -2: PlainCell("-2 records")} {
		r := lossRow{Loss: telemetry.Loss{LossKnown: "no: see records_lost"}}
		r.RecordsLost = &lost
		if got := r.lostCell(); got != want || r.note() != "" {
			t.Errorf("got %+v, %q, want %+v", got, r.note(), want)
		}
		if lost < 0 {
			continue
		}
		n := uint64(lost)
		e := client.Exporter{LossKnown: "no: see records_lost", RecordsLost: &n}
		if got := lossCell(&e); got != want || noteText(&e) != "" {
			t.Errorf("got %+v, %q, want %+v", got, noteText(&e), want)
		}
	}
}
