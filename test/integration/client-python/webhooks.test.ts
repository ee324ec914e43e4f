import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { missingPythonReason, pythonPackage, runPython } from '../../support/python.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

describeUnless(missingPythonReason, 'webhooks in Python', () => {
  test('a malformed secret or header is refused as an unverified request, and so is a signature with an empty key', async () => {
    const result = await runPython(`
import base64, hashlib, hmac, json, time
from agent_messaging import WebhookVerificationError, sign_webhook, verify_webhook

good = "whsec_" + base64.b64encode(b"k" * 24).decode()
body = json.dumps({"type": "message.created"})
headers = sign_webhook(body, good, identifier="evt_1")

def attempt(secret, changes={}):
    try:
        return verify_webhook(body, {**headers, **changes}, secret)["type"]
    except WebhookVerificationError as error:
        return error.code

def forge():
    now = str(int(time.time()))
    digest = hmac.new(b"", f"evt_1.{now}.{body}".encode(), hashlib.sha256).digest()
    return {"webhook-timestamp": now, "webhook-signature": "v1," + base64.b64encode(digest).decode()}

secrets = ["", "whsec_", "whsec_A", "whsec_!!!!", "whsec_é", "abc", None, good[6:]]
print(json.dumps({
    "good": attempt(good),
    "malformed": [attempt(secret) for secret in secrets],
    "forged": [attempt(secret, forge()) for secret in secrets],
    "headers": [attempt(good, {"webhook-timestamp": "9" * 5000}), attempt(good, {"webhook-signature": "v1,\\ud800"})],
}))
`);
    const refused = (count: number) => Array<string>(count).fill('WEBHOOK_NOT_VERIFIED');
    expect(result).toEqual({
      good: 'message.created',
      malformed: refused(8),
      forged: refused(8),
      headers: refused(2),
    });
  });

  test('work names the instance by its host and process, at most 64 characters', async () => {
    const result = await runPython(`
import json
from agent_messaging.inbox import _name_instance
print(json.dumps([_name_instance("web-1.example", 42), _name_instance("é" + "x" * 100, 4194304)]))
`);
    expect(result).toEqual(['web-1.example-42', `-${'x'.repeat(55)}-4194304`]);
  });
});

test('what pip builds in the checkout is not committed', () => {
  const ignored = readFileSync(resolve(pythonPackage, '../../.gitignore'), 'utf8').split('\n');
  expect(ignored).toContain('packages/client-python/build/');
});
