// Package serve is the server: it receives telemetry reports, keeps what they say, and answers over HTTP.
package serve
