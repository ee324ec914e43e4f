import { z } from 'zod';
import { listDeadItems } from '../../services/inbox/dead-items.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { pageFields } from '../../../packages/core/src/inputs/fields.ts';
import { deadItemSchema, exampleDeadItem, presentItem } from './fields.ts';

export const listDeadItemsOperation = defineOperation({
  name: 'list_dead_items',
  summary: 'List the dead items of your inbox, oldest first',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject(pageFields(100, 50)),
  ...pageOf('items', z.array(deadItemSchema).describe('Oldest first.'), listDeadItems, presentItem),
  rest: { method: 'GET', path: '/inbox/dead', status: 200 },
  errors: ['INBOX_NOT_FOUND'],
  example: { input: { limit: 50 }, output: { items: [exampleDeadItem] } },
});
