import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.GW_SECRET);

function isSigned(body, headers) {
  try {
    webhook.verify(body, headers);
    return headers["webhook-id"].endsWith("/send_invoice");
  } catch {
    return false;
  }
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await Array.fromAsync(request));
  if (!isSigned(body, request.headers)) {
    response.writeHead(401).end();
    return;
  }
  console.log("invoice", JSON.parse(body).order, request.headers["webhook-id"]);
  response.writeHead(200).end();
});
server.listen(process.env.PORT, "127.0.0.1", () => console.log("port", server.address().port));
