-- Every function as of this migration, frozen in snapshots/000003.
{{ install_snapshot "000003" }}
