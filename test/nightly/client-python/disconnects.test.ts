import { expect, test } from 'vitest';
import { missingPythonReason } from '../../support/python.ts';
import { runDisconnects } from '../../support/python-disconnects.ts';
import { useSharedService } from '../../support/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

describeUnless(missingPythonReason, 'a Python reader that loses its connection', () => {
  const service = useSharedService();

  test('handles every event once and in order; only a kill repeats the event whose position was not stored', async () => {
    const result = await runDisconnects(service, { messages: 300, cuts: 15, groupSize: 10, kills: 2 });
    expect(result).toMatchObject({ lost: 0, misplaced: 0, kills: 2 });
    expect(result.events).toBe(result.messagesSent + 1);
    expect(result.repeatedAfterKill).toBeLessThanOrEqual(1);
  });
});
