"use strict";
// What the TypeScript compiler makes of an ES module for CommonJS.
Object.defineProperty(exports, "__esModule", { value: true });
const task = async (payload, helpers) => {
  await helpers.query("insert into seen (task, what) values ($1, $2)", [helpers.job.task_identifier, JSON.stringify(payload)]);
};
exports.default = task;
