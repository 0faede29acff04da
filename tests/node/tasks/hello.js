// The first task of Graphile Worker's documentation, as an ES module.
export default async (payload, helpers) => {
  const { name } = payload;
  helpers.logger.info(`Hello, ${name}`);
};
