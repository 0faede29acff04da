import java.sql.*;

class Enqueue {
    public static void main(String[] args) throws SQLException {
        try (Connection db = DriverManager.getConnection(System.getenv("JDBC_DATABASE_URL"))) {
            db.setAutoCommit(false);
            PreparedStatement insert = db.prepareStatement("insert into orders (customer) values (?) returning id");
            insert.setString(1, "Ada");
            ResultSet order = insert.executeQuery();
            order.next();
            PreparedStatement add = db.prepareStatement("select from graphile_worker.add_job("
                + "'send_invoice', json_build_object('order', ?), queue_name => 'invoices')");
            add.setLong(1, order.getLong("id"));
            add.execute();
            db.commit();
        }
    }
}
