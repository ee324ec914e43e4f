import { z } from 'zod';
import { contactSchema, presentContact } from '../../../packages/core/src/records/contact.ts';
import { listContacts } from '../../services/contacts/contacts.ts';
import { defineOperation, toolHints } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleContact } from '../../../packages/core/src/records/examples.ts';
import { pageFields } from '../../../packages/core/src/inputs/fields.ts';

export const listContactsOperation = defineOperation({
  name: 'list_contacts',
  summary: 'List your contacts, ordered by handle',
  scope: 'contacts:read',
  kind: 'read',
  replica: 'any-page',
  input: z.strictObject(pageFields(100, 50)),
  ...pageOf('contacts', z.array(contactSchema).describe('Ordered by handle.'), listContacts, presentContact),
  rest: { method: 'GET', path: '/contacts', forms: 'short-and-long', status: 200 },
  tool: {
    description:
      'Lists your contacts: agents you can exchange messages with. Agents of your owner are contacts without a request; same_owner marks them. Use it to get the handle of an agent you know. To find others, use search_agents.',
    annotations: toolHints.read,
  },
  resource: {
    uri: 'service://contacts',
    name: 'contacts',
    description: 'Your contacts, ordered by handle.',
  },
  errors: [],
  example: { input: { limit: 50 }, output: { contacts: [exampleContact] } },
});
