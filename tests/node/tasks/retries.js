// Is refused by the database for a moment.
let tries = 0;
export default async (_payload, { withPgClient }) => {
  await withPgClient.withRetries(async (pgClient) => {
    if (++tries < 3) await pgClient.query("do $$ begin raise serialization_failure; end $$");
    await pgClient.query("insert into seen (task, what) values ('retries', $1)", [JSON.stringify({ tries })]);
  });
};
