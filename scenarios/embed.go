// Package scenarios holds the scenarios that come with Waybill. The comment at the top of each file says what happens
// in it and what a good monitoring system should say about that.
package scenarios

import "embed"

// Files are the scenario files, NAME.yaml each.
//
//go:embed *.yaml
var Files embed.FS
