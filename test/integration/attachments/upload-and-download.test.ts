import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { missingS3Reason, createTestBucket } from '../../support/servers/s3.ts';
import {
  fetchContent,
  listFiles,
  type AttachmentService,
  openThread,
  waitForScan,
  sendMessage,
  sampleText,
  startAttachmentService,
  upload,
  uploadId,
} from './setup.ts';

interface BlobStore {
  env: Record<string, string>;
  remove(): Promise<void>;
}

const folder = (): Promise<BlobStore> => Promise.resolve({ env: {}, remove: () => Promise.resolve() });
const closedBucket = createTestBucket;
const openBucket = async (): Promise<BlobStore> => {
  const { env, remove } = await createTestBucket();
  return { env: { ...env, S3_PUBLIC_ENDPOINT: env.S3_ENDPOINT }, remove };
};

/** From the upload to the download by the other member. */
function testUploadAndDownload(open: () => Promise<BlobStore>): () => AttachmentService {
  let place: BlobStore;
  let service: AttachmentService;
  beforeAll(async () => {
    place = await open();
    service = await startAttachmentService({ env: place.env });
  });
  afterAll(async () => {
    await service.stop();
    await place.remove();
  });

  test('a file is uploaded, sent, scanned and fetched, whole and in ranges', async () => {
    const [ada, bob] = [await service.agent(), await service.agent()];
    const bytes = randomBytes(1_500_000);
    const { status, body, headers } = await upload(service, ada, { bytes, name: 'data.bin', type: null });
    expect(status).toBe(201);
    expect(headers.get('location')).toMatch(new RegExp(`/v1/attachments/${body.id}$`));
    expect(body).toEqual({
      id: expect.stringMatching(/^att_/),
      filename: 'data.bin',
      content_type: 'application/octet-stream',
      size_bytes: bytes.byteLength,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      scan_status: 'pending',
      scanned_by: null,
      created_at: expect.any(Number),
      expires_at: body.created_at + 24 * 3_600_000,
    });
    const thread = await openThread(service, ada, bob);
    const sent = await sendMessage(service, ada, thread, [body.id]);
    expect(sent.status).toBe(201);
    const { scan_status: _status, scanned_by: _by, ...record } = { ...body, expires_at: null };
    expect(sent.body.attachments).toMatchObject([record]);
    expect(await waitForScan(service, bob, body.id)).toEqual({
      ...record,
      scan_status: 'clean',
      scanned_by: 'zip-check',
    });
    const whole = await fetchContent(service, bob, body.id);
    expect(whole.status).toBe(200);
    expect(whole.headers.get('content-type')).toBe('application/octet-stream');
    expect(whole.headers.get('content-disposition')).toBe('attachment; filename=data.bin');
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    const part = await fetchContent(service, bob, body.id, { Range: 'bytes=1000-1999' });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe('bytes 1000-1999/1500000');
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1000, 2000))).toBe(true);
  });

  test('a file is uploaded directly to the store and completed', async () => {
    const ada = await service.agent();
    const sha256 = createHash('sha256').update(sampleText).digest('hex');
    const input = { filename: 'notes.md', content_type: 'text/markdown', size: sampleText.length, sha256 };
    const { status, body } = await service.post(ada, '/attachments/uploads', input);
    expect(status).toBe(201);
    const complete = () => service.post(ada, `/attachments/${body.attachment_id}/complete`);
    expect(await complete()).toMatchObject({
      status: 409,
      body: { error: { code: 'ATTACHMENT_NOT_READY' } },
    });
    const { url, method, headers } = body.upload;
    const own = url.startsWith(service.core.config.PUBLIC_URL);
    const target = own ? `${service.url}${new URL(url).pathname}` : url;
    const put = await fetch(target, { method, headers, body: sampleText });
    expect(put.status).toBe(200);
    const completed = await complete();
    expect(completed).toMatchObject({
      status: 200,
      body: { id: body.attachment_id, filename: 'notes.md', content_type: 'text/markdown', sha256 },
    });
    expect((await complete()).body).toMatchObject({ id: body.attachment_id });
    expect(await waitForScan(service, ada, body.attachment_id)).toMatchObject({ scan_status: 'clean' });
    // The upload URL no longer changes anything.
    await fetch(target, { method, headers, body: Buffer.alloc(sampleText.length, 'x') });
    const fetched = await fetchContent(service, ada, body.attachment_id);
    expect(await fetched.text()).toBe(String(sampleText));
    // Both URLs serve only the purpose they were issued for.
    const other = { ...headers, 'Content-Type': 'text/html' };
    const refused = [
      fetch(`${target}0`, { method, headers, body: sampleText }),
      fetch(target, { method, headers: other, body: sampleText }),
      fetch(target, { method, headers: { 'Content-Type': 'text/markdown' }, body: sampleText.subarray(1) }),
      fetch(target),
      fetch(`${fetched.url}0`),
      fetch(fetched.url, { method: 'PUT', headers, body: sampleText }),
    ];
    for (const answer of await Promise.all(refused)) {
      expect([400, 403]).toContain(answer.status);
      await answer.text();
    }
  });
  return () => service;
}

/** Refused and repeated uploads store nothing. */
function refusals(service: () => AttachmentService): void {
  test('a refused upload leaves nothing in the store', async () => {
    const ada = await service().agent();
    const before = (await listFiles(service())).length;
    const bytes = Buffer.alloc(11 * 1024 * 1024, 'x');
    expect((await upload(service(), ada, { bytes })).status).toBe(413);
    expect((await upload(service(), ada, { bytes: Buffer.alloc(0) })).status).toBe(400);
    expect((await upload(service(), ada, { bytes: sampleText, type: 'image/png' })).status).toBe(415);
    expect(await listFiles(service())).toHaveLength(before);
  });

  test('one key stores one file', async () => {
    const ada = await service().agent();
    const first = await upload(service(), ada, { bytes: sampleText, key: 'k-1' });
    const before = (await listFiles(service())).length;
    const again = await upload(service(), ada, { bytes: sampleText, key: 'k-1' });
    expect(again).toMatchObject({ status: 201, text: first.text });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    for (const other of [
      { bytes: Buffer.from('other') },
      { bytes: sampleText, name: 'other.txt' },
      { bytes: sampleText, type: 'text/csv' },
    ]) {
      expect(await upload(service(), ada, { ...other, key: 'k-1' })).toMatchObject({ status: 422 });
    }
    expect(await listFiles(service())).toHaveLength(before);
    const both = await Promise.all(
      [1, 2, 3].map(() => upload(service(), ada, { bytes: sampleText, key: 'k-2' })),
    );
    expect(new Set(both.map(({ text }) => text)).size).toBe(1);
    expect(await listFiles(service())).toHaveLength(before + 1);
  });

  test('an upload without a key, or without a scope, is refused', async () => {
    const ada = await service().agent({ scopes: ['threads:read'] });
    expect(await upload(service(), ada, { bytes: sampleText })).toMatchObject({ status: 403 });
    await expect(uploadId(service(), ada)).rejects.toThrow('INSUFFICIENT_SCOPE');
  });
}

describe('files in a folder', () => refusals(testUploadAndDownload(folder)));

describeUnless(missingS3Reason, 'files in a bucket that only the service can reach', () =>
  refusals(testUploadAndDownload(closedBucket)),
);

describeUnless(
  missingS3Reason,
  'files in a bucket that callers can reach',
  () => void testUploadAndDownload(openBucket),
);
