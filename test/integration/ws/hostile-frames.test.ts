import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { connectWebSocket, type WsClient } from '../../clients/websocket.ts';
import { arbitraryAttack, runAttack } from './hostile-client.ts';
import {
  encodeCloseFrame,
  encodeFrame,
  handshakeLines,
  buildRequestHead,
  openRawConnection,
  opcodes,
  type RawConnection,
} from '../../clients/raw-socket.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
const runs = Number(process.env['FRAME_RUNS'] ?? 40);

const service = useSharedService();
let attacker: TestAgent;
let witness: { agent: TestAgent; client: WsClient; thread: string };
let sent = 0;

beforeAll(async () => {
  attacker = await service.agent();
  const [agent, writer] = await Promise.all([service.agent(), service.agent()]);
  const thread_id = await service.thread(writer, agent);
  const client = await connectWebSocket(service.url, { token: agent.token });
  witness = { agent: writer, client, thread: thread_id };
});

// Invariant: a connected client stays connected and receives every event once, in order.
async function send(): Promise<void> {
  const { agent, thread } = witness;
  sent += 1;
  await service.post(agent, `/threads/${thread}/messages`, { content: `Message ${sent}` });
}
beforeEach(send);
afterEach(async () => {
  await send();
  await witness.client.waitUntil(() => witness.client.events().length === sent);
  expect(witness.client.events().map(({ data }) => data?.['sequence'])).toEqual(
    Array.from({ length: sent }, (_, index) => index + 1),
  );
});

/** A WebSocket that is open, in the hands of somebody who writes bytes. */
async function open(): Promise<RawConnection> {
  const raw = openRawConnection(service.url);
  raw.socket.write(buildRequestHead(handshakeLines(attacker.token)));
  const { head } = await raw.waitFor(({ frames }) => frames.length > 0);
  expect(head).toMatch(/^HTTP\/1\.1 101 /);
  return raw;
}

const { text, continuation, ping, close } = opcodes;
const part = (opcode: number, payload: Buffer | string, fin = false) => encodeFrame({ opcode, payload, fin });
const kilobyte = 'x'.repeat(1_024);

const closing: [what: string, bytes: Buffer[], code: number][] = [
  ['an unmasked frame', [encodeFrame({ opcode: text, payload: '{}', masked: false })], 1002],
  ['an unmasked close', [encodeFrame({ opcode: close, masked: false })], 1002],
  ...[1, 2, 4].map((rsv): [string, Buffer[], number] => [
    `the reserved bits ${rsv}`,
    [encodeFrame({ opcode: text, payload: '{}', rsv })],
    1002,
  ]),
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode): [string, Buffer[], number] => [
    `the opcode ${opcode}`,
    [encodeFrame({ opcode, payload: '{}' })],
    1002,
  ]),
  ['a ping in parts', [part(ping, 'a')], 1002],
  ['a ping that is too long', [encodeFrame({ opcode: ping, payload: 'x'.repeat(126) })], 1002],
  ['a continuation of nothing', [part(continuation, 'x', true)], 1002],
  ['a message within a message', [part(text, '{'), part(text, '}', true)], 1002],
  ['a length of 1 MiB', [encodeFrame({ opcode: text, length: 1_048_576 })], 1009],
  ['a length of 2⁶³', [encodeFrame({ opcode: text, length: 2n ** 63n })], 1009],
  [
    'parts that are too large together',
    [part(text, 'x'), ...Array.from({ length: 256 }, () => part(continuation, kilobyte))],
    1009,
  ],
  [
    'more parts than any message has',
    [part(text, ''), ...Array.from({ length: 20_000 }, () => part(continuation, ''))],
    1008,
  ],
  ['text that is no UTF-8', [encodeFrame({ opcode: text, payload: Buffer.from([0xc3, 0x28]) })], 1007],
  [
    'text whose parts are no UTF-8 together',
    [part(text, Buffer.from([0xe2, 0x82])), part(continuation, 'x', true)],
    1007,
  ],
  ['half a character', [encodeFrame({ opcode: text, payload: Buffer.from([0xed, 0xa0, 0x80]) })], 1007],
  ['a close of one byte', [encodeFrame({ opcode: close, payload: 'x' })], 1002],
  ['a close whose reason is no UTF-8', [encodeCloseFrame(1000, Buffer.from([0xff]))], 1007],
  ...[0, 999, 1004, 1005, 1006, 1015, 2_999, 5_000, 65_535].map((code): [string, Buffer[], number] => [
    `the close code ${code}`,
    [encodeCloseFrame(code)],
    1002,
  ]),
  ['the close code 1000', [encodeCloseFrame(1000, 'bye')], 1000],
  ['the close code 4999', [encodeCloseFrame(4_999)], 4_999],
  ['a close without a code', [encodeFrame({ opcode: close })], 1005],
  ['what follows a close', [encodeCloseFrame(1000), encodeFrame({ opcode: text, payload: '{}' })], 1000],
];

test.each(closing)('%s ends the connection with a close code', async (_, bytes, code) => {
  const raw = await open();
  raw.socket.write(Buffer.concat(bytes));
  const answered = await raw.waitFor(({ code: told }) => told !== undefined);
  expect(answered.code).toBe(code);
  raw.socket.destroy();
});

const deep = (depth: number) => `{"type":"ping","more":${'['.repeat(depth)}${']'.repeat(depth)}}`;

const answeredOnly: [what: string, bytes: Buffer[], answer: object][] = [
  [
    'a message of NULs',
    [encodeFrame({ opcode: text, payload: Buffer.alloc(1_000) })],
    { code: 'INVALID_JSON' },
  ],
  [
    'NULs in a field',
    [encodeFrame({ opcode: text, payload: '{"type":"subscribe","thread_id":"\\u0000"}' })],
    { code: 'VALIDATION_ERROR' },
  ],
  [
    'half characters in a cursor',
    [encodeFrame({ opcode: text, payload: '{"type":"ack","cursor":"\\ud800"}' })],
    { code: 'VALIDATION_ERROR' },
  ],
  [
    'the prototype of everything',
    [encodeFrame({ opcode: text, payload: '{"__proto__":{"type":"ping"}}' })],
    { code: 'VALIDATION_ERROR' },
  ],
];

test.each(answeredOnly)('%s gets an answer, and the connection stays open', async (_, bytes, answer) => {
  const raw = await open();
  raw.socket.write(Buffer.concat([...bytes, encodeFrame({ opcode: text, payload: deep(20_000) })]));
  const { frames, code } = await raw.waitFor((all) => all.frames.length === 3);
  // A position is looked at while what follows it is answered.
  const answers = frames.slice(1).map(({ payload }) => JSON.parse(payload.toString()));
  expect(answers).toContainEqual({ type: 'error', data: { ...answer, message: expect.any(String) } });
  expect(answers).toContainEqual({ type: 'pong' });
  expect(code).toBeUndefined();
  raw.socket.destroy();
});

test.each([
  ['pings', ping],
  ['pongs', opcodes.pong],
])('a flood of %s does not affect other clients', async (_, opcode) => {
  const raw = await open();
  for (let count = 0; count < 50; count += 1) {
    raw.socket.write(Buffer.concat(Array.from({ length: 100 }, () => encodeFrame({ opcode }))));
  }
  raw.socket.write(encodeCloseFrame(1000));
  // Who still sends when the connection ends may miss what it was told.
  expect([undefined, 1000, 1008]).toContain((await raw.waitFor(({ code }) => code !== undefined)).code);
  raw.socket.destroy();
});

test('a message can arrive in parts, split within a character, with a ping between them, and byte by byte', async () => {
  const raw = await open();
  const whole = Buffer.from('{"type":"ping","to":"žluťoučký"}');
  const at = whole.indexOf('ž') + 1;
  const bytes = Buffer.concat([
    part(text, whole.subarray(0, at)),
    encodeFrame({ opcode: ping, payload: 'still there?' }),
    part(continuation, ''),
    part(continuation, whole.subarray(at), true),
  ]);
  for (const byte of bytes) {
    raw.socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { frames } = await raw.waitFor((all) => all.frames.length === 3);
  expect(frames.slice(1).map(({ opcode, payload }) => [opcode, payload.toString()])).toEqual([
    [opcodes.pong, 'still there?'],
    [text, '{"type":"pong"}'],
  ]);
  raw.socket.destroy();
});

test('arbitrary bytes before and after the upgrade do not affect other clients', async () => {
  const property = fc.asyncProperty(
    fc.array(arbitraryAttack, { minLength: 5, maxLength: 10 }),
    async (attacks) => {
      await Promise.all([...attacks.map((one) => runAttack(service.url, attacker.token, one)), send()]);
    },
  );
  await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: 40_000 });
});

test('connections that never finish their handshake do not block new clients', async () => {
  const request = buildRequestHead(handshakeLines(attacker.token));
  const idle = Array.from({ length: 100 }, (_, index) => {
    const raw = openRawConnection(service.url);
    raw.socket.write(request.slice(0, index * 2));
    return raw;
  });
  const client = await connectWebSocket(service.url, { token: attacker.token });
  await client.close();
  for (const { socket } of idle) socket.destroy();
  expect((await requestRest('GET', `${service.url}/readyz`)).body.status).toBe('ok');
});
