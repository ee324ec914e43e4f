import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import Koa from 'koa';
import { beforeAll, expect, test, vi } from 'vitest';
import { BlobMissing, type BlobStore } from '../../../src/platform/blobs/store.ts';
import { serveBlobs } from '../../../src/transports/rest/blobs.ts';
import { createUploadLimit } from '../../../src/operations/execute/upload-limit.ts';
import { attachmentScanningHandler } from '../../../workers/attachment-scanning.ts';
import type { TestAgent } from '../../support/service.ts';
import { reachable, sampleText, startAttachmentService, uploadId } from './setup.ts';
import { use } from '../../support/use.ts';

const limits = { UPLOADS_PER_AGENT: '2', UPLOAD_IDLE_SECONDS: '2' };
const service = use(() => startAttachmentService({ worker: false, env: limits }));
let ada: TestAgent;
/** The signed URL of a clean file. */
let address: string;

beforeAll(async () => {
  ada = await service.agent();
  const id = await uploadId(service, ada);
  await attachmentScanningHandler(service.core).handle({ ids: [id] });
  const { headers } = await service.get(ada, `/attachments/${id}/content`);
  address = reachable(service, headers.get('location') ?? '');
});

test('need no token and cannot be changed', async () => {
  expect((await fetch(address)).status).toBe(200);
  const ticket = address.slice(address.lastIndexOf('/') + 1);
  const [text = '', signature = ''] = ticket.split('.');
  const later = JSON.parse(String(Buffer.from(text, 'base64url')));
  const altered = Buffer.from(JSON.stringify({ ...later, expires_at: later.expires_at + 1 }));
  const bad = [
    `${text}.${signature.slice(0, -1)}`,
    `${text}.${signature}=`,
    `${text}.${signature}.x`,
    `${text}A.${signature}`,
    `${altered.toString('base64url')}.${signature}`,
    `${text}.`,
    'x',
  ];
  for (const one of bad) {
    const answer = await fetch(address.replace(ticket, one));
    expect([answer.status, (await answer.json()).error.code], one).toEqual([403, 'FORBIDDEN']);
  }
  const { apiAddresses } = service.core;
  expect(apiAddresses.verify(ticket)).not.toBeNull();
  for (const [at, character] of Array.from(ticket).entries()) {
    for (const other of ['A', 'z', '.', '']) {
      if (other === character) continue;
      expect(apiAddresses.verify(ticket.slice(0, at) + other + ticket.slice(at + 1)), `${at}`).toBeNull();
    }
  }
});

test('expire, and serve only the purpose they were issued for', async () => {
  const what = {
    key: '0'.repeat(32),
    agent_id: ada.id,
    filename: 'a',
    content_type: 'text/plain',
    size_bytes: 1,
  };
  const { apiAddresses } = service.core;
  const over = reachable(service, await apiAddresses.download(what, Date.now() - 1));
  expect((await fetch(over)).status).toBe(403);
  expect((await fetch(address, { method: 'PUT', body: 'x' })).status).toBe(403);
  const put = await apiAddresses.upload(what, Date.now() + 60_000);
  expect((await fetch(reachable(service, put.url))).status).toBe(403);
  const gone = reachable(service, await apiAddresses.download(what, Date.now() + 60_000));
  expect((await fetch(gone)).status).toBe(404);
});

test('accept exactly the announced file', async () => {
  const what = { key: '1'.repeat(32), agent_id: ada.id, content_type: 'text/plain', size_bytes: 4 };
  const { url, headers } = await service.core.apiAddresses.upload(what, Date.now() + 60_000);
  const put = (body: string, type = 'text/plain') =>
    fetch(reachable(service, url), { method: 'PUT', body, headers: { 'Content-Type': type } });
  expect(headers).toEqual({ 'Content-Type': 'text/plain', 'Content-Length': '4' });
  expect((await put('four')).status).toBe(200);
  expect((await put('more than that')).status).toBe(400);
  expect((await put('few')).status).toBe(400);
  expect((await put('four', 'text/html')).status).toBe(400);
  await service.core.blobs.remove(what.key);
});

const drafts = () => readdir(join(service.folder, 'blobs', 'drafts'));

/** The address of an upload of 1,000 bytes, and what begins it. */
async function announce(key: string) {
  const what = { key, agent_id: ada.id, content_type: 'text/plain', size_bytes: 1_000 };
  const { url } = await service.core.apiAddresses.upload(what, Date.now() + 60_000);
  const target = reachable(service, url);
  const open = (headers: Record<string, string> = { 'Content-Length': '1000' }) =>
    request(target, { method: 'PUT', headers: { 'Content-Type': 'text/plain', ...headers } });
  return { target, key, open };
}

test('store nothing of a body without a length or with missing bytes', async () => {
  const { key, open } = await announce('2'.repeat(32));
  const unsaid = open({ 'Transfer-Encoding': 'chunked' });
  unsaid.end('x'.repeat(1_000));
  const [answer] = await once(unsaid, 'response');
  expect(answer.statusCode).toBe(400);
  answer.resume();
  const cut = open().on('error', () => undefined);
  cut.write('x'.repeat(500));
  await vi.waitFor(async () => expect(await drafts()).toHaveLength(1), 8_000);
  cut.destroy();
  await vi.waitFor(async () => expect(await drafts()).toEqual([]), 8_000);
  await expect(service.core.blobs.read(key)).rejects.toThrow(BlobMissing);
});

test('are in the limit of uploads of their agent, and an upload that sends nothing ends', async () => {
  const { target, key, open } = await announce('4'.repeat(32));
  const other = await announce('5'.repeat(32));
  const stalled = [open(), other.open()].map((call) => {
    call.write('x'.repeat(500));
    return once(call, 'response');
  });
  await vi.waitFor(async () => expect(await drafts()).toHaveLength(2), 8_000);
  const put = () =>
    fetch(target, { method: 'PUT', body: 'x'.repeat(1_000), headers: { 'Content-Type': 'text/plain' } });
  const refused = await put();
  expect([refused.status, (await refused.json()).error.code]).toEqual([429, 'RATE_LIMITED']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  for (const [answer] of await Promise.all(stalled)) expect(answer.statusCode).toBe(400);
  expect(await drafts()).toEqual([]);
  expect((await put()).status).toBe(200);
  await service.core.blobs.remove(key);
});

test('close the connection of a caller that does not read the response', async () => {
  const { apiAddresses, blobs } = service.core;
  const bytes = Buffer.alloc(30_000_000);
  const what = { key: '3'.repeat(32), filename: 'a', content_type: 'text/plain', size_bytes: bytes.length };
  await blobs.write(what.key, Readable.from([bytes]));
  const streams: Readable[] = [];
  const read: BlobStore['read'] = async (key) => {
    const stream = await blobs.read(key);
    streams.push(stream);
    return stream;
  };
  const parts = {
    uploads: createUploadLimit(service.core.config),
    upload_idle_ms: 300,
    download_idle_ms: 300,
  };
  const middleware = serveBlobs({ ...parts, apiAddresses, blobs: { ...blobs, read } });
  const server = new Koa().use(middleware).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { pathname } = new URL(await apiAddresses.download(what, Date.now() + 60_000));
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await vi.waitFor(() => expect(streams).toHaveLength(1), 8_000);
  await vi.waitFor(() => expect(streams[0]?.closed).toBe(true), 15_000);
  expect(streams[0]?.readableEnded).toBe(false);
  socket.destroy();
  server.close();
  await blobs.remove(what.key);
});

test('serve byte ranges correctly for every request', async () => {
  const size = sampleText.length;
  const ask = (Range: string, more: Record<string, string> = {}) =>
    fetch(address, { headers: { Range, ...more } });
  for (const [range, part] of [
    ['bytes=-5', sampleText.subarray(-5)],
    ['bytes=-99999999', sampleText],
    ['bytes=990-999999999999', sampleText.subarray(990)],
  ] as const) {
    const answer = await ask(range);
    expect([answer.status, await answer.text()]).toEqual([206, String(part)]);
  }
  for (const range of [`bytes=${size}-`, 'bytes=-0']) {
    const answer = await ask(range);
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, `bytes */${size}`]);
    await answer.text();
  }
  for (const range of [
    'bytes=0-0,2-2',
    `bytes=${'0-0,'.repeat(1_000)}1-1`,
    'bytes=5-1',
    'bytes=--5',
    'lines=1-2',
  ]) {
    const answer = await ask(range);
    expect([answer.status, (await answer.text()).length]).toEqual([200, size]);
  }
  const stale = await ask('bytes=0-0', { 'If-Range': '"another"' });
  expect([stale.status, (await stale.text()).length]).toEqual([200, size]);
  const headed = await fetch(address, { method: 'HEAD' });
  expect([headed.status, headed.headers.get('content-length')]).toEqual([200, String(size)]);
});
