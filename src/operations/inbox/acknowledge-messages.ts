import { z } from 'zod';
import { acknowledgeMessagesInput } from '../../../packages/core/src/inputs/inbox.ts';
import { acknowledgeLeases, type AcknowledgeResult } from '../../services/inbox/leases.ts';
import { defineOperation } from '../define.ts';
import { exampleLeaseState } from './fields.ts';

export const acknowledgeMessagesOperation = defineOperation({
  name: 'acknowledge_messages',
  summary: 'Acknowledge up to 100 leases',
  scope: 'threads:write',
  kind: 'write',
  input: acknowledgeMessagesInput,
  output: z.object({
    results: z
      .array(
        z.object({
          id: z.string().describe('The lease identifier.'),
          result: z
            .enum(['acknowledged', 'lost', 'not_found'])
            .describe(
              'acknowledged; lost: the lease had ended before (LEASE_LOST); not_found: your agent never had it (LEASE_NOT_FOUND).',
            ),
        }),
      )
      .describe('One for each id, in their order.'),
  }),
  async run(work, { ids }) {
    const [results] = await acknowledgeLeases([{ work, ids }]);
    return presentResults(ids, results);
  },
  batch: {
    byAgent: true,
    async run(calls) {
      const results = await acknowledgeLeases(calls.map(({ work, input: { ids } }) => ({ work, ids })));
      return calls.map(({ input: { ids } }, at) => presentResults(ids, results[at]));
    },
  },
  rest: { method: 'POST', path: '/inbox/leases:acknowledge', status: 200 },
  errors: [],
  example: {
    input: { ids: [exampleLeaseState.id] },
    output: { results: [{ id: exampleLeaseState.id, result: 'acknowledged' }] },
  },
});

function presentResults(ids: readonly string[], results: readonly AcknowledgeResult[] = []) {
  return { results: ids.map((id, at) => ({ id, result: results[at] ?? 'not_found' })) };
}
