import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { attachmentScanning } from '../../../src/jobs/outbox-jobs.ts';
import { BlobMissing } from '../../../src/platform/blobs/store.ts';
import { attachmentScanningHandler } from '../../../workers/attachment-scanning.ts';
import {
  clamdTestSignature,
  missingClamdReason,
  startClamd,
  type TestClamd,
} from '../../support/servers/clamd.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { findFreePort } from '../../support/free-port.ts';
import type { TestAgent } from '../../support/service.ts';
import { buildZip } from '../../support/zip.ts';
import {
  type AttachmentService,
  openThread,
  waitForScan,
  sendMessage,
  sampleText,
  startAttachmentService,
  upload,
  uploadId,
} from './setup.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const zipBomb = buildZip([{ name: 'zeros', bytes: Buffer.alloc(20_000_000) }]);
const mislabeledFile = buildZip([{ name: 'more', bytes: Buffer.alloc(100), declared: 4_000_000_000 }]);
const secretBomb = buildZip([{ name: 'zeros', bytes: Buffer.alloc(20_000_000), declared: 100 }]);
const lateBomb = buildZip([
  ...Array.from({ length: 300 }, (_, index) => ({ name: `${index}`, bytes: Buffer.from('x') })),
  { name: 'zeros', bytes: Buffer.alloc(20_000_000), declared: 100 },
]);
const smallerThanDeclared = buildZip([{ name: 'a', bytes: sampleText, declared: sampleText.length + 1 }]);
const manyEntriesZip = buildZip(
  Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}`, bytes: Buffer.from('x') })),
);

const zipOfManyFiles = buildZip(
  Array.from({ length: 1_000 }, (_, index) => ({ name: `${index}`, bytes: Buffer.from(`file ${index}`) })),
);
/** The first byte of its data announces a block type that does not exist (RFC 1951, section 3.2.3). */
const damagedZip = buildZip([{ name: 'a', bytes: sampleText }]);
damagedZip[31] = 0xff;

async function fetched(service: AttachmentService, agent: TestAgent, id: string) {
  const { status, body, headers } = await service.get(agent, `/attachments/${id}/content`);
  return { status, code: body?.error?.code, retry: headers.get('retry-after') };
}

/** The events of one type that an agent has received. */
async function eventsOf(service: AttachmentService, agent: TestAgent, type: string) {
  const cursor = service.core.settings.cursors.encodeFeed(agent.id, 0);
  const { body } = await service.get(agent, `/events?limit=100&cursor=${cursor}`);
  return body.events.filter((event: { type: string }) => event.type === type);
}

describe('the check of ZIP archives', () => {
  let service: AttachmentService;
  let ada: TestAgent;
  beforeAll(async () => {
    service = await startAttachmentService({ env: { LOG_LEVEL: 'silent' } });
    ada = await service.agent();
  });
  afterAll(() => service.stop());

  test.each([
    ['an archive bomb', zipBomb, null],
    ['an archive bomb appended to a picture', Buffer.concat([png, zipBomb]), null],
    ['an archive with a huge declared size', mislabeledFile, null],
    ['an archive that unpacks to more than it declares', secretBomb, null],
    ['an archive whose last entry does', lateBomb, null],
    ['an archive that unpacks to less than it declares', smallerThanDeclared, null],
    ['an archive with too many files', manyEntriesZip, null],
  ])('%s is infected: its bytes are removed, the record stays', async (_, bytes, type) => {
    const id = await uploadId(service, ada, { bytes, type, name: 'sample' });
    expect(await waitForScan(service, ada, id)).toMatchObject({
      scan_status: 'infected',
      scanned_by: 'zip-check',
    });
    expect(await fetched(service, ada, id)).toMatchObject({ status: 403, code: 'ATTACHMENT_INFECTED' });
    const key = (await service.core.db.attachments.find(id))?.storage_key ?? '';
    const read = () => service.core.blobs.read(key);
    await vi.waitFor(() => expect(read()).rejects.toThrow(BlobMissing), 10_000);
  });

  test.each([
    ['text', sampleText, 'text/plain'],
    ['a picture', png, 'image/png'],
    ['an archive', buildZip([{ name: 'a.txt', bytes: sampleText }]), null],
    ['an archive with many files', zipOfManyFiles, null],
    ['a damaged archive', damagedZip, null],
    ['a text that ends like an archive', Buffer.concat([sampleText, zipBomb.subarray(-22)]), null],
    ['random bytes', randomBytes(100_000), null],
  ])('%s is clean, and only then members can fetch it', async (_, bytes, type) => {
    const bob = await service.agent();
    const id = await uploadId(service, ada, { bytes, type, name: 'sample' });
    expect(await fetched(service, bob, id)).toMatchObject({ status: 404, code: 'ATTACHMENT_NOT_FOUND' });
    const thread = await openThread(service, ada, bob);
    expect((await sendMessage(service, ada, thread, [id])).status).toBe(201);
    expect(await waitForScan(service, bob, id)).toMatchObject({
      scan_status: 'clean',
      scanned_by: 'zip-check',
    });
    expect(await fetched(service, bob, id)).toMatchObject({ status: 302 });
  });
});

describe('before the scan, and after it', () => {
  let service: AttachmentService;
  beforeAll(async () => {
    service = await startAttachmentService({ worker: false, env: { LOG_LEVEL: 'silent' } });
  });
  afterAll(() => service.stop());

  test('members wait and receive the scan result; strangers receive nothing', async () => {
    const [ada, bob, eve] = [await service.agent(), await service.agent(), await service.agent()];
    const id = await uploadId(service, ada);
    const thread = await openThread(service, ada, bob, eve);
    expect((await sendMessage(service, ada, thread, [id])).status).toBe(201);
    expect(await fetched(service, bob, id)).toEqual({
      status: 409,
      code: 'ATTACHMENT_NOT_READY',
      retry: '1',
    });
    const leave = await service.delete(eve, `/threads/${thread}/members/${eve.id}`);
    expect(leave.status).toBeLessThan(300);
    await attachmentScanningHandler(service.core).handle({ ids: [id] });
    for (const agent of [ada, bob]) {
      const events = await eventsOf(service, agent, 'attachment.scanned');
      expect(events).toMatchObject([
        { data: { attachment_id: id, scan_status: 'clean', thread_id: thread } },
      ]);
      expect(await fetched(service, agent, id)).toMatchObject({ status: 302 });
    }
    expect(await eventsOf(service, eve, 'attachment.scanned')).toEqual([]);
    expect(await fetched(service, eve, id)).toMatchObject({ status: 404, code: 'ATTACHMENT_NOT_FOUND' });
    // A repeated scan emits no event.
    await attachmentScanningHandler(service.core).handle({ ids: [id] });
    expect(await eventsOf(service, ada, 'attachment.scanned')).toHaveLength(1);
  });

  test('all members receive the result of a scan that ends while its file is sent', async () => {
    const [ada, bob] = [await service.agent(), await service.agent()];
    const thread = await openThread(service, ada, bob);
    const id = await uploadId(service, ada);
    const { database } = service.core;
    const waiting = async () => {
      const text = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return (await service.sql(text)).length;
    };
    // Its commit waits for the feed of bob, and the scan waits for the row of the file, which the message has locked.
    const feed = await database.begin();
    await feed.query({ text: 'select from feed_heads where agent_id = $1 for update' }, [bob.id]);
    const sent = sendMessage(service, ada, thread, [id]);
    await expect.poll(waiting).toBe(1);
    const scan = attachmentScanningHandler(service.core).handle({ ids: [id] });
    await expect.poll(waiting).toBe(2);
    await feed.commit();
    await scan;
    expect((await sent).status).toBe(201);
    const { id: message_id } = (await sent).body;
    for (const agent of [ada, bob]) {
      expect(await eventsOf(service, agent, 'attachment.scanned')).toMatchObject([
        { data: { attachment_id: id, message_id, thread_id: thread } },
      ]);
    }
  });

  test('an unsent file is visible only to its uploader; an infected file cannot be sent', async () => {
    const [ada, bob] = [await service.agent(), await service.agent()];
    const thread = await openThread(service, ada, bob);
    const id = await uploadId(service, ada, { bytes: zipBomb, type: null });
    await attachmentScanningHandler(service.core).handle({ ids: [id] });
    expect(await eventsOf(service, ada, 'attachment.scanned')).toMatchObject([
      { data: { scan_status: 'infected', message_id: null, thread_id: null } },
    ]);
    expect(await eventsOf(service, bob, 'attachment.scanned')).toEqual([]);
    const refused = await sendMessage(service, ada, thread, [id]);
    // A check of ZIP archives finds no malware, so no text says so.
    const message = `This file was found unsafe and was removed: ${id}`;
    expect(refused).toMatchObject({
      status: 403,
      body: { error: { code: 'ATTACHMENT_INFECTED', message } },
    });
  });
});

describeUnless(missingClamdReason, 'ClamAV', () => {
  let service: AttachmentService;
  let ada: TestAgent;
  let clamd: TestClamd;
  let port: number;
  beforeAll(async () => {
    port = await findFreePort();
    clamd = await startClamd('1M', port);
    service = await startAttachmentService({
      worker: false,
      env: { CLAMD_URL: clamd.url, LOG_LEVEL: 'silent' },
    });
    ada = await service.agent();
  });
  afterAll(async () => {
    await service.stop();
    await clamd.stop();
  });

  const scan = (id: string, timeoutMs?: number) =>
    attachmentScanningHandler(service.core, timeoutMs === undefined ? {} : { timeoutMs }).handle({
      ids: [id],
    });
  const record = async (id: string) => {
    const { scan_status, scanned_by } = (await service.core.db.attachments.find(id)) ?? {};
    return { scan_status, scanned_by };
  };

  test.each([
    ['a known signature', clamdTestSignature, 'infected'],
    ['a known signature in an archive', buildZip([{ name: 'a', bytes: clamdTestSignature }]), 'infected'],
    ['anything else', randomBytes(900_000), 'clean'],
  ])('judges %s', async (_, bytes, scan_status) => {
    const id = await uploadId(service, ada, { bytes, type: null, name: 'sample' });
    await scan(id);
    expect(await record(id)).toEqual({ scan_status, scanned_by: 'clamav' });
  });

  test('a file over its limit is not clean: the scan is retried, then fails', async () => {
    const id = await uploadId(service, ada, { bytes: randomBytes(3_000_000), type: null, name: 'large' });
    await expect(scan(id)).rejects.toThrow('not scanned');
    expect(await record(id)).toEqual({ scan_status: 'pending', scanned_by: null });
    await scan(id, 0);
    expect(await record(id)).toEqual({ scan_status: 'failed', scanned_by: null });
    expect(await fetched(service, ada, id)).toMatchObject({ status: 409, code: 'ATTACHMENT_NOT_READY' });
  });

  test('no file is clean during an outage, and pending files are scanned afterwards', async () => {
    await clamd.stop();
    const id = await uploadId(service, ada);
    await expect(scan(id)).rejects.toThrow('not scanned');
    expect(await record(id)).toEqual({ scan_status: 'pending', scanned_by: null });
    const text = 'select count(*)::int as owed from outbox where job = $1 and subject_id = $2';
    const rows = await service.sql(text, [attachmentScanning.name, id]);
    expect(rows).toEqual([{ owed: 1 }]);
    clamd = await startClamd('1M', port);
    await scan(id);
    expect(await record(id)).toEqual({ scan_status: 'clean', scanned_by: 'clamav' });
  });

  test('the check of ZIP archives runs first', async () => {
    const { body } = await upload(service, ada, { bytes: zipBomb, type: null, name: 'bomb' });
    await scan(body.id);
    expect(await record(body.id)).toEqual({ scan_status: 'infected', scanned_by: 'zip-check' });
  });
});
