import { expect, test } from 'vitest';
import { runConversation } from '../../../scripts/demo/conversation.ts';
import { createSteps, type StepResult } from '../../../scripts/demo/steps.ts';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { buildAgent } from '../../support/service.ts';

test('every step of npm run demo succeeds', async () => {
  const service = await startServiceOnFixedPort();
  try {
    const [ada, bob, mia] = await Promise.all([
      buildAgent(service.core),
      buildAgent(service.core),
      buildAgent(service.core, { audience: 'mcp' }),
    ]);
    const results: StepResult[] = [];
    const steps = createSteps((result) => void results.push(result));
    await runConversation(service.url, { ada, bob, mia }, steps).catch(() => undefined); // the results say it
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    expect(results).toHaveLength(14);
  } finally {
    await service.stop();
  }
});
