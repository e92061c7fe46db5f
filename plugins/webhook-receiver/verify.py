import hashlib
import hmac
import re
import time


def verify(body, signature, secret, now=None):
    """Whether Jackdaw sent these bytes within the last five minutes.

    body: the bytes of the request, before parsing
    signature: the header X-Service-Signature, or None
    secret: the complete secret, whsec_...
    now: in seconds since 1970
    """
    start = re.match(r"t=([0-9]{1,12}),", signature or "")
    if not secret or not start:
        return False
    if abs((time.time() if now is None else now) - int(start[1])) > 300:
        return False
    message = start[1].encode() + b"." + body
    expected = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()
    given = re.findall(r",v1=([0-9a-f]{64})(?=,|\Z)", signature)
    return any([hmac.compare_digest(one, expected) for one in given])
