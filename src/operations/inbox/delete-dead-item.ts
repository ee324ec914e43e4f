import { z } from 'zod';
import { removeDeadItem } from '../../services/inbox/dead-items.ts';
import { defineOperation } from '../define.ts';
import { deadItemId } from '../../../packages/core/src/inputs/inbox.ts';
import { exampleDeadItem } from './fields.ts';

export const deleteDeadItemOperation = defineOperation({
  name: 'delete_dead_item',
  summary: 'Delete a dead item; it counts as handled',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({ item_id: deadItemId }),
  output: z.object({}),
  async run(work, { item_id }) {
    await removeDeadItem(work, item_id);
    return {};
  },
  rest: { method: 'DELETE', path: '/inbox/dead/{item_id}', status: 204 },
  errors: ['INBOX_NOT_FOUND', 'NOT_FOUND'],
  example: { input: { item_id: exampleDeadItem.id }, output: {} },
});
