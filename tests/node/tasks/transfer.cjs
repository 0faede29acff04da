// A CommonJS module that uses one connection for a transaction.
module.exports = async (payload, { withPgClient }) => {
  await withPgClient(async (pgClient) => {
    await pgClient.query("begin");
    try {
      await pgClient.query("insert into seen (task, what) values ('transfer', $1)", [JSON.stringify(payload)]);
      const { rows } = await pgClient.query("select count(*)::int as count from seen where task = 'transfer'");
      if (payload.refuse) throw new Error(`refused, of ${rows[0].count}`);
      await pgClient.query("commit");
    } catch (e) {
      await pgClient.query("rollback");
      throw e;
    }
  });
};
