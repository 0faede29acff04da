// Command enqueue places an order.
package main

import (
	"context"
	"log"

	"github.com/jackc/pgx/v5"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	db, err := pgx.Connect(ctx, "")
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	return placeOrder(ctx, db, "Ada")
}

func placeOrder(ctx context.Context, db *pgx.Conn, customer string) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var order int64
		err := tx.QueryRow(ctx, "insert into orders (customer) values ($1) returning id", customer).Scan(&order)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			select from graphile_worker.add_job(
			  'send_invoice', json_build_object('order', $1::bigint), queue_name => 'invoices')`, order)
		return err
	})
}
