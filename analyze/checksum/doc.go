// Package checksum counts the headers in reports whose checksum is wrong, by the node that tells of them, and finds
// nodes whose packets were right as a rule before.
package checksum
