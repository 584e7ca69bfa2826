package serve

import (
	"fmt"

	"github.com/waybill-int/waybill/alert"
)

// loadAlerts reads the file of alert rules, if there is one.
func (c *Config) loadAlerts() (err error) {
	if c.Alerts == "" {
		return nil
	}
	if c.rules, err = alert.Load(c.Alerts, c.NodeNames()); err != nil {
		return fmt.Errorf("alerts: %w", err)
	}
	return nil
}

// openAlerts makes what makes alerts of events, if there are rules.
func (s *Server) openAlerts() (err error) {
	if s.Config.rules != nil {
		s.alerts, err = alert.New(s.Config.rules, alert.Deps{
			Events: s.Events, Incidents: s.incidents.Incidents, Dir: s.Config.Data, Logger: s.log,
		})
	}
	return err
}
