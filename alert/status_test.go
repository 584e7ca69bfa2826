package alert

import (
	"errors"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// An output tells why it does not work for as long as it does not.
func TestOutputsTellWhy(t *testing.T) {
	c, err := parseText([]byte(
		"rules: [{name: r, filter: kind = loop, outputs: [hook]}]\noutputs: {hook: {webhook: {url: 'http://127.0.0.1:1/'}}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(c, Deps{Events: &script{}})
	if err != nil {
		t.Fatal(err)
	}
	status := func() telemetry.OutputStatus {
		list := e.Outputs()
		if len(list) != 1 || list[0].Name != "hook" || list[0].Kind != "webhook" {
			t.Fatalf("got %+v", list)
		}
		return list[0]
	}
	q := e.queues["hook"]
	q.add(&delivery{Queued: time.Now()})
	for _, attempt := range []error{errors.New("first"), errors.New("second")} {
		q.next(time.Now())
		q.done(attempt, backoff)
	}
	if s := status(); s.Waiting != 1 || s.Failures != 2 || s.Retried != 2 || s.LastError != "second" {
		t.Errorf("while it fails: %+v", s)
	}
	q.next(time.Now())
	q.done(nil, backoff)
	if s := status(); s.Waiting != 0 || s.Failures != 0 || s.Delivered != 1 || s.LastError != "" {
		t.Errorf("when it works: %+v", s)
	}
}
