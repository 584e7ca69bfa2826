// Package drop counts dropped packets by place and reason, with the destinations that they were on their way to, and
// says when so many are dropped at once that it is a storm.
package drop
