import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { forEachWakeup, packWakeups, type Wakeup } from '../../../packages/core/src/domain/feed/wakeups.ts';

function unpacked(messages: { body: string }[]): Wakeup[] {
  const wakeups: Wakeup[] = [];
  for (const { body } of messages) {
    forEachWakeup(body, (agent_id, last_number) => wakeups.push({ agent_id, last_number }));
  }
  return wakeups;
}

test('any number of wake-ups fits into messages of the bus, complete and in order', () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat(), { maxLength: 300 }), (numbers) => {
      const wakeups = numbers.map((last_number) => ({ agent_id: newId('agent'), last_number }));
      const messages = packWakeups(wakeups);
      expect(unpacked(messages)).toEqual(wakeups);
      for (const { body } of messages) expect(body.length).toBeLessThanOrEqual(4_096);
    }),
  );
});

test('a malformed message causes no wake-up', () => {
  for (const body of ['', 'agt_1', '7', 'agt_1,', ',,', 'agt_1 ', ' '])
    expect(unpacked([{ body }])).toEqual([]);
  fc.assert(fc.property(fc.string(), (body) => void unpacked([{ body }])));
});
