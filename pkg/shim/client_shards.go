package shim

import (
	"context"
	"fmt"
	"time"
)

// ShardName returns the name of the shard that the database is, empty if it is none.
func (c *Client) ShardName(ctx context.Context) (name string, err error) {
	err = c.each(ctx, func(scan func(...any) error) error { return scan(&name) }, `select coalesce(S.shard_name(), '')`)
	if err != nil {
		return "", fmt.Errorf("read the name of the shard: %w", err)
	}
	return name, nil
}

// ShardLoad returns how many workers have the shard as their home, and how many jobs are due or running, as jobs_for_scaling
// counts them.
func (c *Client) ShardLoad(ctx context.Context) (homes, jobs int64, err error) {
	err = c.each(ctx, func(scan func(...any) error) error { return scan(&homes, &jobs) }, `select l.homes, l.jobs from S._gw_shard_load() as l`)
	if err != nil {
		return 0, 0, fmt.Errorf("read the load of the shard: %w", err)
	}
	return homes, jobs, nil
}

// SlotsInMotion returns how many slots of the shard have been on their way to another one for a time, and one more if jobs
// without a slot are on their way.
func (c *Client) SlotsInMotion(ctx context.Context, since time.Duration) (slots int64, err error) {
	err = c.each(ctx, func(scan func(...any) error) error { return scan(&slots) }, `
		select pg_catalog.count(*) operator(pg_catalog.+) case when exists (select from S._gw_loose_targets()) then 1 else 0 end
		  from S.list_shard_slots() as l
		 where l.state operator(pg_catalog.=) any ('{leaving,left}'::text[])
		   and l.changed_at operator(pg_catalog.<=) (pg_catalog.now() operator(pg_catalog.-) `+microseconds("$1")+`)`, since.Microseconds())
	if err != nil {
		return 0, fmt.Errorf("read the slots of the shard: %w", err)
	}
	return slots, nil
}
