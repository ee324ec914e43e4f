import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildConfiguration } from '../../../bench/peers/ejabberd/configuration.ts';
import { findInstallation } from '../../../bench/peers/ejabberd/installation.ts';
import { createFrameQueue, readTakenCount } from '../../../bench/peers/ejabberd/xmpp.ts';
import { formatFigures } from '../../../scripts/parts/format-figures.ts';
import { createTally, readNumber } from '../../../bench/load/tally.ts';
import type { Options } from '../../../bench/options.ts';
import { attempt, type Failure, isolate } from '../../../bench/peers/isolate.ts';
import { countFaults } from '../../../bench/peers/losses.ts';
import { listMeasures, type PeerFigures } from '../../../bench/suites/peers.ts';

const figures: PeerFigures = {
  name: 'WebSocket calls',
  in_flight_32_per_s: 2_400,
  in_flight_256_per_s: 3_000,
  cpu_ms: 0.8,
  steady_ms: { p50: 2, p99: 5 },
  group_ms: { p50: 8, p99: 13 },
  group_frames_per_s: 50_000,
  idle: {
    connects_per_s: 1_500,
    at_rest_kb: 90_000,
    rest_cpu_ms_per_s: 4,
    idle_cpu_ms_per_s: 6,
    marginal_kb: 10,
    average_kb: 12,
  },
  faults: { lost: 0, duplicated: 0, reordered: 0 },
  losses: null,
  not_stored: 0,
};
const byPost = { ...figures, name: 'POST', in_flight_32_per_s: 1_200, idle: null };
const ejabberd = { ...figures, name: 'ejabberd', in_flight_32_per_s: 1_200, steady_ms: { p50: 4, p99: 10 } };
const relay = { ...figures, name: 'bare ws', cpu_ms: Number.NaN, not_stored: null };

test('the table shows every server, and the ratio of both transports to ejabberd', () => {
  const rows = listMeasures([figures, byPost, ejabberd, relay]);
  const rowOf = (measure: string) =>
    Object.values(rows.find((row) => row['measure']?.startsWith(measure)) ?? {});
  expect(Object.keys(rows[0] ?? {})).toEqual([
    'measure',
    'WebSocket calls',
    'POST',
    'ejabberd',
    'bare ws',
    'WebSocket calls ÷ ejabberd',
    'POST ÷ ejabberd',
  ]);
  expect(rowOf('messages/s').slice(1)).toEqual(['2400', '1200', '1200', '2400', '2.00', '1.00']);
  expect(rowOf('send to socket').slice(1)).toEqual([
    '2.0 / 5.0',
    '2.0 / 5.0',
    '4.0 / 10.0',
    '2.0 / 5.0',
    '0.50 / 0.50',
    '0.50 / 0.50',
  ]);
  expect(rowOf('CPU ms').slice(1)).toEqual(['0.80', '0.80', '0.80', '–', '1.00', '1.00']);
  expect(rowOf('idle socket, marginal').slice(1)).toEqual(['10.0', '–', '10.0', '10.0', '1.00', '–']);
  expect(rowOf('CPU ms/s').slice(1, 3)).toEqual(['4 / 6', '– / –']);
  expect(rowOf('idle socket, average').slice(1)).toEqual(['12.0', '–', '12.0', '12.0', '1.00', '–']);
  const noFaults = '0 / 0 / 0';
  expect(rowOf('lost').slice(1)).toEqual([noFaults, noFaults, noFaults, noFaults, '', '']);
  expect(rowOf('not stored').slice(1)).toEqual(['0', '0', '0', '–', '', '']);
});

test('a server that fails ends its own measures only, and is named with its measure', async () => {
  const { signal } = new AbortController();
  const bench = {
    options: {} as Options,
    log: () => undefined,
    signal,
    fail: () => undefined,
    onEnd: () => undefined,
  };
  const failures: Failure[] = [];
  const [one, other] = [isolate(bench), isolate(bench)];
  const place = { peer: 'ejabberd', measure: 'thread' };
  const run = () => Promise.resolve(1);
  expect(
    await attempt(one, failures, place, () => Promise.reject(new Error('a socket was closed'))),
  ).toBeUndefined();
  expect(await attempt(one, failures, place, run)).toBeUndefined();
  expect(await attempt(other, failures, place, run)).toBe(1);
  expect(failures).toEqual([{ ...place, reason: 'a socket was closed' }]);
});

test('confirmed messages are compared with what a reader gets', () => {
  const confirmed = [
    [1, 3, 5],
    [2, 4],
  ];
  expect(
    countFaults(confirmed, [
      [1, 3, 5],
      [2, 4, 6],
    ]),
  ).toEqual({ lost: 0, duplicated: 0, reordered: 0 });
  expect(countFaults(confirmed, [[3, 1, 3], []])).toEqual({ lost: 3, duplicated: 1, reordered: 1 });
});

test('without ejabberd the table has ratios to the relay', () => {
  expect(Object.keys(listMeasures([figures, byPost, relay])[0] ?? {})).toContain('POST ÷ bare ws');
});

test('figures are printed as lines and tables', () => {
  const ms = { p50: 1, p95: 2, p99: 3 };
  expect(formatFigures({ lost: 0, cpu: null, ms, loads: [{ name: 'one', ms, tables: [{ a: 1 }] }] })).toBe(
    [
      'lost   0',
      'cpu    –',
      'ms     p50 1, p95 2, p99 3',
      'loads',
      '  name  ms',
      '  one   p50 1, p95 2, p99 3',
      '    a',
      '    1',
      '',
    ].join('\n'),
  );
});

test('the tally counts lost, duplicated and reordered messages of a sender', () => {
  const tally = createTally('by number');
  for (const number of [1, 2, 3, 4]) tally.expect(number, { receivers: 1 });
  for (const number of [1, 3, 2, 2]) tally.receive(0, number);
  expect(tally.readFaults()).toEqual({ lost: 1, duplicated: 1, reordered: 1 });
});

test('the tally counts members that see a different order from the first one', async () => {
  const tally = createTally('the same everywhere');
  for (const number of [1, 2, 3]) tally.expect(number, { receivers: 3 });
  const arrival = tally.arrival(3);
  for (const number of [2, 1, 3]) tally.receive(0, number);
  for (const number of [2, 1, 3]) tally.receive(1, number);
  for (const number of [1, 2]) tally.receive(2, number);
  tally.receive(2, 3);
  await arrival;
  expect(tally.readFaults()).toEqual({ lost: 0, duplicated: 0, reordered: 1 });
});

test('XMPP frames are split', async () => {
  expect(readTakenCount(`<a xmlns='urn:xmpp:sm:3' h='12'/>`)).toBe(12);
  expect(readTakenCount('<a h="7" xmlns="urn:xmpp:sm:3"/>')).toBe(7);
  expect(readTakenCount(`<r xmlns='urn:xmpp:sm:3'/>`)).toBeNull();
  const message = Buffer.from(`<message from='a#b'><body>#000000042 lorem</body></message>`);
  expect(readNumber(message, Buffer.from('<body>#'))).toBe(42);
  expect(readNumber(Buffer.from('<presence/>'), Buffer.from('<body>#'))).toBeNull();
  const queue = createFrameQueue();
  const success = queue.take((frame) => frame.startsWith('<success'));
  queue.add('<presence/>');
  queue.add('<success/>');
  expect(await success).toBe('<success/>');
  queue.add(`<failure><not-authorized/></failure>`);
  await expect(queue.take(() => true)).rejects.toThrow('not-authorized');
  const next = queue.take(() => true);
  queue.end(new Error('the server closed a socket'));
  await expect(next).rejects.toThrow('the server closed a socket');
});

test('ejabberd is configured on loopback, with its archive in the database', () => {
  const database_url = 'postgres://someone:p%40ss@127.0.0.1:5555/archive';
  expect(JSON.parse(buildConfiguration({ port: 4444, database_url }))).toMatchObject({
    listen: [{ port: 4444, ip: '127.0.0.1' }],
    sql_port: 5555,
    sql_database: 'archive',
    sql_username: 'someone',
    sql_password: 'p@ss',
    modules: {
      mod_mam: { db_type: 'sql', default: 'always' },
      mod_muc: { default_room_options: { mam: true } },
    },
  });
});

test('ejabberd is found only if all its parts are installed', () => {
  const root = mkdtempSync(join(tmpdir(), 'ams-installation-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folders = ['bin', 'usr/lib/some-machine/ejabberd-23.01-1/ebin', 'usr/share/ejabberd/sql'];
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'bin/erl'), '', { mode: 0o755 });
  writeFileSync(join(root, 'usr/share/ejabberd/sql/pg.sql'), '');
  const path = join(root, 'bin');
  expect(findInstallation(root, path)).toBeNull();
  mkdirSync(join(root, 'usr/lib/erlang/lib/p1_pgsql-1.1.20'), { recursive: true });
  expect(findInstallation(root, path)).toEqual({
    erl: join(root, 'bin/erl'),
    libraries: join(root, 'usr/lib/some-machine'),
    schema: join(root, 'usr/share/ejabberd/sql/pg.sql'),
    version: '23.01-1',
  });
  expect(findInstallation(root, '/nowhere')).toBeNull();
});
