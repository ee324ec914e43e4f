import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { missingPythonReason } from '../../support/python.ts';
import { runDisconnects } from '../../support/python-disconnects.ts';
import { startService, type TestService } from '../../support/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

vi.setConfig({ testTimeout: 120_000 });

describeUnless(missingPythonReason, 'a Python reader that loses its connection', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ worker: false });
  });
  afterAll(() => service.stop());

  test('handles every event once and in order; only a kill repeats the event whose position was not stored', async () => {
    const result = await runDisconnects(service, { messages: 500, groupSize: 10, kills: 2 });
    expect(result).toMatchObject({ events: 501, lost: 0, misplaced: 0, kills: 2 });
    expect(result.cuts).toBeGreaterThanOrEqual(30);
    expect(result.repeatedAfterKill).toBeLessThanOrEqual(1);
  });
});
