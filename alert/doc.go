// Package alert tells people about events. Rules select events by filters of package filter and say who is told, and
// how long something must go on before. An Engine looks at the events once a second:
//
//	events -> rules -> alerts: pending -> firing -> resolved -> queue of an output -> webhook, syslog, Alertmanager, command
//
// An alert is a rule and the subject of an event, such as a link: when it comes again it is the same alert, with the
// same id. An output has a queue and a goroutine of its own, so that none waits for another. What could not be
// delivered is tried again. Alerts, silences and queues are kept in a file, if there is a directory for it, and go on
// after a restart.
//
// Everything is bounded: rules, outputs and silences by Parse, alerts by maxAlerts, queues by maxQueue. What does not
// fit is in Counters.
//
// To add a kind of output: 1. its settings in config_output.go, with their checks, 2. a file output_*.go with its
// sender,
// 3. a case in newSender, 4. its section in docs/reference/alerts.md.
package alert
