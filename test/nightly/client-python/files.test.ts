import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort } from '../../support/free-port.ts';
import { missingPythonReason, runPython } from '../../support/python.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { type AttachmentService, startAttachmentService } from '../../integration/attachments/setup.ts';

describeUnless(missingPythonReason, 'files and webhooks in Python', () => {
  let service: AttachmentService;
  beforeAll(async () => {
    const port = await findFreePort();
    const env = { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` };
    service = await startAttachmentService({ env });
  });
  afterAll(() => service.stop());

  test('files are uploaded from a path, bytes and an open file, and downloaded when they are scanned', async () => {
    const [one, other] = await Promise.all([service.agent(), service.agent()]);
    const bytes = randomBytes(300_000);
    const path = join(service.folder, 'Zeichnung "A".bin');
    await writeFile(path, bytes);
    const env = { URL: service.url, ONE: one.token, OTHER: other.token, HANDLE: other.handle, FILE: path };
    const result = await runPython(
      `
import io, json, os
from agent_messaging import AgentMessagingError, Client

one, other = (Client(os.environ["URL"], os.environ[name]) for name in ("ONE", "OTHER"))
path = os.environ["FILE"]
progress = []
opened = io.BytesIO(b"skipped" + b"stream")
opened.seek(7)
files = [
    one.attachments.upload(path, on_progress=lambda sent, total: progress.append((sent, total))),
    one.attachments.upload(b"bytes", filename="notes.txt"),
    one.attachments.upload(opened, filename="stream.csv", content_type="text/csv"),
]
thread = one.threads.create(with_handle=os.environ["HANDLE"])
message = one.messages.send(thread["id"], "", attachment_ids=[file["id"] for file in files])
names = [file["filename"] for file in message["attachments"]]
other.attachments.save(files[0]["id"], path + ".copy")
try:
    other.attachments.save("att_unknown", path + ".missing")
except AgentMessagingError as error:
    code = error.code
print(json.dumps({
    "names": names,
    "types": [file["content_type"] for file in files],
    "progress": progress[-1],
    "contents": [other.attachments.download(file["id"]).decode() for file in files[1:]],
    "code": code,
    "left": sorted(name for name in os.listdir(os.path.dirname(path)) if name.endswith(("copy", "missing"))),
}))
`,
      env,
    );
    expect(result).toMatchObject({
      names: [expect.stringContaining('Zeichnung'), 'notes.txt', 'stream.csv'],
      types: ['application/octet-stream', 'text/plain', 'text/csv'],
      progress: [300_000, 300_000],
      contents: ['bytes', 'stream'],
      code: 'ATTACHMENT_NOT_FOUND',
      left: ['Zeichnung "A".bin.copy'],
    });
    expect(bytes.equals(await readFile(`${path}.copy`))).toBe(true);
  });

  test('a signed request of a webhook is verified; a changed, old or unsigned one is not', async () => {
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    const body = JSON.stringify({ type: 'message.created', data: { content: 'Grüße' } });
    const sign = (time: Date) => ({
      'Webhook-Id': 'evt_1',
      'Webhook-Timestamp': String(Math.floor(time.getTime() / 1_000)),
      'Webhook-Signature': `v1,${'A'.repeat(43)}= ${new Webhook(secret).sign('evt_1', time, body)}`,
    });
    const source = `
import json, os
from agent_messaging import WebhookVerificationError, sign_webhook, verify_webhook

body, secret = os.environ["BODY"], os.environ["SECRET"]

def check(body, headers):
    try:
        return verify_webhook(body, headers, secret)["type"]
    except WebhookVerificationError as error:
        return error.code

now, old = json.loads(os.environ["HEADERS"])
own = sign_webhook(body, secret, identifier="evt_2")
print(json.dumps([
    check(body, now), check(body.encode(), own), check(body + " ", now), check(body, old), check(body, {}),
    check(body, {**now, "webhook-timestamp": "²"}),
]))
`;
    const headers = JSON.stringify([sign(new Date()), sign(new Date(Date.now() - 600_000))]);
    const refused = Array.from({ length: 4 }, () => 'WEBHOOK_NOT_VERIFIED');
    expect(await runPython(source, { BODY: body, SECRET: secret, HEADERS: headers })).toEqual([
      'message.created',
      'message.created',
      ...refused,
    ]);
  });
});
