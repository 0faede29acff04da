import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

function isSigned(body, signature = "") {
  const fields = new URLSearchParams(signature.replaceAll(",", "&"));
  const at = fields.get("t") ?? "";
  const expected = createHmac("sha256", process.env.GW_SECRET).update(at + ".").update(body).digest();
  const code = Buffer.from(fields.get("v1") ?? "", "hex");
  return code.length === expected.length && timingSafeEqual(code, expected) && Math.abs(Date.now() / 1000 - at) < 300;
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await Array.fromAsync(request));
  if (!isSigned(body, request.headers["gw-signature"])) {
    response.writeHead(401).end();
    return;
  }
  console.log("invoice", JSON.parse(body).order, request.headers["idempotency-key"]);
  response.writeHead(200).end();
});
server.listen(process.env.PORT, "127.0.0.1", () => console.log("port", server.address().port));
