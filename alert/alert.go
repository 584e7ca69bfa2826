package alert

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// An instance is an alert that an Engine follows. It is kept as JSON.
type instance struct {
	telemetry.Alert
	Messages uint64 `json:"messages"` // that were made of it, for their ids

	quiet    *time.Time // since when nothing of it goes on; nil while it does
	restored bool       // and not seen since the start
	seen     bool       // at this look
}

// An alertKey is what makes an alert the same.
type alertKey struct{ rule, subject string }

// subjectOf returns what e is about. Two events of the same kind at the same place have the same subject; one without a
// place is about its flow.
func subjectOf(e *telemetry.Event) string {
	b := make([]byte, 0, 64)
	b = append(b, byte(e.Kind))
	for _, n := range []*uint32{e.Node, e.Port, e.ToNode, e.ToPort} {
		b = appendNumber(b, n)
	}
	b = appendNumber(b, e.Queue)
	b = appendNumber(b, e.Reason)
	b = append(append(b, e.Source...), '/')
	b = append(b, e.Rule...)
	if e.Node == nil && e.Source == "" {
		b = append(append(b, '/'), e.Path...)
		if e.Flow != nil {
			b = append(append(b, '/'), flowText(e.Flow)...)
		}
	}
	return string(b)
}

func appendNumber[T uint8 | uint32](b []byte, n *T) []byte {
	if n != nil {
		b = strconv.AppendUint(b, uint64(*n), 10)
	}
	return append(b, '/')
}

// id returns the identity of an alert.
func (k alertKey) id() string {
	h := fnv.New64a()
	h.Write([]byte(k.rule))
	h.Write([]byte{0})
	h.Write([]byte(k.subject))
	return fmt.Sprintf("%016x", h.Sum64())
}

// eventLabels are what labelsOf may return, besides the labels of the rule.
var eventLabels = []string{
	"alertname", "severity", "kind", "node", "port", "queue", "to_node", "to_port", "reason",
	"source",
}

// labelsOf returns what tells an alert from others, as Alertmanager and syslog have it.
func labelsOf(a *telemetry.Alert) map[string]string {
	f := fieldsOf(a.Rule, a.Severity, &a.Event)
	labels := map[string]string{}
	for i, value := range []string{
		f.Rule, f.Severity, f.Kind, f.Node, f.Port, f.Queue, f.ToNode, f.ToPort, f.Reason,
		f.Source,
	} {
		if value != "" {
			labels[eventLabels[i]] = value
		}
	}
	for name, value := range a.Labels {
		labels[name] = value
	}
	return labels
}
