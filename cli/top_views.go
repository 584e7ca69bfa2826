package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/waybill-int/waybill/api/client"
)

// A topView is a list that top shows.
type topView struct {
	name    string
	columns []topColumn
	order   int // the column that it is sorted by at first
	ask     func(ctx context.Context, c *client.Client, v view, q client.Query) (*topList, error)
}

// A topColumn is a column of it. One without an order cannot be sorted by.
type topColumn struct {
	title, order string
	right        bool
}

// A topList is the answer to a question: what is on the screen.
type topList struct {
	head client.Head
	rows []topRow
}

// A topRow is an item of a list, and the page that tells more of it.
type topRow struct {
	cells []Cell
	page  *topPage
}

// topViews are the lists in the order of their keys. To add one: its line here; the rest is in the question of its
// command.
func topViews() []topView {
	return []topView{
		newTopView(flowsQuestion(), "packets", flowPage),
		newTopView(hopsQuestion(), "latency_ns.p99",
			func(h *client.NodeHop) *topPage { return nodePage(h.Node, h.Name) }),
		newTopView(queuesQuestion(), "depth.max",
			func(q *client.QueueDepth) *topPage { return nodePage(q.Node, q.Name) }),
		newTopView(dropsQuestion(), "packets", dropPage),
		newTopView(eventsQuestion(), "start", eventPage),
		newTopView(exportersQuestion(), "lost", exporterPage),
	}
}

func topViewNames() []string {
	return []string{"flows", "hops", "queues", "drops", "events", "exporters"}
}

// newTopView makes a view of what a command lists. page tells more of an item; its key tells items apart.
func newTopView[L, T any](q question[L, T], order string, page func(*T) *topPage) topView {
	shown := slices.DeleteFunc(q.tableColumns(), func(c tableColumn[T]) bool { return c.wide })
	t := topView{name: q.name}
	for i, c := range shown {
		t.columns = append(t.columns, topColumn{c.title, c.order, c.right})
		if c.order == order {
			t.order = i
		}
	}
	t.ask = func(ctx context.Context, c *client.Client, v view, query client.Query) (*topList, error) {
		list, err := q.get(ctx, c, query)
		if err != nil {
			return nil, err
		}
		head, items := q.open(list)
		v.now = head.GeneratedAt
		answer := &topList{head: head}
		for i := range items {
			row := topRow{page: page(&items[i])}
			row.page.key += fmt.Sprint(" ", q.name)
			for _, column := range shown {
				cell := column.cell(&v, &items[i])
				cell.text = printable(cell.text)
				row.cells = append(row.cells, cell)
			}
			answer.rows = append(answer.rows, row)
		}
		return answer, nil
	}
	return t
}
