import java.sql.*;
import java.util.UUID;

class Work {
    static void sendInvoice(Connection db, long order) throws SQLException {
        PreparedStatement update = db.prepareStatement("update orders set invoiced_at = now() where id = ?");
        update.setLong(1, order);
        update.execute();
    }

    public static void main(String[] args) throws SQLException {
        try (Connection db = DriverManager.getConnection(System.getenv("JDBC_DATABASE_URL"))) {
            PreparedStatement claim = db.prepareStatement("select id, payload ->> 'order' as order_id, lease"
                + " from graphile_worker.get_job(?, array['send_invoice'])");
            PreparedStatement fail = db.prepareStatement("select graphile_worker.fail_job(?, ?, ?, ?)");
            PreparedStatement complete = db.prepareStatement("select graphile_worker.complete_job(?, ?, ?)");
            String me = UUID.randomUUID().toString();
            claim.setString(1, me);
            fail.setString(1, me);
            complete.setString(1, me);
            for (ResultSet job = claim.executeQuery(); job.next(); job = claim.executeQuery()) {
                try {
                    sendInvoice(db, Long.parseLong(job.getString("order_id")));
                } catch (Exception error) {
                    fail.setLong(2, job.getLong("id"));
                    fail.setString(3, error.toString());
                    fail.setLong(4, job.getLong("lease"));
                    fail.execute();
                    continue;
                }
                complete.setLong(2, job.getLong("id"));
                complete.setLong(3, job.getLong("lease"));
                complete.execute();
            }
        }
    }
}
