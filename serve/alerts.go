package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/waybill-int/waybill/alert"
	"github.com/waybill-int/waybill/analyze/eventlog"
)

// loadAlerts reads the file of alert rules, if there is one.
func (c *Config) loadAlerts() (err error) {
	if c.Alerts == "" {
		return nil
	}
	if c.rules, err = alert.Load(c.Alerts, c.Names); err != nil {
		return fmt.Errorf("alerts: %w", err)
	}
	return nil
}

// newAlerts returns what makes alerts of events, or nil if there are no rules.
func newAlerts(c *Config, events *eventlog.Log, log *slog.Logger) (*alert.Engine, error) {
	if c.rules == nil {
		return nil, nil
	}
	return alert.New(c.rules, alert.Deps{Events: events, Dir: c.Data, Logger: log})
}

// hangups returns where SIGHUP arrives until stop is called. Without alert rules it ends the process, as it always does.
func (s *Server) hangups() (arrived <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1)
	if s.alerts != nil {
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals, func() { signal.Stop(signals) }
}

// runAlerts makes and delivers alerts until ctx is done. On SIGHUP the rules are read anew; those that are wrong change nothing.
func (s *Server) runAlerts(ctx context.Context, hangups <-chan os.Signal) error {
	if s.alerts == nil {
		return nil
	}
	go func() {
		for {
			select {
			case <-hangups:
				s.reloadAlerts(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return s.alerts.Run(ctx)
}

func (s *Server) reloadAlerts(ctx context.Context) {
	rules, err := alert.Load(s.Config.Alerts, s.Config.Names)
	if err != nil {
		s.log.Error("the alert rules stay as they are", "error", err)
		return
	}
	if s.alerts.Reload(ctx, rules) == nil {
		s.log.Info("the alert rules were read anew", "file", s.Config.Alerts, "rules", len(rules.Rules), "outputs", len(rules.Outputs))
	}
}
