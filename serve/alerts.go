package serve

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/waybill-int/waybill/alert"
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

// openAlerts makes what makes alerts of events, if there are rules.
func (s *Server) openAlerts() (err error) {
	if s.Config.rules != nil {
		s.alerts, err = alert.New(s.Config.rules, alert.Deps{Events: s.Events, Dir: s.Config.Data, Logger: s.log})
	}
	return err
}

// alerting is the component that makes and delivers alerts. On SIGHUP, which without rules ends the process as it always does,
// it reads the rules anew; those that are wrong change nothing.
type alerting struct {
	*tasks
	server  *Server
	hangups chan os.Signal
}

// Start implements component.
func (a *alerting) Start() {
	a.hangups = make(chan os.Signal, 1)
	signal.Notify(a.hangups, syscall.SIGHUP)
	a.tasks = background(func(ctx context.Context) { a.server.alerts.Run(ctx) }, a.reload)
	a.tasks.Start()
}

// Stop implements component.
func (a *alerting) Stop() error {
	defer signal.Stop(a.hangups)
	return a.tasks.Stop()
}

// reload reads the rules when it is told to, until ctx is done.
func (a *alerting) reload(ctx context.Context) {
	for {
		select {
		case <-a.hangups:
			a.server.reloadAlerts(ctx)
		case <-ctx.Done():
			return
		}
	}
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
