// Command work runs the due jobs send_invoice.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
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
	return workAll(ctx, db)
}

func sendInvoice(ctx context.Context, db *pgx.Conn, payload string) error {
	var invoice struct{ Order int64 }
	if err := json.Unmarshal([]byte(payload), &invoice); err != nil {
		return err
	}
	_, err := db.Exec(ctx, "update orders set invoiced_at = now() where id = $1", invoice.Order)
	return err
}

func workAll(ctx context.Context, db *pgx.Conn) error {
	me := rand.Text()
	for {
		var id, lease int64
		var payload string
		err := db.QueryRow(ctx, "select id, payload, lease from graphile_worker.get_job($1, array['send_invoice'])", me).
			Scan(&id, &payload, &lease)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := sendInvoice(ctx, db, payload); err != nil {
			_, err = db.Exec(ctx, "select graphile_worker.fail_job($1, $2, $3, $4)", me, id, err.Error(), lease)
			if err != nil {
				return err
			}
			continue
		}
		if _, err := db.Exec(ctx, "select graphile_worker.complete_job($1, $2, $3)", me, id, lease); err != nil {
			return err
		}
	}
}
