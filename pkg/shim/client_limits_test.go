package shim_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

func TestLimitsAreSetWithEveryDriver(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		ctx := t.Context()
		exports := shim.Limit{Name: "exports", Tasks: []string{"export", `"{}"`}, By: "payload:tenant", MaxRunning: 2,
			TotalRunning: 5, Fair: true,
			Strict: 90 * time.Second}
		imports := shim.Limit{Name: "imports", By: "flag:tenant", Rate: 100, Per: 90 * time.Second, Burst: 10}
		for _, limit := range []shim.Limit{exports, imports} {
			if err := client.SetLimit(ctx, limit); err != nil {
				t.Fatal(err)
			}
		}
		if err := client.OverrideLane(ctx, "exports", "42", shim.LaneNumbers{MaxRunning: 9, Rate: 1,
			Per: time.Second}); err != nil {
			t.Error(err)
		}
		if !value[bool](q, `select max_running = 9 and rate = 1 and per = '1 s' and burst = 1 from graphile_worker.list_lanes('exports') where lane = '42'`) {
			t.Error("the lane has other numbers")
		}
		q.exec(`update graphile_worker._gw_gates set closed_until = now() + interval '1 hour'`)
		for lane, want := range map[string]int64{"43": 0, "42": 1} {
			if opened, err := client.OpenLane(ctx, "exports", lane); err != nil || opened != want {
				t.Errorf("lane %s: %d lanes were opened; %v", lane, opened, err)
			}
		}
		if _, err := client.OpenLane(ctx, "none", ""); sqlstate.Of(err) != "GWLNM" {
			t.Errorf("a lane of no limit: %v", err)
		}
		found, err := client.Limits(ctx)
		if want := []shim.LimitInfo{{Limit: exports, Lanes: 1}, {Limit: imports}}; err != nil ||
			!reflect.DeepEqual(found, want) {
			t.Errorf("limits %+v, want %+v; %v", found, want, err)
		}
		if err := client.SetLimit(ctx, shim.Limit{Name: "none"}); sqlstate.Of(err) != "GWLVA" {
			t.Errorf("a limit of nothing: %v", err)
		}
		for _, name := range []string{"exports", "imports"} {
			if err := client.DropLimit(ctx, name); err != nil {
				t.Error(err)
			}
			if err := client.DropLimit(ctx, name); sqlstate.Of(err) != "GWLNM" {
				t.Errorf("dropped again: %v", err)
			}
		}
	})
}

func TestPausesAreMadeAndEndedWithEveryDriver(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		ctx := t.Context()
		job := one(t)(client.Add(ctx, "mail", nil, nil))
		end := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := client.Pause(ctx, shim.PauseTarget{}, &shim.PauseOptions{Reason: "it's a migration",
			Until: end}); err != nil {
			t.Fatal(err)
		}
		if err := client.Pause(ctx, shim.PauseTarget{Task: "other"}, nil); err != nil {
			t.Fatal(err)
		}
		if err := client.Pause(ctx, shim.PauseTarget{Task: "other", Queue: "q"}, nil); sqlstate.Of(err) != "GWLVA" {
			t.Errorf("of two at once: %v", err)
		}
		if err := client.Pause(ctx, shim.PauseTarget{},
			&shim.PauseOptions{For: new(-time.Second)}); sqlstate.Of(err) != "GWLVA" {
			t.Errorf("until before now: %v", err)
		}
		pauses, err := client.Pauses(ctx)
		if err != nil || len(pauses) != 2 || pauses[0].Reason != "it's a migration" || !pauses[0].Until.Equal(end) ||
			pauses[0].Author == "" ||
			pauses[1].Task != "other" || !pauses[1].Until.IsZero() || pauses[1].PausedAt.IsZero() {
			t.Errorf("pauses %+v, %v", pauses, err)
		}
		reasons, err := client.Why(ctx, job.ID)
		if err != nil || len(reasons) == 0 || reasons[0].Reason != "paused" || !reasons[0].Until.Equal(end) ||
			reasons[0].Remedy == "" {
			t.Errorf("reasons %+v, %v", reasons, err)
		}
		for _, target := range []shim.PauseTarget{{}, {Task: "other"}} {
			for _, want := range []bool{true, false} {
				if was, err := client.Resume(ctx, target); err != nil || was != want {
					t.Errorf("%+v was paused: %t, want %t; %v", target, was, want, err)
				}
			}
		}
	})
}

func TestWhyTellsOfTheJobsThatHoldAJobBackWithEveryDriver(t *testing.T) {
	clients(t, func(t *testing.T, q *queue, client *shim.Client) {
		ctx := t.Context()
		first := one(t)(client.Add(ctx, "a", nil, nil))
		second := one(t)(client.Add(ctx, "a", nil, nil))
		reasons, err := client.Why(ctx, second.ID)
		if err != nil || len(reasons) != 1 || reasons[0].Reason != "behind" ||
			!reflect.DeepEqual(reasons[0].BlockingJobIDs, []int64{first.ID}) {
			t.Errorf("reasons %+v, %v", reasons, err)
		}
		if _, err := client.Why(ctx, second.ID+1000); !errors.Is(err, shim.ErrJobNotFound) {
			t.Errorf("of a job that does not exist: %v", err)
		}
	})
}
