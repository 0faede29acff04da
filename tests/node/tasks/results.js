// Returns what it is told to.
export default (payload) => {
  if (Array.isArray(payload)) return payload[0].return ?? payload.map((element) => (element.reject ? Promise.reject(element.reject) : element));
  return payload.return;
};
