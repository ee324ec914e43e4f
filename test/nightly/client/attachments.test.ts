import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UploadSource } from '../../../packages/client/src/main.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { buildAgent } from '../../support/service.ts';
import { clientOf } from '../../integration/client/setup.ts';

let folder: string;
let service: Awaited<ReturnType<typeof startServiceOnFixedPort>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ams-client-files-'));
  service = await startServiceOnFixedPort({ DATA_DIR: join(folder, 'data') });
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const content = 'an agent wrote this\n'.repeat(20_000);

async function* chunks(): AsyncGenerator<Uint8Array, void> {
  const bytes = new TextEncoder().encode(content);
  for (let start = 0; start < bytes.length; start += 50_000) yield bytes.slice(start, start + 50_000);
}

test('files, bytes, streams and paths are uploaded with progress, sent, and downloaded as a stream', async () => {
  const [ada, bob] = await Promise.all([buildAgent(service.core), buildAgent(service.core)]);
  const [asAda, asBob] = [clientOf(service, ada), clientOf(service, bob)];
  const path = join(folder, 'a "quoted" name.txt');
  await writeFile(path, content);
  const sources: [UploadSource, string][] = [
    [new File([content], 'file.txt', { type: 'text/plain' }), 'file.txt'],
    [new TextEncoder().encode(content), 'named.txt'],
    [chunks(), 'named.txt'],
    [new Blob([content]).stream(), 'named.txt'],
    [path, 'a "quoted" name.txt'],
  ];
  for (const [source, filename] of sources) {
    const sent: [number, number | undefined][] = [];
    const attachment = await asAda.attachments.upload(source, {
      ...(filename === 'named.txt' && { filename }),
      contentType: 'text/plain',
      onProgress: (bytes, total) => sent.push([bytes, total]),
    });
    expect(attachment).toMatchObject({ size_bytes: content.length, content_type: 'text/plain' });
    expect(attachment.filename).toContain(filename.replaceAll('"', '').slice(-8));
    expect(sent[0]?.[0]).toBe(0);
    expect(sent.at(-1)?.[0]).toBe(content.length);
    const thread = await asAda.threads.create({
      with_handle: bob.handle,
      initial_message: { attachment_ids: [attachment.id] },
    });
    expect(thread.last_sequence).toBe(1);
    const download = await asBob.attachments.download({ attachment_id: attachment.id });
    expect(download.sizeBytes).toBe(content.length);
    expect(await text(download.body)).toBe(content);
  }
});

test('an upload whose answer was lost is repeated once, and a stream is not', async () => {
  const ada = await buildAgent(service.core);
  let requests = 0;
  const asAda = clientOf(service, ada, {
    async fetch(url, init) {
      requests += 1;
      const response = await fetch(url, init);
      if (requests === 1 || requests === 3) throw new TypeError('the answer was lost');
      return response;
    },
  });
  const attachment = await asAda.attachments.upload(new Blob([randomBytes(1_000)]));
  expect(attachment.size_bytes).toBe(1_000);
  expect(requests).toBe(2);
  const stream = asAda.attachments.upload(chunks());
  await expect(stream).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
  expect(requests).toBe(3);
});

test('a refused or missing file is an error', async () => {
  const ada = await buildAgent(service.core);
  const asAda = clientOf(service, ada);
  await expect(asAda.attachments.upload(new Blob([]))).rejects.toMatchObject({ status: 400 });
  await expect(asAda.attachments.upload(join(folder, 'none'))).rejects.toMatchObject({ code: /ENOENT|ERR_/ });
  const absent = asAda.attachments.download({ attachment_id: 'att_0' });
  await expect(absent).rejects.toMatchObject({ code: 'ATTACHMENT_NOT_FOUND' });
});
