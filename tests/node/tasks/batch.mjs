// A batch: some of its elements may fail.
export default async (payload, { query }) =>
  payload.map(async (element) => {
    if (element.fail) throw new Error(element.fail);
    await query("insert into seen (task, what) values ('batch', $1)", [JSON.stringify(element)]);
  });
