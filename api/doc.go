// Package api answers questions about what analyze knows, over HTTP: JSON under /api/v1/, Prometheus metrics, health,
// and the files of the console. Package types has the shapes of its answers, and package client asks for them.
//
//	GET /api/v1/nodes      node
//	GET /api/v1/links      node
//	GET /api/v1/hosts      node, address
//	GET /api/v1/topology
//	GET /api/v1/flows      src, dst, port, protocol, node, order, outer_src, outer_dst, outer_port
//	GET /api/v1/paths      node, path
//	GET /api/v1/drops      node, reason
//	GET /api/v1/events     kind, severity, node, open, filter
//	GET /api/v1/exporters  source, node
//	GET /api/v1/listeners
//	GET /api/v1/openapi.json
//	GET /api/v1/events/stream, /api/v1/flows/stream
//	GET /api/v1/loss       since, until, node, intervals
//	GET /api/v1/alerts     state, severity, node, silenced, filter
//	GET /api/v1/silences
//	POST /api/v1/silences  a body: a NewSilence
//	DELETE /api/v1/silences/ID
//	POST /api/v1/alerts/test  a body: an AlertTest
//	GET /api/v1/filter/validate  schema, text
//	GET /api/v1/filter/complete  schema, text, cursor
//	GET /api/v1/session    who asks
//	GET /healthz           200 as long as the process answers
//	GET /readyz            200 when reports are received, else 503
//	GET /metrics           Prometheus text or OpenMetrics
//	GET /                  the console
//
// The names are parameters of the query; every list takes limit too (1 to 10000, default 100). A list is an object with
// generated_at, total (what matches, before the limit), completeness (of the reports that it rests on) and the items
// under the name of the resource. Items are the answer types of package telemetry; durations are nanoseconds. Whatever
// is wrong with a request is answered by a Problem (RFC 9457). Other methods than these, and HEAD where there is GET,
// are refused; what changes something is refused to pages of other origins.
//
// Before a handler sees a request it passes the checks of checks.go: strict security headers on everything, no access
// for other origins, on loopback connections no host names that are not known, which is what DNS rebinding needs,
// limits, who asks and what they may do (package auth). Timeouts are the server's task: set http.Server's
// ReadHeaderTimeout, ReadTimeout, WriteTimeout, IdleTimeout and MaxHeaderBytes. It may be mounted below a path with
// http.StripPrefix.
//
// To add a resource: 1. its answer type in package telemetry, 2. a file here with its list type and its method of
// handler, 3. a row in handler.resources and above, 4. a method of Client and a subcommand, 5. a golden file.
package api
