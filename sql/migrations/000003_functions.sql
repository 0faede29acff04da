-- Every function; make snapshot copies sql/functions to snapshots/000003.
{{ install_snapshot "000003" }}
