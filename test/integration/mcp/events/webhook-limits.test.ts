import { expect, test } from 'vitest';
import { useEventWebhooks } from './webhook-setup.ts';

const service = useEventWebhooks({ RATE_LIMITS: 'default=20/60' });

test.each(['events/list', 'events/unsubscribe'])(
  '%s counts against the limit of the agent',
  async (method) => {
    const { token } = await service.pair();
    const { params } = service.target();
    const query = method === 'events/list' ? {} : { name: params.name, delivery: params.delivery };
    const codes: unknown[] = [];
    for (let n = 0; n < 21; n += 1) codes.push((await service.call(token, method, query)).error?.code);
    expect(codes.at(-1)).toBe(-32_013);
    expect(codes.slice(0, -1)).not.toContain(-32_013);
  },
);
