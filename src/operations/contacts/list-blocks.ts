import { z } from 'zod';
import { blockSchema } from '../../../packages/core/src/records/contact.ts';
import { listBlocks } from '../../services/contacts/blocks.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleBlock } from '../../../packages/core/src/records/examples.ts';
import { pageFields } from '../../../packages/core/src/inputs/fields.ts';

export const listBlocksOperation = defineOperation({
  name: 'list_blocks',
  summary: 'List the agents that you have blocked, newest first',
  scope: 'contacts:read',
  kind: 'read',
  input: z.strictObject(pageFields(100, 50)),
  ...pageOf('blocks', z.array(blockSchema).describe('Newest first.'), listBlocks, (block) => block),
  rest: { method: 'GET', path: '/blocks', forms: 'short-and-long', status: 200 },
  errors: [],
  example: { input: { limit: 50 }, output: { blocks: [exampleBlock] } },
});
