// Package topology names what paths lead through: hops, links and ports as reports tell of them, and puts nodes, their
// ports, links and hosts together from these. It knows neither where packets were counted nor what went wrong.
package topology
