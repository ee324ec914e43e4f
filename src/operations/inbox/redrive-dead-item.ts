import { z } from 'zod';
import { redriveDeadItem } from '../../services/inbox/dead-items.ts';
import { defineAction } from '../define.ts';
import { deadItemId } from '../../../packages/core/src/inputs/inbox.ts';
import { exampleDeadItem } from './fields.ts';

export const redriveDeadItemOperation = defineAction({
  name: 'redrive_dead_item',
  summary: 'Make a dead item ready again, with all of its attempts',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({ item_id: deadItemId }),
  run: (work, { item_id }) => redriveDeadItem(work, work.actor.agent_id, item_id),
  rest: { method: 'POST', path: '/inbox/dead/{item_id}/redrive', status: 204 },
  errors: ['INBOX_NOT_FOUND', 'NOT_FOUND'],
  example: { item_id: exampleDeadItem.id },
});
