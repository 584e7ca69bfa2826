package types

// A Table answers GET /api/v1/query. More says that there are more rows than the limit.
type Table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	More    bool     `json:"more"`
}
