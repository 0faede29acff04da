import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

key = base64.b64decode(os.environ["GW_SECRET"].removeprefix("whsec_"))

def is_signed(body, headers):
    id, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    code = hmac.digest(key, f"{id}.{at}.".encode() + body, hashlib.sha256)
    expected = b"v1," + base64.b64encode(code)
    given = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(expected, g) for g in given) and abs(time.time() - int(at)) < 300

class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps the connection for the next job

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        id = self.headers.get("webhook-id", "")
        good = is_signed(body, self.headers) and id.endswith("/send_invoice")
        if good:
            print("invoice", json.loads(body)["order"], id, flush=True)
        self.send_response(200 if good else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print("port", server.server_port, flush=True)
server.serve_forever()
