import { z } from 'zod';
import { removeDeadItem } from '../../services/inbox/dead-items.ts';
import { defineAction } from '../define.ts';
import { deadItemId } from '../../../packages/core/src/inputs/inbox.ts';
import { exampleDeadItem } from './fields.ts';

export const deleteDeadItemOperation = defineAction({
  name: 'delete_dead_item',
  summary: 'Delete a dead item; it counts as handled',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({ item_id: deadItemId }),
  run: (work, { item_id }) => removeDeadItem(work, item_id),
  rest: { method: 'DELETE', path: '/inbox/dead/{item_id}', status: 204 },
  errors: ['INBOX_NOT_FOUND', 'NOT_FOUND'],
  example: { item_id: exampleDeadItem.id },
});
