import { expect, test, vi } from 'vitest';
import { createTimelineGuard } from '../../../src/platform/database/timeline-guard.ts';
import type { Connection } from '../../../src/platform/database/database.ts';

/** A connection to a server on this timeline; null is a standby. */
function connectionTo(timeline: string | null): Connection {
  return {
    query: <Row extends object>() => Promise.resolve([{ timeline }] as unknown as Row[]),
    begin: () => Promise.reject(new Error('nothing is written here')),
  };
}

test('a connection to a standby is refused from the start on', async () => {
  const guard = createTimelineGuard();
  await guard.onConnect(connectionTo(null));
  guard.start(() => Promise.resolve());
  await expect(guard.onConnect(connectionTo(null))).rejects.toMatchObject({ code: '25006' });
});

test('the first connection to a timeline prepares for it, and the others wait for that', async () => {
  const guard = createTimelineGuard();
  let finish: (() => void) | undefined;
  const prepare = vi.fn(
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  const listener = vi.fn();
  guard.onChange(listener);
  guard.start(prepare);
  const usable: string[] = [];
  const connecting = ['first', 'second'].map(async (name) => {
    await guard.onConnect(connectionTo('00000001'));
    usable.push(name);
  });
  await vi.waitFor(() => expect(prepare).toHaveBeenCalledOnce());
  expect([usable, listener.mock.calls]).toEqual([[], []]);
  finish?.();
  await Promise.all(connecting);
  prepare.mockResolvedValue();
  await guard.onConnect(connectionTo('00000001'));
  expect([prepare, listener].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);

  await guard.onConnect(connectionTo('00000002'));
  expect([prepare, listener].map(({ mock }) => mock.calls.length)).toEqual([2, 2]);
});

test('the timeline of the connections before the start needs no preparation, unless there were two', async () => {
  for (const [before, prepared] of [
    [['00000001', '00000001'], 0],
    [['00000001', '00000002'], 1],
    [['00000001', null], 1],
  ] as const) {
    const guard = createTimelineGuard();
    for (const timeline of before) await guard.onConnect(connectionTo(timeline));
    const prepare = vi.fn(() => Promise.resolve());
    guard.start(prepare);
    await guard.onConnect(connectionTo('00000001'));
    expect(prepare).toHaveBeenCalledTimes(prepared);
  }
});

test('no connection is used after a failed preparation, and the next one tries again', async () => {
  const guard = createTimelineGuard();
  const prepare = vi.fn(() => Promise.resolve());
  prepare.mockRejectedValueOnce(new Error('the locks are held'));
  guard.start(prepare);
  await expect(guard.onConnect(connectionTo('00000001'))).rejects.toThrow('the locks are held');
  await guard.onConnect(connectionTo('00000001'));
  expect(prepare).toHaveBeenCalledTimes(2);
});
