// Reads crontabs as Graphile Worker does. stdin is JSON: version (gw16, gw17 or gw18); crontabs, an array of texts. stdout
// is a JSON array with {items} or {error} for each.
import { text } from "node:stream/consumers";

const { version, crontabs } = JSON.parse(await text(process.stdin));
const { parseCrontab } = await import(version);

function read(crontab) {
  try {
    return { items: parseCrontab(crontab).map(({ match, ...item }) => ({ ...item, ...match.parsedCronMatch })) };
  } catch (e) {
    return { error: e.message };
  }
}
console.log(JSON.stringify(crontabs.map(read)));
