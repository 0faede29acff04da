package gwui

import (
	"context"
	"html/template"
	"net/url"
)

func confirmOpen(_ context.Context, _ *Console, q *request) (*view, error) {
	t, err := q.limit("open_lane", q.query)
	if err != nil {
		return nil, err
	}
	back := backTo(q.query, "limits")
	return question{
		Title: "Open " + printable(t.String()), Action: "open", Button: "Open", Back: template.URL(back), Hidden: t.hidden(back),
		Text: "A worker has closed this lane, because a service accepts no more requests. When it is open, its jobs may start at once, and a worker may close it again.",
	}.page("limits"), nil
}

func open(ctx context.Context, c *Console, q *request, form url.Values) (string, error) {
	t, err := q.limit("open_lane", form)
	if err != nil {
		return "", err
	}
	return backTo(form, "limits"), c.once(ctx, q, `select o.opened from S.open_lane($1::text, $2::text) as o (opened)`, t.arguments()[2:]...)
}
