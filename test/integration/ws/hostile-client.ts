import fc from 'fast-check';
import { expect } from 'vitest';
import { checkReceived } from '../../support/asyncapi/check-received.ts';
import {
  type RawResponse,
  encodeFrame,
  handshakeLines,
  buildRequestHead,
  openRawConnection,
  opcodes,
  parseResponse,
} from '../../clients/raw-socket.ts';

/** The close codes that a hostile connection may receive; none when it is cut. */
const knownCloseCodes = [undefined, 1000, 1002, 1005, 1007, 1008, 1009];

function expectSound({ head, body, frames, code }: RawResponse, given: ReadonlySet<number>): void {
  if (head.startsWith('HTTP/1.1 100 ')) return expectSound(parseResponse(body), given);
  if (!head.startsWith('HTTP/1.1 101 ')) {
    if (head === '') return undefined;
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(head).toMatch(/^X-Request-Id: ./im);
    const length = Number(/^Content-Length: (\d+)$/im.exec(head)?.[1]);
    const refusal = JSON.parse(body.subarray(0, length).toString());
    expect(refusal).toMatchObject({ error: { code: expect.any(String) } });
    // After a request without an upgrade, the connection serves the next request.
    return expectSound(parseResponse(body.subarray(length)), given);
  }
  for (const { opcode, payload } of frames) {
    if (opcode === opcodes.text) checkReceived('websocket', JSON.parse(payload.toString()));
    else expect([opcodes.close, opcodes.ping, opcodes.pong]).toContain(opcode);
  }
  // A right close is answered with its own code.
  if (code === undefined || !given.has(code)) expect(knownCloseCodes).toContain(code);
  return undefined;
}

const arbitraryFrame = fc.record({
  fin: fc.boolean(),
  rsv: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(7) }),
  opcode: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...Object.values(opcodes)) },
    { weight: 1, arbitrary: fc.nat(15) },
  ),
  payload: fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((json) => Buffer.from(json)),
    fc
      .constantFrom(
        '{"type":"ping"}',
        '{"type":"subscribe"}',
        '{"type":"call","id":"1","operation":"get_me"}',
        '{"type":"call","id":"1","operation":"wait_for_reply","input":{"thread_id":"x"}}',
        '',
      )
      .map((json) => Buffer.from(json)),
  ),
  masked: fc.oneof({ weight: 8, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  length: fc.option(fc.oneof(fc.nat(200_000), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })), {
    freq: 8,
    nil: undefined,
  }),
});

const arbitraryHeaderLine = fc.constantFrom(
  'Upgrade: h2c',
  'Connection: close',
  'Content-Length: 5',
  'Transfer-Encoding: chunked',
  'Sec-WebSocket-Version: 8',
  'Sec-WebSocket-Key: short',
  'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99',
  'Sec-WebSocket-Protocol: bearer, x, y',
  'Authorization: Bearer nonsense',
  'Expect: 100-continue',
  'X-Null: a\0b',
  'no header at all',
  ` folded: ${'x'.repeat(100)}`,
);

/** What one hostile connection does, and how it leaves. */
export const arbitraryAttack = fc.record({
  lines: fc.array(fc.tuple(fc.nat(8), arbitraryHeaderLine), { maxLength: 2 }),
  /** How much of the head is sent at all. */
  head: fc.oneof(
    { weight: 6, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
  ),
  frames: fc.array(arbitraryFrame, { maxLength: 8 }),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
  leaves: fc.constantFrom('reset', 'end', 'destroy', 'half'),
});

type Attack = typeof arbitraryAttack extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * One hostile connection from beginning to end.
 * @throws {Error} when anything but the promised came back
 */
export async function runAttack(
  url: string,
  token: string,
  { lines, head, frames, cuts, leaves }: Attack,
): Promise<void> {
  const all = handshakeLines(token);
  for (const [at, line] of lines) all.splice(at, at % 2, line);
  const request = Buffer.from(buildRequestHead(all), 'latin1');
  const bytes = Buffer.concat([
    request.subarray(0, Math.ceil(request.length * head)),
    ...frames.map(encodeFrame),
  ]);
  const whole = leaves === 'half' ? bytes.subarray(0, -1) : bytes;
  const raw = openRawConnection(url);
  let from = 0;
  for (const cut of [...cuts, 1].toSorted((a, b) => a - b)) {
    const to = Math.round(cut * whole.length);
    raw.socket.write(whole.subarray(from, to));
    from = to;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (leaves === 'reset') raw.socket.resetAndDestroy();
  else if (leaves === 'destroy') raw.socket.destroy();
  else raw.socket.end();
  const codes = frames.flatMap(({ opcode, payload }) =>
    opcode === opcodes.close && payload.length >= 2 ? [payload.readUInt16BE(0)] : [],
  );
  expectSound(await raw.waitForEnd, new Set(codes));
}
