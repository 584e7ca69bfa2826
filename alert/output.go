package alert

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/waybill-int/waybill/internal/conf/secure"
	"github.com/waybill-int/waybill/internal/conf/unit"
)

// newSender returns what sends to an output. It opens files of secrets, certificates and commands, and no connection.
func newSender(o *Output) (sender, error) {
	switch {
	case o.Webhook != nil:
		return newWebhook(o.Webhook)
	case o.Syslog != nil:
		return newSyslog(o.Syslog)
	case o.Alertmanager != nil:
		return newAlertmanager(o.Alertmanager)
	}
	return newCommand(o.Command)
}

// timeout returns how long a message to o may take.
func (o *Output) timeout() time.Duration {
	var d *unit.Duration
	switch {
	case o.Webhook != nil:
		d = o.Webhook.Timeout
	case o.Syslog != nil:
		d = o.Syslog.Timeout
	case o.Alertmanager != nil:
		d = o.Alertmanager.Timeout
	case o.Command != nil:
		d = o.Command.Timeout
	}
	return or(d, defaultTimeout)
}

// refresh returns how often o must hear of an alert that goes on; 0: as the rule says.
func (o *Output) refresh() time.Duration {
	if o.Alertmanager != nil {
		return alertmanagerRefresh
	}
	return 0
}

// tlsConfig returns what trusts the certificates of a file, or nil, which trusts those of the system.
func tlsConfig(file string) (*tls.Config, error) {
	if file == "" {
		return nil, nil
	}
	pool, err := secure.ReadCAs(file)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}
