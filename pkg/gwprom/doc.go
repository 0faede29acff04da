// Package gwprom provides Prometheus metrics of workers and of their queue. docs/observe.md lists them.
//
//	metrics, err := gwprom.New(prometheus.DefaultRegisterer)
//	if err != nil {
//		return err
//	}
//	metrics.Watch(worker)
//	prometheus.MustRegister(gwprom.NewQueueCollector(worker.Client(), gwprom.QueueConfig{}))
//
// The first set describes the workers of this process, by their events; sum it over processes. The second set counts
// the jobs in each state by a query of the database during the scrape. It is the same for every process, so only one
// process should provide it.
//
// The label task has one value for each task registered with the workers or in their crontabs.
package gwprom
