-- The functions that differ from those of the release before, in snapshots/000005; both are written by make snapshot. Add by
-- hand what else changes: what the functions need before they are installed, what needs them after that.
{{ install_snapshot "000005" }}

select {{.schema}}._gw_finish_migration();
