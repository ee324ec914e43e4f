import { expect, test, vi } from 'vitest';
import { missingPythonReason } from '../../support/python.ts';
import { runDisconnects } from '../../support/python-disconnects.ts';
import { useSharedService } from '../../support/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

vi.setConfig({ testTimeout: 1_800_000 });

describeUnless(missingPythonReason, 'a Python reader over 1,000 lost connections', () => {
  const service = useSharedService();

  test('handles every one of at least 20,000 events; only a kill repeats the event whose position was not stored', async () => {
    const result = await runDisconnects(service, { messages: 20_000, cuts: 1_000, groupSize: 20, kills: 20 });
    process.stdout.write(`${JSON.stringify(result)}\n`);
    expect(result).toMatchObject({ lost: 0, misplaced: 0, kills: 20 });
    expect(result.events).toBe(result.messagesSent + 1);
    expect(result.repeatedAfterKill).toBeLessThanOrEqual(1);
  });
});
