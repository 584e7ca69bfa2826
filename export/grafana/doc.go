// Package grafana has dashboards for Grafana over what Prometheus scrapes from Waybill: the network, a link, the nodes
// of a path, the attacks, and the collector. They are made by code and committed as JSON, which Grafana imports or
// provisions; no program of Waybill needs this package.
//
// To add a panel: 1. a line in dashboards.go, 2. go test ./export/grafana -update, 3. go test ./cmd/waybill -run
// TestNetworkMetrics, which lets a Prometheus answer its query.
package grafana
