import hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secret = os.environ["GW_SECRET"].encode()

def is_signed(body, signature):
    fields = dict(field.partition("=")[::2] for field in signature.split(","))
    at, code = fields.get("t", ""), fields.get("v1", "")
    expected = hmac.new(secret, at.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), code.encode()) and abs(time.time() - int(at)) < 300

class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps the connection for the next job

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        good = is_signed(body, self.headers.get("Gw-Signature", ""))
        if good:
            print("invoice", json.loads(body)["order"], self.headers["Idempotency-Key"], flush=True)
        self.send_response(200 if good else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print("port", server.server_port, flush=True)
server.serve_forever()
