import { QueueKeys } from 'bullmq';
import { Command } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { queueNames } from '../../../src/jobs/define.ts';
import { shardedChannelNames } from '../../../src/platform/bus/sharded-channels.ts';
import { queuePrefix } from '../../../src/platform/queues/redis.ts';

const cluster = 'redis+cluster://one';
const slotOf = (key: string) => new Command('get', [key]).getSlot();

/** Every key that BullMQ has for a queue, and those of a job. */
function slotsOf(url: string, name: string): Set<number> {
  const keys = new QueueKeys(queuePrefix(url, 'ams', name));
  const all = [
    ...Object.values(keys.getKeys(name)),
    keys.toKey(name, 'job-1'),
    keys.toKey(name, 'job-1:lock'),
  ];
  expect(all.length).toBeGreaterThan(10);
  return new Set(all.map(slotOf));
}

describe('in a Redis Cluster', () => {
  test('all keys of a queue are in one slot, and each queue has a different slot', () => {
    const slots = queueNames.map((name) => [...slotsOf(cluster, name)]);
    expect(slots.every((of) => of.length === 1)).toBe(true);
    expect(new Set(slots.flat()).size).toBe(queueNames.length);
  });

  test('queues keep their names on one server and with sentinels', () => {
    for (const url of ['redis://one', 'rediss://one', 'redis+sentinel://one/main'])
      expect(queuePrefix(url, 'ams', 'delivery')).toBe('{ams}');
    expect(queuePrefix(cluster, 'ams', 'delivery')).toBe('{ams:delivery}');
  });

  test('the channels of the bus are spread over all masters', () => {
    for (const prefix of ['ams:', 'test:', 'other-installation:']) {
      const slots = shardedChannelNames(`${prefix}bus`).map(slotOf);
      expect(new Set(slots).size).toBe(16);
      for (const masters of [3, 4, 6]) {
        const counts = new Map<number, number>();
        for (const slot of slots) {
          const master = Math.floor((slot * masters) / 16_384);
          counts.set(master, (counts.get(master) ?? 0) + 1);
        }
        expect(counts.size).toBe(masters);
      }
    }
  });
});
