package store

import (
	"context"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Backend keeps records. Write is called by one goroutine and Maintain by another, all else by any.
type Backend interface {
	// Write keeps the records of all batches. When it returns nil they are on disk: they survive the end of the process
	// and of the machine. When it fails it is called again with the same batches, and nothing is written twice.
	Write(batches []*telemetry.Intervals) error
	// Maintain does what is due: rollups, retention. It is called every few seconds, and does not keep Write waiting
	// for long. All records of before now are written. It ends early when ctx is done.
	Maintain(ctx context.Context, now time.Time) error
	// Query answers q.
	Query(ctx context.Context, q *Query) (*Answer, error)
	// Between says when links or hosts (the tables Links and Hosts) were there: a row for each time that touches the
	// range from from to to, both included, with the columns first and last, between which it was never silent for more
	// than five minutes, and packets. What is more than five minutes outside of the range is not looked at. limit is
	// how many rows are wanted at most.
	Between(ctx context.Context, t Table, from, to time.Time, limit int) (*Answer, error)
	// SQL answers a SELECT statement that somebody wrote, over the tables of docs/reference/store.md, with at most
	// limit rows. It changes nothing, and what it takes is bounded. What was written in the last seconds may be
	// missing.
	SQL(ctx context.Context, statement string, limit int) (*Answer, error)
	// Select is SQL for statements of this program itself, and of who has the files anyway: it sees what was written up
	// to now, and takes what it takes.
	Select(ctx context.Context, statement string, limit int) (*Answer, error)
	// Stats tells what is on disk.
	Stats() (Stats, error)
	Close() error
}

// Stats tell what a Backend holds.
type Stats struct {
	Bytes      int64     // on disk
	Partitions int       // that are kept
	Dropped    int       // partitions that were dropped since the start
	Oldest     time.Time // start of the oldest partition; zero if there is none
	Lost       []Loss    // what was found missing since the start
}

// A Loss is what a file lacks that was written to it.
type Loss struct {
	File    string
	Records Counts
}

// A Query asks for what was counted in a time range. Columns that are not in Group are summed up as their kind says:
// counts are added, maxima are the largest.
type Query struct {
	Table    Table
	From, To time.Time // To is not part of it
	// Step cuts the range in pieces of that length, which begin at multiples of it; the answer has a column start then.
	// 0 means one piece.
	Step time.Duration
	// Where is a condition in SQL over the columns of the table, as filter.Expr.SQL makes it, with Args for its
	// question marks.
	Where string
	Args  []any
	// Uses are the columns that Where speaks of.
	Uses []string
	// Group are the columns to group by; Values those that are wanted of each group.
	Group, Values []string
	// Order is a column of the answer, or several with commas, by which the largest come first; those that are equal,
	// or all if it is "", are in the order of start and group.
	Order string
	// Ascending makes the smallest come first. What is not known is last in any case.
	Ascending bool
	// Limit is how many rows are wanted at most; 0 means DefaultLimit.
	Limit int
	// Offset is how many rows are left out before those.
	Offset int
}

// Narrow leaves what a condition in SQL selects too; args are for its question marks, columns those that it speaks of.
func (q *Query) Narrow(condition string, args []any, columns ...string) {
	if q.Where != "" {
		condition = "(" + q.Where + ") AND " + condition
	}
	q.Where, q.Args, q.Uses = condition, slices.Concat(q.Args, args), slices.Concat(q.Uses, columns)
}

// DefaultLimit is how many rows a Query answers that asks for no number.
const DefaultLimit = 1000

// An Answer is a list of rows.
type Answer struct {
	Columns []string
	Rows    [][]any
	// More says that there were more rows than the limit.
	More bool
	// Resolution is the length of the longest intervals that were looked at; 0 if there are none.
	Resolution time.Duration
}

// SizeOf is about what a value takes beyond its place in a row, in bytes.
func SizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		n := 16 * len(v)
		for _, e := range v {
			n += SizeOf(e)
		}
		return n
	case map[string]any:
		n := 0
		for k, e := range v {
			n += 32 + len(k) + SizeOf(e)
		}
		return n
	}
	return 0
}
