package mitigate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Webhook gives rules to a program that drops, or has others drop.
type Webhook struct {
	// Post sends a signed message with an id, the same for the same message, and returns when it was taken or is not
	// tried again.
	Post func(ctx context.Context, method, id string, body []byte) error
	// TransparentSecurity sends what the SDN controller of CableLabs' Transparent Security takes: a request for each
	// rule, POST to drop and DELETE to let pass again.
	TransparentSecurity bool
	// Reports says that what is dropped is told to this server by drop reports.
	Reports bool
}

// Abilities implements Actor.
func (w *Webhook) Abilities() Abilities { return Abilities{Devices: true, Reports: w.Reports} }

// Problem implements Actor. Between messages nothing is known.
func (w *Webhook) Problem() error { return nil }

// Close implements Actor.
func (w *Webhook) Close() error { return nil }

// A Message is the body of a webhook.
type Message struct {
	Type  string                     `json:"type"` // mitigation.apply or mitigation.withdraw
	At    time.Time                  `json:"timestamp"`
	Rules []telemetry.MitigationRule `json:"rules"`
}

// Apply implements Actor.
func (w *Webhook) Apply(ctx context.Context, rules []telemetry.MitigationRule) error {
	if !w.TransparentSecurity {
		err := w.send(ctx, "apply", rules)
		if err != nil { // it may have been taken, and the answer lost
			err = errors.Join(err, w.send(context.WithoutCancel(ctx), "withdraw", rules))
		}
		return err
	}
	for i := range rules {
		if err := w.controller(ctx, http.MethodPost, &rules[i]); err != nil {
			return errors.Join(err, w.Withdraw(context.WithoutCancel(ctx), rules[:i]))
		}
	}
	return nil
}

// Withdraw implements Actor.
func (w *Webhook) Withdraw(ctx context.Context, rules []telemetry.MitigationRule) error {
	if !w.TransparentSecurity {
		return w.send(ctx, "withdraw", rules)
	}
	var errs []error
	for i := range rules {
		errs = append(errs, w.controller(ctx, http.MethodDelete, &rules[i]))
	}
	return errors.Join(errs...)
}

func (w *Webhook) send(ctx context.Context, what string, rules []telemetry.MitigationRule) error {
	body, err := json.Marshal(Message{"mitigation." + what, time.Now().UTC(), rules})
	if err != nil {
		return err
	}
	key := what
	for i := range rules {
		key += rules[i].ID + rules[i].Until.String()
	}
	return w.Post(ctx, http.MethodPost, messageID(key), body)
}

// messageID returns the id of a message: a receiver that gets it twice has to act on it once.
func messageID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "msg_" + hex.EncodeToString(sum[:12])
}

// controller sends a rule as the SDN controller of Transparent Security takes it.
func (w *Webhook) controller(ctx context.Context, method string, r *telemetry.MitigationRule) error {
	_, target := r.Prefixes()
	body := map[string]string{
		"src_mac": r.Device, "src_ip": "", "dst_ip": target.Addr().String(), "dst_port": strconv.Itoa(int(r.Port)),
		"packet_size": "", "attack_type": map[string]string{"udp": "UDP Flood", "tcp": "TCP Flood"}[r.Protocol],
	}
	if source, err := netip.ParsePrefix(r.Source); err == nil {
		body["src_ip"] = source.Addr().String()
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return w.Post(ctx, method, messageID(method+r.ID+r.Until.String()), text)
}
