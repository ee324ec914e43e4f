import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { json, result, startBridge, streamed } from './bridge-in-process.ts';

const burst = 30;
const bodyOf = (index: number) => `${index} ${'x'.repeat(200)}`;
const logMessage = (index: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: bodyOf(index) },
});

/** An output whose buffer is full after every message. */
const smallOutput = () => new PassThrough({ highWaterMark: 16 });

function recordWarnings(): Error[] {
  const warnings: Error[] = [];
  const record = (warning: Error) => void warnings.push(warning);
  process.on('warning', record);
  onTestFinished(() => void process.off('warning', record));
  return warnings;
}

test('a burst waits for a slow reader in order, with one listener', async () => {
  const warnings = recordWarnings();
  const { call, input, next } = await startBridge(
    (response, rpcCall) => {
      const messages = Array.from({ length: burst }, (_, index) => logMessage(index));
      streamed(response, ...messages, { jsonrpc: '2.0', id: rpcCall.id, result: { content: [] } }).end();
    },
    { output: smallOutput() },
  );
  input.write('not JSON\n'.repeat(burst));
  for (let index = 0; index < burst; index += 1) {
    expect(await next()).toMatchObject({ error: { code: -32_700 } });
  }
  call(1, 'look');
  for (let index = 0; index < burst; index += 1) {
    expect(await next()).toMatchObject({ params: { data: bodyOf(index) } });
  }
  expect(await next()).toMatchObject({ id: 1, result: {} });
  expect(warnings).toEqual([]);
});

test('pending output for a slow reader is written after the client has closed its input', async () => {
  const { call, calls, ended, input, next } = await startBridge(
    (response, rpcCall) => result(response, rpcCall, { content: [{ type: 'text', text: bodyOf(0) }] }),
    { output: smallOutput() },
  );
  for (let id = 1; id <= burst; id += 1) call(id, 'look');
  await vi.waitFor(() => expect(calls).toHaveLength(burst), { timeout: 15_000 });
  input.end();
  const ids = [];
  for (let count = 0; count < burst; count += 1) ids.push(Object(await next()).id);
  expect(ids.sort((left, right) => left - right)).toEqual(
    Array.from({ length: burst }, (_, index) => index + 1),
  );
  await ended;
});

test('a reader that has disconnected ends the bridge at once, also with waiting messages', async () => {
  const output = smallOutput();
  const { ended, input, call, calls } = await startBridge((response) => json(response, {}, 404), { output });
  input.write('not JSON\n'.repeat(burst));
  call(1, 'look');
  await vi.waitFor(() => expect(calls).not.toHaveLength(0), { timeout: 20_000 });
  output.destroy(new Error('EPIPE'));
  await ended;
});
