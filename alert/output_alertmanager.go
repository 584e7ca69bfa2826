package alert

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

const (
	// alertmanagerRefresh is how often an Alertmanager hears of an alert that goes on.
	alertmanagerRefresh = time.Minute
	// alertmanagerTrust is how long it takes an alert for firing that it does not hear of any more.
	alertmanagerTrust = 5 * time.Minute
)

// An alertmanager posts alerts to the API v2 of Prometheus's Alertmanager, again and again while they fire.
type alertmanager struct{ *poster }

func newAlertmanager(a *Alertmanager) (*alertmanager, error) {
	h := a.HTTP
	h.URL = strings.TrimSuffix(h.URL, "/")
	p, err := newPoster(&h, "/api/v2/alerts")
	return &alertmanager{p}, err
}

// A postableAlert is what Alertmanager calls so.
type postableAlert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
}

func (a *alertmanager) send(ctx context.Context, n *Notification) error {
	p := postableAlert{
		Labels: labelsOf(&n.Data), Annotations: map[string]string{"summary": n.Data.Summary},
		StartsAt: *n.Data.Fired,
	}
	for name, text := range n.Data.Annotations {
		p.Annotations[name] = text
	}
	if n.Data.Resolved != nil {
		p.EndsAt = *n.Data.Resolved
		p.Annotations["resolution"] = string(n.Data.Resolution)
	} else {
		p.EndsAt = time.Now().Add(alertmanagerTrust).UTC()
	}
	if p.EndsAt.Before(p.StartsAt) { // the clock was set; Alertmanager would refuse it
		p.EndsAt = p.StartsAt
	}
	body, err := json.Marshal([]postableAlert{p})
	if err != nil {
		return permanent{err}
	}
	return a.post(ctx, body, nil)
}
