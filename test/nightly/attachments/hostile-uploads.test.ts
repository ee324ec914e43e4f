import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RestResponse } from '../../clients/rest.ts';
import type { TestAgent } from '../../support/service.ts';
import {
  type AttachmentService,
  multipartType,
  buildPart,
  sampleText,
  startAttachmentService,
  upload,
} from '../../integration/attachments/setup.ts';

const mebibyte = 1024 * 1024;

/**
 * The limits of one upload, in milliseconds, including the client and the database driver, which run in this process. CPU time does not
 * depend on the load of the machine: these bodies take less than 1,000, but 5,000 to 26,000 with a parser that emits an
 * event for each CR. The longest delay of the event loop does depend on the load: usually below 60.
 */
const limits = { cpu: 3_000, blocked: 1_000 };

async function expectCheap(run: () => Promise<void>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  await pause(20);
  delay.enable();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  await pause(20);
  delay.disable();
  expect((user + system) / 1e3).toBeLessThan(limits.cpu);
  expect(delay.max / 1e6).toBeLessThan(limits.blocked);
}

describe('a body that is slow to parse', () => {
  let service: AttachmentService;
  let ada: TestAgent;
  beforeAll(async () => {
    service = await startAttachmentService({ worker: false });
    ada = await service.agent();
  });
  afterAll(() => service.stop());

  function sendMessage(boundary: string, body: Buffer): Promise<RestResponse> {
    const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
    return service.post(ada, '/attachments', undefined, { headers, raw: new Uint8Array(body) });
  }

  const disposition = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n';
  function bodyOf(boundary: string, head: string, content: Buffer): Buffer {
    const parts = [`--${boundary}\r\n${disposition}${head}`, content, `\r\n--${boundary}--\r\n`];
    return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  }

  const long = '-'.repeat(70);
  const full = (pattern: string) => Buffer.alloc(10 * mebibyte, pattern);
  const stored: [string, string, Buffer][] = [
    ['CR', 'x', full('\r')],
    ['LF', 'x', full('\n')],
    ['CRLF', 'x', full('\r\n')],
    ['dashes', 'x', full('-')],
    ['the dashes of the boundary', long, Buffer.concat([Buffer.from('x'), full('-').subarray(1)])],
    ['boundaries with a wrong last byte', `${'b'.repeat(69)}x`, full(`\r\n--${'b'.repeat(69)}`)],
    ['the end of a boundary', `a${'b'.repeat(69)}`, full('b')],
    ['the beginnings of boundaries', long, full('\r\n-\r\n--\r\n---')],
  ];
  test.each(stored)(
    'whose file is %s is stored unchanged and does not block other requests',
    async (_, boundary, content) => {
      let answer: RestResponse | undefined;
      await expectCheap(async () => {
        answer = await sendMessage(boundary, bodyOf(boundary, 'Content-Type: text/plain\r\n\r\n', content));
      });
      const sha256 = createHash('sha256').update(content).digest('hex');
      expect(answer).toMatchObject({ status: 201, body: { size_bytes: content.length, sha256 } });
    },
  );

  const almost = (pattern: string) => Buffer.alloc(9 * mebibyte, pattern);
  const malformed: [string, string, Buffer][] = [
    ['a header without end', 'x', bodyOf('x', 'a: ', almost('b'))],
    ['headers without end', 'x', bodyOf('x', '', almost('a: b\r\n'))],
    ['headers of CR', 'x', bodyOf('x', 'a: ', almost('\r'))],
    ['a preamble of CR without end', 'x', almost('\r')],
    ['nothing but boundaries', 'x', almost('\r\n--x')],
    ['nothing but empty parts', 'x', almost('--x\r\n\r\n\r\n')],
  ];
  test.each(malformed)('of %s is refused and does not block other requests', async (_, boundary, body) => {
    let answer: RestResponse | undefined;
    await expectCheap(async () => {
      answer = await sendMessage(boundary, body);
    });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
  });

  test('in chunks of one byte is stored unchanged and does not block other requests', async () => {
    const content = Buffer.alloc(100_000, '\r\n-');
    let answer = { status: 0, text: '' };
    await expectCheap(async () => {
      const call = post(service, ada, 'multipart/form-data; boundary=x');
      const answered = answerOf(call);
      call.setNoDelay(true);
      let sent = 0;
      for (const byte of bodyOf('x', '\r\n', content)) {
        call.write(Buffer.from([byte]));
        if ((sent += 1) % 1_000 === 0) await pause(0);
      }
      call.end();
      answer = await answered;
    });
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text).sha256).toBe(createHash('sha256').update(content).digest('hex'));
  });

  test.each(['multipart/form-data', `multipart/form-data; boundary=${'x'.repeat(71)}`])(
    'under the type %j is refused',
    async (type) => {
      const answer = await service.post(ada, '/attachments', undefined, {
        headers: { 'Content-Type': type },
        raw: new Uint8Array(sampleText),
      });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    },
  );
});

function post({ url }: AttachmentService, agent: TestAgent, type: string): ClientRequest {
  const { hostname, port } = new URL(url);
  const headers = {
    Authorization: `Bearer ${agent.token}`,
    'Content-Type': type,
    'Idempotency-Key': `k-${Math.random()}`,
    'Transfer-Encoding': 'chunked',
  };
  const call = request({ hostname, port, path: '/v1/attachments', method: 'POST', headers, agent: false });
  call.on('error', () => undefined);
  return call;
}

async function answerOf(call: ClientRequest): Promise<{ status: number; text: string }> {
  const [response] = await once(call, 'response');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, text };
}

const head = buildPart({ bytes: Buffer.alloc(0) }).subarray(0, -2);

describe('uploads in progress', () => {
  const env = { UPLOADS_PER_AGENT: '3', UPLOADS_PER_PROCESS: '5' };
  let service: AttachmentService;
  beforeAll(async () => {
    service = await startAttachmentService({ worker: false, env: { ...env, LOG_LEVEL: 'silent' } });
  });
  afterAll(() => service.stop());

  /** Uploads that send their headers and no body. */
  function stall(agent: TestAgent, count: number): ClientRequest[] {
    return Array.from({ length: count }, () => {
      const call = post(service, agent, multipartType);
      call.write(head);
      return call;
    });
  }

  async function until(status: number, agent: TestAgent): Promise<RestResponse> {
    return vi.waitFor(async () => {
      const answer = await upload(service, agent, { bytes: sampleText });
      expect(answer.status).toBe(status);
      return answer;
    }, 20_000);
  }

  test('are limited per agent and per process before they are read, and no longer count when the clients disconnect', async () => {
    const [ada, bob, eve] = [await service.agent(), await service.agent(), await service.agent()];
    const stalled = stall(ada, 3);
    const refused = await until(429, ada);
    expect(refused.body.error.code).toBe('RATE_LIMITED');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const unsent = post(service, ada, multipartType);
    unsent.flushHeaders();
    expect((await answerOf(unsent)).status).toBe(429);
    unsent.destroy();
    await until(201, bob);

    stalled.push(...stall(bob, 2));
    const busy = await until(503, eve);
    expect(busy.body.error.code).toBe('UNAVAILABLE');
    expect(Number(busy.headers.get('retry-after'))).toBeGreaterThan(0);

    for (const call of stalled) call.destroy();
    await until(201, eve);
    await until(201, ada);
  });

  test('no longer count when they are refused', async () => {
    const ada = await service.agent();
    for (let count = 0; count < 8; count += 1) {
      const answer = await upload(service, ada, { bytes: sampleText, field: 'upload' });
      expect(answer.status).toBe(400);
    }
    expect((await upload(service, ada, { bytes: sampleText })).status).toBe(201);
  });
});

test('a stalled upload ends with the reason, before and within its file; a slow upload does not', async () => {
  const env = { UPLOAD_IDLE_SECONDS: '2', UPLOADS_PER_AGENT: '3', LOG_LEVEL: 'silent' };
  const service = await startAttachmentService({ worker: false, env });
  try {
    const ada = await service.agent();
    const stalled = [Buffer.alloc(0), head].map((start) => {
      const call = post(service, ada, multipartType);
      call.flushHeaders();
      if (start.length > 0) call.write(start);
      return answerOf(call);
    });
    const slow = post(service, ada, 'multipart/form-data; boundary=x');
    const slowly = answerOf(slow);
    for (const piece of [
      '--x\r\nContent-Disposition: form-data; name="file"; ',
      'filename="a.txt"\r\n\r\n',
      'a',
    ]) {
      slow.write(piece);
      await pause(1_000);
    }
    slow.end('\r\n--x--');
    expect((await slowly).status).toBe(201);
    for (const { status, text } of await Promise.all(stalled)) {
      expect([status, JSON.parse(text).error.code]).toEqual([400, 'VALIDATION_ERROR']);
      expect(text).toContain('no data received for 2 s');
    }
    expect((await upload(service, ada, { bytes: sampleText })).status).toBe(201);
  } finally {
    await service.stop();
  }
});
