package alert

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Notification is one message about an alert. Webhooks and commands get it as JSON.
type Notification struct {
	// the same each time that the message is sent, so that receivers can tell doubles
	ID   string          `json:"id"`
	Type string          `json:"type"`      // alert.firing, alert.resolved or alert.test
	Time time.Time       `json:"timestamp"` // when it was made
	Data telemetry.Alert `json:"data"`
}

// Types of notifications.
const (
	typeFiring   = "alert.firing"
	typeResolved = "alert.resolved"
	typeTest     = "alert.test"
)

var types = []string{typeFiring, typeResolved, typeTest}

// notify makes the next message about an alert.
func (i *instance) notify(kind string, now time.Time) Notification {
	i.Messages++
	return Notification{
		ID: fmt.Sprintf("%s-%x-%d", i.ID, i.Fired.UnixMilli(), i.Messages), Type: kind, Time: now.UTC(),
		Data: i.Alert,
	}
}

// json returns n as receivers get it.
func (n *Notification) json() []byte {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // it consists of texts, numbers and times that were made here
	}
	return b
}

// line returns n in one line for people.
func (n *Notification) line() string {
	state := strings.TrimPrefix(n.Type, "alert.")
	if n.Type == typeResolved && n.Data.Resolution != telemetry.AlertEnded {
		state += " (" + string(n.Data.Resolution) + ")"
	}
	return state + ": " + n.Data.Rule + ": " + n.Data.Summary
}
