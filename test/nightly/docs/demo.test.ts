import { expect, test } from 'vitest';
import { runConversation } from '../../../scripts/demo/conversation.ts';
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
    const steps: string[] = [];
    await runConversation(service.url, { ada, bob, mia }, async (name, run) => {
      const { value } = await run();
      steps.push(name);
      return value as Exclude<typeof value, undefined>;
    });
    expect(steps).toHaveLength(14);
  } finally {
    await service.stop();
  }
});
