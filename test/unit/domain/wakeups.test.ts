import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newId } from '../../../src/domain/ids.ts';
import { forEachWakeup, packWakeups, type Wakeup } from '../../../src/domain/feed/wakeups.ts';

function unpacked(messages: { body: string }[]): Wakeup[] {
  const rings: Wakeup[] = [];
  for (const { body } of messages) {
    forEachWakeup(body, (agent_id, last_number) => rings.push({ agent_id, last_number }));
  }
  return rings;
}

test('any number of rings comes whole and in order, in messages that the bus carries', () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat(), { maxLength: 300 }), (numbers) => {
      const rings = numbers.map((last_number) => ({ agent_id: newId('agent'), last_number }));
      const messages = packWakeups(rings);
      expect(unpacked(messages)).toEqual(rings);
      for (const { body } of messages) expect(body.length).toBeLessThanOrEqual(4_096);
    }),
  );
});

test('what is no ring rings for nobody, and ends', () => {
  for (const body of ['', 'agt_1', '7', 'agt_1,', ',,', 'agt_1 ', ' '])
    expect(unpacked([{ body }])).toEqual([]);
  fc.assert(fc.property(fc.string(), (body) => void unpacked([{ body }])));
});
