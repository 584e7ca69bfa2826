package api

import (
	"net/http/httptest"
	"net/url"
	"testing"
	"time"
)

// Whatever takes a duration takes days and weeks.
func TestDays(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for text, ago := range map[string]time.Duration{
		"1d": 24 * time.Hour, "7d": 168 * time.Hour, "2w": 336 * time.Hour,
		"1d12h": 36 * time.Hour, "10m": 10 * time.Minute,
	} {
		p := paramsOf(url.Values{"since": {text}, "until": {"0s"}, "interval": {text}}.Encode())
		r := p.span(now)
		if problem := p.wrong; problem != nil || !r.since.Equal(now.Add(-ago)) || !r.until.Equal(now) {
			t.Errorf("%s: got %v to %v, %+v", text, r.since, r.until, problem)
		}
		if step, of := p.interval(r), p.step(r); p.wrong != nil || step != ago || of != ago {
			t.Errorf("interval %s: got %v and %v, %+v", text, step, of, p.wrong)
		}
	}
	for _, text := range []string{"7", "-7d", "1y", "d", "", "20000w"} {
		if p := paramsOf("since=" + url.QueryEscape(text)); p.time("since", now) != 0 && p.wrong == nil {
			t.Errorf("since %q is taken", text)
		} else if p.wrong == nil || p.wrong.Parameter != "since" {
			t.Errorf("since %q: got %+v", text, p.wrong)
		}
	}
}

func paramsOf(query string) *params {
	return newParams(httptest.NewRequest("GET", "/?"+query, nil), &operation{}, "")
}
